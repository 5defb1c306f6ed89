#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Stands for a training launcher: says on which nodes it would train, and ends. A real one is torchrun or mpirun with
# LIGHTLOOM_NODES as its hosts (docs/job_handshake.md).
echo "training on ${LIGHTLOOM_WORLD_SIZE:-?} nodes: ${LIGHTLOOM_NODES:-started without loom job run}"
