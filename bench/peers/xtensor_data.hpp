// SPDX-License-Identifier: MIT
// The data of the rows in arrays of xtensor: what calque and xtensor are timed with. (Include xtensor before it.)
#pragma once

#include "rows.hpp"

#include <algorithm>

namespace rows {

using vector = xt::xtensor<float, 1>;
using matrix = xt::xtensor<float, 2>;

inline vector numbers(std::size_t n, unsigned seed) {
    std::vector<float> const x = numbers_in_order(n, seed);
    vector result = vector::from_shape({n});
    std::copy(x.begin(), x.end(), result.begin());
    return result;
}
inline matrix numbers(extents n, unsigned seed) {
    std::vector<float> const x = numbers_in_order(n.size(), seed);
    matrix result = matrix::from_shape({n.rows, n.columns});
    std::copy(x.begin(), x.end(), result.begin());
    return result;
}

} // namespace rows
