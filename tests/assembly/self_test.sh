#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Shows that check.sh rejects, in an object file made of kernels.cpp, what has no SIMD and what spills, and a function
# that is not there; and that it accepts them with bounds that they keep.
#
#     self_test.sh SET REGISTERS OBJECT [OBJDUMP]
set -u

here=$(dirname "$0")
bounds=$(mktemp)
trap 'rm -f "$bounds"' EXIT
failures=0

# What check.sh must say ("" for nothing) of a function with bounds.
check() {
    local wanted=$1 printed status
    printf '%s %s %s\n' "$set" "$registers" "$2" >"$bounds"
    printed=$(bash "$here/check.sh" "$set" "$object" "$bounds" "$objdump" 2>&1)
    status=$?
    if [ -z "$wanted" ]; then
        [ "$status" -eq 0 ] && return
    else
        [ "$status" -eq 1 ] && grep -qF -e "$wanted" <<<"$printed" && return
    fi
    printf 'wanted "%s", but check.sh ended with %s and printed\n%s\n' "$wanted" "$status" "$printed"
    failures=$((failures + 1))
}

set=$1 registers=$2 object=$3 objdump=${4:-objdump}
check "0 instructions on $registers, not at least 1" '::scalar_sum\( 1 9 9 9'
check "1 instructions on single elements, not at most 0" '::scalar_sum\( 0 0 9 9'
check "2 references to the stack, not at most 0" '::spilled_sum\( 0 9 0 9'
check "references to the stack in the whole function, not at most 1" '::spilled_sum\( 0 9 9 1'
check "" '::scalar_sum\( 0 1 0 0'
check "" '::spilled_sum\( 0 9 9 9'
check "in 0 functions, not in one" '::renamed_sum\( 0 9 9 9'
printf 'other %s x 0 0 0 0\n' "$registers" >"$bounds"
bash "$here/check.sh" "$set" "$object" "$bounds" "$objdump" | grep -qF "no bounds for $set" || failures=$((failures + 1))
[ "$failures" -eq 0 ]
