// SPDX-License-Identifier: MIT
// Large arrays that calque allocates are advised to lie in large pages, as the system says of a process's memory.
#include <calque/calque.hpp>

#include <xtensor/xtensor.hpp>

#include <cstdint>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace {

/// Whether the mapping that has an address is marked `hg`, "huge page advise", in Linux's list of mappings.
bool is_advised(void const* address) {
    auto const sought = reinterpret_cast<std::uintptr_t>(address);
    std::ifstream mappings("/proc/self/smaps");
    bool is_inside = false;
    for (std::string line; std::getline(mappings, line);) {
        std::uintptr_t first = 0, end = 0;
        char dash = 0;
        if (std::istringstream range(line); range >> std::hex >> first >> dash >> end && dash == '-') {
            is_inside = first <= sought && sought < end;
        } else if (is_inside && line.starts_with("VmFlags:")) {
            return line.find(" hg") != std::string::npos;
        }
    }
    return false;
}

bool has_large_pages() {
    return std::filesystem::exists("/sys/kernel/mm/transparent_hugepage/enabled") &&
           std::filesystem::exists("/proc/self/smaps");
}

constexpr std::size_t large = 48 << 20; // bytes: glibc maps such an array by itself, whatever was freed before
auto plus_one = calque::function([](auto x) { return x + 1.f; });

} // namespace

TEST_CASE("results, outputs that are resized and intermediate arrays in large pages") {
    if (!has_large_pages()) {
        MESSAGE("this system has no large pages to advise: not tested");
        return;
    }
    xt::xtensor<float, 1> const x = xt::ones<float>({large / sizeof(float)});
    CHECK_FALSE(is_advised(x.data() + x.size() / 2)); // calque has not allocated it
    auto const y = plus_one(x);
    CHECK(is_advised(y.data() + y.size() / 2));
    xt::xtensor<float, 1> z;
    plus_one.into(z, x);
    CHECK(is_advised(z.data() + z.size() / 2));
    CHECK(z(large / sizeof(float) - 1) == 2.f);
    CHECK(is_advised(calque::arena::frame(large).data() + large / 2));
}

TEST_CASE("of small arrays nothing is asked") {
    if (has_large_pages()) {
        xt::xtensor<float, 1> const x = xt::ones<float>({(1 << 20) / sizeof(float)}); // glibc may map that by itself
        CHECK_FALSE(is_advised(plus_one(x).data()));
    }
}
