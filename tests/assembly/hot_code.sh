#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Says which functions of hot_code.cpp are taken for cold code:
#
#     hot_code.sh OBJECT [OBJDUMP]
#
# Fails if any of the user's functions or of the kernels is, or if the control is not. (What lies apart of a function
# that is not cold, `name.cold`, only throws.)
set -uo pipefail

"${2:-objdump}" -t -C "$1" | awk '
    $3 != "F" || / \[clone \.cold\]$|\.cold$/ { next }
    $NF ~ /^user_/ { ++users }
    /kernels::fused_.*::run/ { ++kernels }
    $NF == "control_is_cold" { control = $4 ~ /unlikely/ }
    ($NF ~ /^user_/ || /kernels::fused_.*::run|runtime::executor.*::run/) && $4 ~ /unlikely/ {
        print "cold: " substr($0, index($0, $5), 150)
        failed = 1
    }
    END {
        print users + 0 " functions of users, " kernels + 0 " of kernels"
        if (!control) { print "the control is not cold: this test sees nothing" }
        exit failed || !control || users != 7 || kernels < 5
    }'
