// SPDX-License-Identifier: MIT
// A traced function in a header, as a library would hold it.
#pragma once

#include <calque/calque.hpp>

#include <vector>

inline constexpr auto squares_summed = [](auto x) { return calque::sum(x * x); };
inline auto const sum_of_squares = calque::function(squares_summed);
