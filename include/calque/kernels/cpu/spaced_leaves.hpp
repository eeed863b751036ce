// SPDX-License-Identifier: MIT
// Which operands of a kernel have columns that stand a few elements apart.
#pragma once

#include <calque/core/config.hpp>

#include <cstddef>
#include <cstdint>

namespace calque {
inline namespace v0 {
namespace kernels {

/// How far apart the columns of a leaf stand at most, in elements.
inline constexpr std::ptrdiff_t most_apart = 4;

/// The leaves of a group whose columns are no neighbours: all stand equally far apart.
struct spaced_leaves {
    std::uint64_t leaves = 0; // as bits
    int apart = 1;

    constexpr bool any() const { return leaves != 0; }
};

/// What a step loads of an array whose columns stand apart: all that other steps load between two of its elements, too.
struct spaced_reads {
    int before = -1; // how many elements before its own leaf they begin; -1: another step loads it
    int steps[most_apart] = {-1, -1, -1, -1}; // those that load what is so many elements behind that

    /// The last of these places that any step loads.
    constexpr int last() const {
        int at = most_apart - 1;
        while (at > 0 && steps[at] < 0) {
            --at;
        }
        return at;
    }
};

} // namespace kernels
} // namespace v0
} // namespace calque
