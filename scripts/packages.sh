# SPDX-License-Identifier: MIT
# Sourced by the scripts beside it: installs the Debian packages that a script needs and the machine lacks.

# Succeeds if what a package is needed for is there, wherever it came from.
is_installed() {
    case $1 in
    ninja-build) command -v ninja ;;
    python3-venv) python3 -c 'import ensurepip, venv' ;;
    pkgconf) command -v pkg-config ;;
    clang-14 | clang-19) command -v "${1/-/++-}" ;;
    libxtensor-dev) has_header xtensor/xtensor.hpp ;;
    libxsimd-dev) has_header xsimd/xsimd.hpp ;;
    libeigen3-dev) has_header eigen3/Eigen/Core ;;
    doctest-dev) has_header doctest/doctest.h ;;
    libbenchmark-dev) has_header benchmark/benchmark.h ;;
    *) command -v "$1" ;;
    esac >/dev/null 2>&1
}

# Succeeds if g++ finds a header. Without g++ there is no answer, and all headers count as missing.
has_header() {
    printf '#include <%s>\n' "$1" | g++ -std=c++20 -fsyntax-only -x c++ -
}

# Installs those of the given packages that are missing: as root, or with sudo. Does nothing if none is.
install_packages() {
    local package missing=() as_root=()
    for package in "$@"; do
        is_installed "$package" || missing+=("$package")
    done
    [ "${#missing[@]}" -eq 0 ] && return
    if ! command -v apt-get >/dev/null; then
        printf 'Missing (names of Debian packages): %s\nThere is no apt-get here: please install them.\n' \
            "${missing[*]}" >&2
        return 1
    fi
    printf 'Installing %s\n' "${missing[*]}"
    [ "$(id -u)" -eq 0 ] || as_root=(sudo)
    "${as_root[@]}" apt-get -qq update </dev/null &&
        "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq install --yes --no-install-recommends \
            "${missing[@]}" </dev/null >/dev/null
}
