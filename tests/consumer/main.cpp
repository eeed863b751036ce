// SPDX-License-Identifier: MIT
// A program of somebody who uses calque: every way to get at the library builds this file.
#include <calque/calque.hpp>

#include <cstdio>
#include <vector>

inline constexpr auto norm = [](auto x) { return calque::sqrt(calque::sum(x * x)); };

int main() {
    float const length = calque::function(norm)(std::vector<float>{3.f, 4.f});
    std::printf("calque %d, norm %g\n", CALQUE_VERSION, static_cast<double>(length));
    return length == 5.f ? 0 : 1;
}
