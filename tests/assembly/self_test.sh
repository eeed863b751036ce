#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Shows that check.awk rejects, in an object file made of kernels.cpp, what has no SIMD and what spills, and a function
# that is not there; and that it accepts them with bounds that they keep.
#
#     self_test.sh SET REGISTERS OBJECT [OBJDUMP]
set -u

here=$(dirname "$0")
set=$1 registers=$2
bounds=$(mktemp) code=$(mktemp)
trap 'rm -f "$bounds" "$code"' EXIT
"${4:-objdump}" -d --no-show-raw-insn -C "$3" | sed -n '/_sum(/,/^$/p' >"$code"
failures=0

# What check.awk must say ("" for nothing) of a function with bounds.
check() {
    local wanted=$1 printed status
    printf '%s %s %s\n' "$set" "$registers" "$2" >"$bounds"
    printed=$(awk -v set="$set" -f "$here/check.awk" "$bounds" "$code" 2>&1)
    status=$?
    if [ -z "$wanted" ]; then
        [ "$status" -eq 0 ] && return
    else
        [ "$status" -eq 1 ] && grep -qF -e "$wanted" <<<"$printed" && return
    fi
    printf 'wanted "%s", but check.awk ended with %s and printed\n%s\n' "$wanted" "$status" "$printed"
    failures=$((failures + 1))
}

check "0 instructions on $registers, not at least 1" '::scalar_sum\( 1 9 9 9'
check "1 instructions on single elements, not at most 0" '::scalar_sum\( 0 0 9 9'
check "2 references to the stack, not at most 0" '::spilled_sum\( 0 9 0 9'
check "references to the stack in the whole function, not at most 1" '::spilled_sum\( 0 9 9 1'
check "" '::scalar_sum\( 0 1 0 0'
check "" '::spilled_sum\( 0 9 9 9'
check "in 0 functions, not in one" '::renamed_sum\( 0 9 9 9'
printf 'other %s x 0 0 0 0\n' "$registers" >"$bounds"
awk -v set="$set" -f "$here/check.awk" "$bounds" "$code" | grep -qF "no bounds for $set" || failures=$((failures + 1))
[ "$failures" -eq 0 ]
