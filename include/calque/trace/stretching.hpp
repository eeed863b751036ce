// SPDX-License-Identifier: MIT
// Broadcasting to extents in a list, of which some may be those of other arrays.
#pragma once

#include <calque/graph/arranging.hpp>
#include <calque/trace/apply.hpp>

namespace calque {
inline namespace v0 {
namespace detail {

/// Stretches `x` to listed extents. One that only the call knows is that of its array; a number `dyn` is what `x` has.
template <extent_argument... Extents>
class stretching {
    static constexpr int rank = static_cast<int>(sizeof...(Extents));

public:
    constexpr stretching(meeting const& at, graph::value x) : at_(at), x_(x), stretched_(x) {}

    constexpr graph::value to(Extents const&... extents) {
        shape known;
        (known.push_back(known_extent(known.rank, extents)), ...);
        stretched_ = graph::broadcast_to(x_, known);
        int axis = 0;
        (stretch_axis(axis++, extents), ...);
        return stretched_;
    }

private:
    /// The axis of `x` that an axis of the result is; negative: none.
    constexpr int own_axis(int axis) const { return axis - (rank - x_.rank()); }

    template <class Extent>
    constexpr extent_t known_extent(int axis, Extent const& extent) const {
        extent_t const listed = listed_extent(extent);
        bool const is_new = std::same_as<Extent, axis_extent> && own_axis(axis) < 0;
        return calque::is_static(listed) ? listed : is_new ? 1 : dyn;
    }

    constexpr void stretch_axis(int, std::integral auto) {}
    constexpr void stretch_axis(int axis, axis_extent const& extent) {
        extent_t const wanted = extent.declared();
        graph::value const source = at_.import(extent.array());
        int const own = own_axis(axis);
        bool const is_its_own = own >= 0 && ((source.id == x_.id && extent.axis() == own) ||
                                             (is_named(wanted) && x_.shape()[own] == wanted));
        if (calque::is_static(wanted) || is_its_own) {
            return;
        }
        graph::value places = graph::indices_along(source, extent.axis(), dtype::int64);
        if (axis + 1 < rank) {
            places = graph::expand_dims(places, (graph::axis_set{1} << (rank - axis)) - 2);
        }
        stretched_ = graph::broadcast_like(stretched_, graph::cast(stretched_, dtype::int64) + places);
    }

    meeting const& at_;
    graph::value x_;
    graph::value stretched_;
};

} // namespace detail
} // namespace v0
} // namespace calque
