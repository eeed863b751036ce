// SPDX-License-Identifier: MIT
// Memory of a plan: buffers whose lifetimes are disjoint share the arena.
#pragma once

#include <calque/core/sequence.hpp>

#include <cstddef>

namespace calque {
inline namespace v0 {
namespace runtime {

/// Assigns offsets to buffers, each alive from one group to another (both included): first fit, in order of request.
class memory_planner {
public:
    static constexpr std::size_t alignment = 64;

    constexpr std::size_t place(std::size_t bytes, int first_group, int last_group) {
        piece wanted{0, (bytes + alignment - 1) / alignment * alignment, first_group, last_group};
        for (bool moved = true; moved;) {
            moved = false;
            for (piece const& other : pieces_) {
                bool const alive_together = other.first <= wanted.last && wanted.first <= other.last;
                bool const overlap =
                    other.offset < wanted.offset + wanted.bytes && wanted.offset < other.offset + other.bytes;
                if (alive_together && overlap) {
                    wanted.offset = other.offset + other.bytes;
                    moved = true;
                }
            }
        }
        pieces_.push_back(wanted);
        total_ = wanted.offset + wanted.bytes > total_ ? wanted.offset + wanted.bytes : total_;
        return wanted.offset;
    }

    constexpr std::size_t total() const { return total_; }

private:
    struct piece {
        std::size_t offset, bytes;
        int first, last;
    };

    sequence<piece> pieces_;
    std::size_t total_ = 0;
};

} // namespace runtime
} // namespace v0
} // namespace calque
