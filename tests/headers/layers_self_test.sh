#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Shows that layers.sh accepts what is right and finds each thing that is wrong.
set -u

here=$(dirname "$0")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failures=0

# Makes a tree of headers from "path: line" arguments and checks what layers.sh says of it ("" for nothing).
check() {
    local wanted=$1 printed status header
    shift
    rm -rf "$folder/calque"
    for header in "$@"; do
        mkdir -p "$(dirname "$folder/calque/${header%%: *}")"
        printf '%s\n' "${header#*: }" >>"$folder/calque/${header%%: *}"
    done
    printed=$(bash "$here/layers.sh" "$folder/calque")
    status=$?
    if [ -z "$wanted" ]; then
        [ "$status" -eq 0 ] && return
    else
        [ "$status" -eq 1 ] && grep -qF -e "$wanted" <<<"$printed" && return
    fi
    printf 'wanted "%s", but layers.sh ended with %s and printed\n%s\n' "$wanted" "$status" "$printed"
    failures=$((failures + 1))
}

check "" "core/a.hpp: " "graph/b.hpp: #include <calque/core/a.hpp>" "calque.hpp: #include <calque/graph/b.hpp>"
check "core/a.hpp: core must not include graph/b.hpp" "core/a.hpp: #include <calque/graph/b.hpp>" "graph/b.hpp: "
check "interop/a.hpp: interop must not include graph/b.hpp" "interop/a.hpp: #include <calque/graph/b.hpp>"
check "kernels/cpu/a.hpp: kernels must not include calque.hpp" "kernels/cpu/a.hpp: # include <calque/calque.hpp>"
check "misc/a.hpp: misc is no layer" "misc/a.hpp: "
check "core/a.hpp: include calque's headers as" 'core/a.hpp: #include "b.hpp"'
check "in a circle" "core/a.hpp: #include <calque/core/b.hpp>" "core/b.hpp: #include <calque/core/a.hpp>"
check "" "core/a.hpp: #if XTENSOR_VERSION_MAJOR == 0"
check "core/a.hpp: the macros of xtensor and xsimd are the user's" "core/a.hpp: #define XTENSOR_USE_XSIMD"
check "core/a.hpp: the macros of xtensor and xsimd are the user's" "core/a.hpp: # undef  XSIMD_WITH_AVX2"
[ "$failures" -eq 0 ]
