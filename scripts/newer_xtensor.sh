#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Fetches the xtensor, xtl, xsimd and Eigen of Debian sid and unpacks them into a folder; nothing is installed.
#
#     scripts/newer_xtensor.sh build/sid
#     cmake --preset newer && cmake --build --preset newer && ctest --preset newer
#
# The packages come from the mirror that this machine's apt has for Debian, checked with Debian's keys, through lists and
# a cache of their own. Does nothing if FOLDER has them already.
set -euo pipefail
[ "$#" -eq 1 ] || {
    sed -n '3,6s/^# \{0,1\}//p' "$0"
    exit 2
}
mkdir -p "$1"
folder=$(cd "$1" && pwd)
[ -e "$folder/usr/include/xtensor/containers/xtensor.hpp" ] && exit

mirror=$(apt-get indextargets --format '$(ORIGIN) $(LABEL) $(COMPONENT) $(REPO_URI)' 'Created-By: Packages' |
    sed -n 's/^Debian Debian main //p' | head -n 1)
[ -n "$mirror" ] || {
    echo "apt knows no mirror of Debian here; has 'apt-get update' been run?" >&2
    exit 1
}

apt=$folder/apt
mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial"
printf 'deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] %s sid main\n' "$mirror" >"$apt/sources.list"
cat >"$apt/apt.conf" <<EOF
Dir::Etc::SourceList "$apt/sources.list";
Dir::Etc::SourceParts "/dev/null";
Dir::State::Lists "$apt/lists";
Dir::Cache "$apt/cache";
Acquire::Languages "none";
APT::Sandbox::User "$(id -un)";
EOF
export APT_CONFIG=$apt/apt.conf
apt-get -qq update
cd "$apt"
apt-get -qq download libxtensor-dev libxsimd-dev xtl-dev nlohmann-json3-dev libeigen3-dev
for package in ./*.deb; do
    dpkg-deb --extract "$package" "$folder"
done
rm -r "$apt"
