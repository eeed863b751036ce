#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Checks that the headers below a folder include each other downwards only, and never in a circle, and that they define
# no macro of xtensor's or xsimd's:
#
#     layers.sh INCLUDE/calque
set -u
shopt -s globstar nullglob

# A layer, and the layers that its headers may include. The headers in no folder are the public ones, on top.
declare -A below=(
    [core]="core"
    [graph]="core graph"
    [trace]="core graph interop trace"
    [passes]="core graph passes"
    [kernels]="core graph kernels"
    [interop]="core interop"
    [runtime]="core graph trace passes kernels interop runtime"
    [public]="core graph trace passes kernels interop runtime public"
)

# The layer of a header, which is given by its path below the folder.
layer_of() {
    case $1 in
    */*) printf '%s' "${1%%/*}" ;;
    *) printf 'public' ;;
    esac
}

cd "$1" || exit 1
failures=0
complain() {
    printf '%s\n' "$1"
    failures=$((failures + 1))
}

headers=(**/*.hpp)
[ "${#headers[@]}" -gt 0 ] || complain "no headers in $1"
edges=""
for header in "${headers[@]}"; do
    layer=$(layer_of "$header")
    if [ -z "${below[$layer]:-}" ]; then
        complain "$header: $layer is no layer"
        continue
    fi
    grep -qE '^ *# *include +"' "$header" && complain "$header: include calque's headers as <calque/...>"
    grep -qE '^ *# *(define|undef) +(XTENSOR|XSIMD)_' "$header" &&
        complain "$header: the macros of xtensor and xsimd are the user's"
    while read -r included; do
        case " ${below[$layer]} " in
        *" $(layer_of "$included") "*) ;;
        *) complain "$header: $layer must not include $included" ;;
        esac
        edges+="$header $included"$'\n'
    done < <(sed -nE 's%^ *# *include +<calque/([^>]+)>.*%\1%p' "$header")
done
circle=$(tsort <<<"$edges" 2>&1 >/dev/null) || complain "headers include each other in a circle: $circle"
[ "$failures" -eq 0 ]
