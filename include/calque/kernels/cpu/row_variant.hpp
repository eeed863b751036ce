// SPDX-License-Identifier: MIT
// Which way the lanes of a row program run: the plan chooses by the sizes of a call, the compiler where it knows them.
#pragma once

#include <calque/graph/schedule.hpp>

namespace calque {
inline namespace v0 {
namespace kernels {

enum class row_variant : std::uint8_t { lanes_along_columns, lanes_along_rows };

namespace detail {

/// Columns up to which lanes run along the rows.
inline constexpr extent_t longest_short_row = 32;

/// Rows from which on they do, where only a call knows the columns: fewer leave lanes idle.
inline constexpr extent_t fewest_short_rows = 8;

/// Whether a kernel is a row program whose steps can run with lanes along the rows: indexed ones count their elements
/// along the columns.
constexpr bool may_be_short(graph::step const* steps, int count) {
    bool reduces = false;
    bool is_indexed = false;
    for (int i = 0; i < count; ++i) {
        reduces |= graph::info(steps[i].op).kind == graph::op_kind::reduction;
        is_indexed |= steps[i].index >= 0;
    }
    return reduces && !is_indexed;
}

} // namespace detail

} // namespace kernels
} // namespace v0
} // namespace calque
