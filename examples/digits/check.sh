#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Checks what the example promises: the accuracy over seeds 0 to 4, two traces, the same digits in every run of a seed.
#
#     check.sh PROGRAM
set -u

fail() {
    printf '%s\n' "$@"
    exit 1
}

# What a run prints, without times.
untimed() {
    sed -nE -e 's/^(epoch .*)  [0-9.]+ ms$/\1/p' -e '/^test accuracy/p' <<<"$1"
}

accuracies=()
for seed in 0 1 2 3 4; do
    printed=$("$1" "$seed") || fail "seed $seed: the program failed" "$printed"
    grep -qE '; 2 traces ' <<<"$printed" || fail "seed $seed: not two traces" "$printed"
    [ "$(untimed "$printed" | wc -l)" -eq 31 ] || fail "seed $seed: not 30 epochs and a test accuracy" "$printed"
    [ "$seed" -gt 0 ] || first=$printed
    accuracies+=("$(sed -nE 's/^test accuracy ([01])\.([0-9]{4})$/\1\2/p' <<<"$printed")") # in ten thousandths
done
mapfile -t accuracies < <(printf '%s\n' "${accuracies[@]}" | sort -n)
printf 'test accuracies, in ten thousandths: %s\n' "${accuracies[*]}"
[ "${accuracies[0]}" -ge 8900 ] || fail "a seed is below 0.89"
[ "${accuracies[2]}" -ge 9000 ] || fail "the median is below 0.90"

[ "$(untimed "$("$1" 0)")" = "$(untimed "$first")" ] || fail "seed 0 gave other digits when run again"
