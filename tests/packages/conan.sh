#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Makes the Conan package and builds its test package, without any remote: xtensor and xsimd are the system's.
#
#     conan.sh FOLDER XTENSOR_VERSION XSIMD_VERSION
#
# FOLDER is emptied. Ends with 77 (skipped) if there is no Conan 2: `pip install conan`.
set -eu
folder=$1 xtensor=$2 xsimd=$3

case $(conan --version 2>/dev/null) in
"Conan version 2."*) ;;
*)
    echo "no Conan 2 here"
    exit 77
    ;;
esac

rm -rf "$folder"
mkdir -p "$folder"
export CONAN_HOME=$folder/home
conan profile detect
profile=$CONAN_HOME/profiles/system
cat >"$profile" <<EOF
include(default)
[settings]
compiler.cppstd=20
[platform_requires]
xtensor/$xtensor
xsimd/$xsimd
EOF
conan create . --no-remote --profile:all="$profile" -c "tools.cmake.cmake_layout:test_folder=$folder/test"

# An older standard is refused before anything is built.
if conan create . --no-remote --profile:all="$profile" -s compiler.cppstd=17 --test-folder= 2>"$folder/refused"; then
    echo "C++17 was not refused"
    exit 1
fi
grep -q "Current cppstd (17) is lower than the required C++ standard (20)" "$folder/refused"
# One package, whatever the settings.
conan list "calque/*:*" --format=compact | tee "$folder/packages"
[ "$(grep -cE ':[0-9a-f]{40}$' "$folder/packages")" -eq 1 ]
