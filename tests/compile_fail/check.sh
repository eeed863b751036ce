#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Checks that a program which must not compile fails as it should:
#
#     check.sh g++|clang FILE COMPILER [FLAGS...]
#
# FILE names what it expects in comments, each on a line of its own:
#
#     // error: REGEX         an `error:` line of the compiler matches this extended regular expression
#     // error(g++): REGEX    the same, with g++ only; likewise `error(clang)`
#     // first                the first error line matches the first of those expressions
#     // errors: N            at most N error lines; 4 if this is not given
#
# FILE is compiled twice. With CALQUE_POSITIVE_CONTROL defined it must compile without a message: it holds the correct
# program beside the mistake, so that the failure of the second compilation is the intended one.
set -u
export LC_ALL=C

family=$1
file=$2
shift 2
compile=("$@" "$file")

# Prints why the check failed, what the compiler said, and ends the check.
fail() {
    printf '%s: %s\n' "$file" "$1"
    printf '%s\n' "--- ${compile[*]}" "$output"
    exit 1
}

# The lines of FILE that begin with `// KEY: `, without that beginning. KEY is a regular expression.
values_of() {
    sed -nE "s%^// $1: %%p" "$file"
}

output=""
mapfile -t expected < <(values_of "error(\\(${family//+/\\+}\\))?")
[ "${#expected[@]}" -gt 0 ] || fail "names no expected error for this compiler"
limit=$(values_of errors)
limit=${limit:-4}

output=$("${compile[@]}" -DCALQUE_POSITIVE_CONTROL 2>&1) || fail "the positive control does not compile"
[ -z "$output" ] || fail "the positive control compiles with messages"

output=$("${compile[@]}" 2>&1) && fail "compiles, but must not"
errors=$(grep -E '(^|: )(fatal )?error: ' <<<"$output") || fail "fails without an error line"
for regex in "${expected[@]}"; do
    grep -qE -e "$regex" <<<"$errors" || fail "no error line matches: $regex"
done
if grep -qE '^// first$' "$file"; then
    head -n 1 <<<"$errors" | grep -qE -e "${expected[0]}" || fail "the first error line does not match: ${expected[0]}"
fi
count=$(wc -l <<<"$errors")
[ "$count" -le "$limit" ] || fail "$count error lines, at most $limit allowed"
