#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs when all light of the job is back.
echo "going on: ${LIGHTLOOM_PHASE:-resume}"
