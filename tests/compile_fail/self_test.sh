#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Shows that check.sh can fail, and for the reason it should:
#
#     self_test.sh g++|clang COMPILER [FLAGS...]
#
# Each program in self_test/ says what check.sh must print of it (`// verdict: TEXT`), or `// verdict: passes`.
set -u

here=$(dirname "$0")
family=$1
shift

failures=0
for file in "$here"/self_test/*.cpp; do
    verdict=$(sed -nE 's%^// verdict: (.*)%\1%p' "$file")
    printed=$(bash "$here/check.sh" "$family" "$file" "$@")
    status=$?
    if [ "$verdict" = passes ]; then
        [ "$status" -eq 0 ] && continue
    else
        [ "$status" -eq 1 ] && [ "$(head -n 1 <<<"$printed")" = "$file: $verdict" ] && continue
    fi
    printf '%s: wanted "%s", but check.sh ended with %s and printed\n%s\n' "$file" "$verdict" "$status" "$printed"
    failures=$((failures + 1))
done
[ "$failures" -eq 0 ]
