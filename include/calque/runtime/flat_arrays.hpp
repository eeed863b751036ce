// SPDX-License-Identifier: MIT
// Small arrays as their elements in row-major order, one for each lane of some registers: which element of an array
// each point of a kernel's space reads, and which one a view has, as constants.
#pragma once

#include <calque/graph/rolled_views.hpp>
#include <calque/runtime/iteration.hpp>
#include <calque/runtime/placement.hpp>

#include <cstddef>

namespace calque {
inline namespace v0 {
namespace runtime {

/// The elements of the stored values of `Compiled`, all extents of which are known.
template <class Compiled>
struct flat_arrays {
    static constexpr auto const& schedule = Compiled::schedule;

    static constexpr graph::node const& node_of(int v) { return Compiled::optimized.nodes[schedule.values[v].node]; }
    static constexpr shape const& shape_of(int v) { return Compiled::optimized.shapes[node_of(v).shape]; }
    static constexpr int size_of(int v) { return static_cast<int>(shape_of(v).size()); }

    template <int V>
    using element = type_of<node_of(V).type>;

    /// For each element of the stored value `V` that of `schedule.root_of(V)` that it is.
    template <int V>
    struct roots {
        int of[static_cast<std::size_t>(size_of(V))]{};

        constexpr roots() {
            constexpr graph::stored_value value = schedule.values[V];
            if constexpr (value.kind == graph::storage_kind::view) {
                roots<value.source> const sources;
                if constexpr (graph::is_rolled(Compiled::optimized.view(), schedule.view(), V)) {
                    roll(sources);
                    return;
                }
                value_plan from{{0, 0}, shape_of(value.source), contiguous_strides(shape_of(value.source))};
                value_plan view;
                place_view(Compiled::optimized.view(), value.node, shapes.of, from, view, 1);
                for (int i = 0; i < size_of(V); ++i) {
                    of[i] = sources.of[view.at.offset + offset_of(i, view.extents, view.steps)];
                }
            } else {
                for (int i = 0; i < size_of(V); ++i) {
                    of[i] = i;
                }
            }
        }

    private:
        constexpr void roll(auto const& sources) {
            graph::node const& n = node_of(V);
            shape const& extents = shape_of(V);
            auto const axis = static_cast<int>(n.attribute);
            extent_t const extent = extents[axis], inner = run_size(extents, axis + 1, extents.rank);
            extent_t const shift = graph::known_shift(Compiled::optimized.view(), schedule.values[V].node, extent);
            for (int i = 0; i < size_of(V); ++i) {
                extent_t const place = i / inner % extent;
                of[i] = sources.of[i + ((place + extent - shift) % extent - place) * inner];
            }
        }
    };
    template <int V>
    static constexpr roots<V> roots_v{};

    /// How far element `i` of `extents` is from the first one.
    static constexpr std::ptrdiff_t offset_of(std::ptrdiff_t i, shape const& extents, calque::strides const& steps) {
        std::ptrdiff_t offset = 0;
        for (int axis = extents.rank - 1; axis >= 0; --axis) {
            offset += i % extents[axis] * steps[axis];
            i /= extents[axis];
        }
        return offset;
    }

private:
    struct shape_table {
        shape of[Compiled::optimized.node_count == 0 ? 1 : Compiled::optimized.node_count]{};

        constexpr shape_table() {
            for (int id = 0; id < Compiled::optimized.node_count; ++id) {
                of[id] = Compiled::optimized.shapes[Compiled::optimized.nodes[id].shape];
            }
        }
    };
    static constexpr shape_table shapes{};
};

/// For each point of a space, one of the graph's shapes, the element of the root of `V` that broadcasts there.
template <class Compiled, int V, int Space>
struct leaf_places {
    static constexpr shape const& space = Compiled::optimized.shapes[Space];
    static constexpr int count = static_cast<int>(space.size());

    static constexpr int at(int i) { return table.of[i]; }

private:
    struct element_table {
        int of[static_cast<std::size_t>(count)]{};

        constexpr element_table() {
            using arrays = flat_arrays<Compiled>;
            shape const& extents = arrays::shape_of(V);
            calque::strides const steps = aligned_strides(value_plan{{}, extents, contiguous_strides(extents)}, space);
            for (int i = 0; i < count; ++i) {
                of[i] = arrays::template roots_v<V>.of[arrays::offset_of(i, space, steps)];
            }
        }
    };
    static constexpr element_table table{};
};

/// For each element of `V` that of its root.
template <class Compiled, int V>
struct element_places {
    static constexpr int count = flat_arrays<Compiled>::size_of(V);

    static constexpr int at(int i) { return flat_arrays<Compiled>::template roots_v<V>.of[i]; }
};

} // namespace runtime
} // namespace v0
} // namespace calque
