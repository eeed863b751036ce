#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs a program that is compiled for an instruction set, or ends with 77 on a processor that lacks it (glibc's loader knows):
#
#     run_on.sh x86-64-v3 PROGRAM
/lib64/ld-linux-x86-64.so.2 --help 2>/dev/null | grep -q "^ *$1 (supported" || exit 77
exec "$2"
