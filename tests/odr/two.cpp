// SPDX-License-Identifier: MIT
// The other unit. Both link into one program, and share the function's type and its cache.
#include "shared.hpp"

#include <cstddef>
#include <cstdio>

float sum_of_squares_in_one(std::vector<float> const& values);

int main() {
    std::vector<float> const values{1.f, 2.f, 3.f};
    bool const equal = sum_of_squares_in_one(values) == 14.f && sum_of_squares(values) == 14.f;
    bool const shared = sum_of_squares.trace_count() == 1 && sum_of_squares.hit_count() == 1;
    if (!equal || !shared) {
        std::printf("FAILED: traces %zu, hits %zu\n", static_cast<std::size_t>(sum_of_squares.trace_count()),
                    static_cast<std::size_t>(sum_of_squares.hit_count()));
        return 1;
    }
}
