// SPDX-License-Identifier: MIT
// Memory of a plan: buffers whose lifetimes are disjoint share the arena.
#pragma once

#include <calque/core/small_buffer.hpp>

#include <cstddef>

namespace calque {
inline namespace v0 {
namespace runtime {

/// Assigns offsets to buffers, each alive from one group to another (both included): first fit, in order of request.
class memory_planner {
public:
    static constexpr std::size_t alignment = 64;

    /// Assigns `capacity` offsets at most.
    constexpr explicit memory_planner(int capacity) : pieces_(capacity) {}

    constexpr std::size_t place(std::size_t bytes, int first_group, int last_group) {
        piece wanted{0, (bytes + alignment - 1) / alignment * alignment, first_group, last_group};
        for (bool moved = true; moved;) {
            moved = false;
            for (int i = 0; i < count_; ++i) {
                piece const& other = pieces_[i];
                bool const alive_together = other.first <= wanted.last && wanted.first <= other.last;
                bool const overlap =
                    other.offset < wanted.offset + wanted.bytes && wanted.offset < other.offset + other.bytes;
                if (alive_together && overlap) {
                    wanted.offset = other.offset + other.bytes;
                    moved = true;
                }
            }
        }
        pieces_[count_++] = wanted;
        total_ = wanted.offset + wanted.bytes > total_ ? wanted.offset + wanted.bytes : total_;
        return wanted.offset;
    }

    constexpr std::size_t total() const { return total_; }

private:
    struct piece {
        std::size_t offset, bytes;
        int first, last;
    };

    small_buffer<piece, 16> pieces_;
    int count_ = 0;
    std::size_t total_ = 0;
};

} // namespace runtime
} // namespace v0
} // namespace calque
