// SPDX-License-Identifier: MIT
// Statistics of random numbers, a hundred million of each distribution or as many as the argument says: the figures of
// docs/random.md. (The program needs 1.6 GB and a minute.)
#include "../tests/random_statistics.hpp"

#include <cstdio>
#include <cstdlib>

int main(int argument_count, char** arguments) {
    std::size_t const n = argument_count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 100'000'000;
    if (n < 100'000) {
        std::fprintf(stderr, "random_statistics [n]: at least 100000 numbers\n");
        return 2;
    }
    auto const found = statistics::examine(n);
    double smallest = 1;
    for (statistics::finding const& f : found) {
        std::printf("| %-62s | %7.3f | %6.4f |\n", f.name.c_str(), f.value, f.p);
        smallest = std::min(smallest, f.p);
    }
    // Sound numbers pass, whichever their seeds, but one time in 10,000.
    bool const is_sound = smallest * static_cast<double>(found.size()) > 1e-4;
    std::printf("%zu statistics of %zu numbers each: %s\n", found.size(), n, is_sound ? "sound" : "not sound");
    return is_sound ? 0 : 1;
}
