#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes a job quiet before its light moves: ends when nothing more is on the wire. A real one sends a signal to the launcher
# and waits for its checkpoint.
echo "quiet for revision ${LIGHTLOOM_QUIESCE_REVISION:-?}"
