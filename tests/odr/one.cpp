// SPDX-License-Identifier: MIT
// One of two units that call the same traced function.
#include "shared.hpp"

float sum_of_squares_in_one(std::vector<float> const& values) {
    return sum_of_squares(values);
}
