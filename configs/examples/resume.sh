#!/bin/sh
# Runs when all light of the job is back.
echo "going on: ${LIGHTLOOM_PHASE:-resume}"
