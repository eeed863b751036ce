// SPDX-License-Identifier: MIT
// The interpreter's branches and loops: which region runs, how often, and what it sees.
#pragma once

#include <calque/core/sequence.hpp>
#include <calque/graph/interpreter_tensor.hpp>
#include <calque/graph/regions.hpp>

#include <cstring>
#include <utility>

namespace calque {
inline namespace v0 {
namespace graph {
namespace detail {

/// What a branch or loop returned: final values, and for scans what `stacked` and `history` nodes stand for.
struct control_results {
    sequence<tensor> finals;
    sequence<sequence<tensor>> stacked;   // by value, by position along axis 0
    sequence<sequence<tensor>> histories; // by carried value, by position along axis 0
};

/// Runs one branch or loop. `run_region(r)` runs the nodes of a region; all values are in `values`, by node.
template <class RunRegion>
class control_run {
public:
    control_run(graph_view const& g, node const& n, sequence<tensor>& values, RunRegion run_region)
        : g_(g), n_(n), counts_(control_counts::unpack(n.attribute)), values_(values), run_region_(run_region) {}

    control_results run() {
        if (n_.op == code_of<ops::branch>) {
            return run_branch();
        }
        return n_.op == code_of<ops::while_loop> ? run_while() : run_scan();
    }

private:
    tensor& value(node_id id) { return values_[id]; }
    tensor& input(int k) { return value(g_.input(n_, k)); }

    sequence<tensor> yields(int r) {
        yield_range const range = yields_of(n_, r);
        sequence<tensor> all;
        for (int k = 0; k < range.count; ++k) {
            all.push_back(input(range.first + k));
        }
        return all;
    }

    sequence<tensor> initial() {
        sequence<tensor> all;
        for (int k = 0; k < counts_.carried; ++k) {
            all.push_back(input(k));
        }
        return all;
    }

    /// Gives the parameters of a region their values.
    void enter(int r, sequence<tensor> const& carried) {
        std::uint16_t const region = region_of(g_, n_, r);
        for (node_id id = 0; id < g_.node_count; ++id) {
            if (g_[id].region == region && g_.is<ops::parameter>(id)) {
                value(id) = carried[static_cast<int>(g_[id].attribute)];
            }
        }
    }

    control_results run_branch() {
        extent_t chosen = 0;
        with_type_of(input(0).type, [&]<class T>() {
            T const index = *input(0).template as<T>();
            if constexpr (std::is_same_v<T, bool>) {
                chosen = index ? 0 : 1;
            } else {
                chosen = index < T(0) ? 0 : static_cast<extent_t>(index);
            }
        });
        int const last = region_count(n_) - 1;
        int const r = chosen < last ? static_cast<int>(chosen) : last;
        run_region_(region_of(g_, n_, r));
        return {yields(r), {}, {}};
    }

    control_results run_while() {
        sequence<tensor> carried = initial();
        while (true) {
            enter(0, carried);
            run_region_(region_of(g_, n_, 0));
            if (!*yields(0).front().template as<bool>()) {
                return {std::move(carried), {}, {}};
            }
            enter(1, carried);
            run_region_(region_of(g_, n_, 1));
            carried = yields(1);
        }
    }

    control_results run_scan() {
        std::uint16_t const region = region_of(g_, n_, 0);
        extent_t const steps = input(counts_.carried).extents[0];
        control_results out;
        out.histories.resize(counts_.carried);
        out.stacked.resize(counts_.yields - counts_.carried);
        for (sequence<sequence<tensor>>* lists : {&out.histories, &out.stacked}) {
            for (sequence<tensor>& list : *lists) {
                list.resize(static_cast<int>(steps));
            }
        }
        sequence<tensor> carried = initial();
        for (extent_t step = 0; step < steps; ++step) {
            auto const position = static_cast<int>(counts_.backwards ? steps - 1 - step : step);
            for (int k = 0; k < carried.size(); ++k) {
                out.histories[k][position] = carried[k];
            }
            enter(0, carried);
            for (node_id id = 0; id < g_.node_count; ++id) {
                if (g_[id].region == region && g_.is<ops::item>(id)) {
                    tensor const& all = value(g_.input(id, 0));
                    tensor& one = value(id);
                    std::size_t const first = static_cast<std::size_t>(position) * one.data.size();
                    std::memcpy(one.data.data(), all.data.data() + first, one.data.size());
                }
            }
            run_region_(region);
            sequence<tensor> returned = yields(0);
            for (int k = carried.size(); k < returned.size(); ++k) {
                out.stacked[k - carried.size()][position] = returned[k];
            }
            returned.resize(carried.size());
            carried = std::move(returned);
        }
        out.finals = std::move(carried);
        return out;
    }

    graph_view const& g_;
    node const& n_;
    control_counts counts_;
    sequence<tensor>& values_;
    RunRegion run_region_;
};

/// What a `result`, `stacked` or `history` node stands for.
inline void read_result(node const& n, control_results const& from, tensor& to) {
    auto const k = static_cast<int>(n.attribute);
    if (n.op == code_of<ops::result>) {
        to = from.finals[k];
        return;
    }
    std::byte* at = to.data.data();
    for (tensor const& one : n.op == code_of<ops::stacked> ? from.stacked[k] : from.histories[k]) {
        std::memcpy(at, one.data.data(), one.data.size());
        at += one.data.size();
    }
}

} // namespace detail
} // namespace graph
} // namespace v0
} // namespace calque
