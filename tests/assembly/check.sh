#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Compares the machine code of an object file with bounds:
#
#     check.sh SET OBJECT BOUNDS [OBJDUMP]
set -uo pipefail

"${4:-objdump}" -d --no-show-raw-insn -C "$2" | awk -v set="$1" -f "$(dirname "$0")/check.awk" "$3" -
