// SPDX-License-Identifier: MIT
// The reverse derivatives of branches and scans: new branches and scans, whose regions compute what the old ones did
// once more and then walk back.
//
// A scan's reverse pass keeps only what each step began with (`history`); the inside of a step is computed again. So
// memory grows with what is carried, not with what a step computes.
#pragma once

#include <calque/graph/value.hpp>
#include <calque/passes/region_copy.hpp>

namespace calque {
inline namespace v0 {
namespace passes {
namespace detail {

using graph::node_id;
using graph::value;

/// A value and its adjoint, with which differentiation begins.
struct seed {
    node_id of;
    node_id adjoint;
};

template <class Ops>
constexpr void differentiate_seeds(node_id first, graph::builder& owner, sequence<seed> const& seeds,
                                   sequence<node_id> const& wrt, sequence<node_id>& gradients);

/// The adjoint of a result of a branch or loop.
struct control_adjoint {
    node_id control = -1;
    node_id result = -1;
    node_id adjoint = -1;
};

/// Whether a node is a result of the branch or loop that is its first input.
constexpr bool is_result(graph::node const& n) {
    return graph::info(n.op).kind == graph::op_kind::border && n.input_count > 1;
}

/// Keeps adjoints in the order of their branches and loops.
constexpr void insert(sequence<control_adjoint>& all, control_adjoint const& one) {
    all.push_back(one);
    for (int i = all.size() - 1; i > 0 && all[i - 1].control > one.control; --i) {
        all[i] = all[i - 1];
        all[i - 1] = one;
    }
}

/// One branch or scan, and the adjoints of its results.
///
/// `needs(id)`: whether anyone asks for the gradient of a node; `add(id, adjoint)` takes it.
template <class Needs, class Add>
class control_derivative {
public:
    constexpr control_derivative(graph::builder& owner, node_id control, sequence<control_adjoint> const& adjoints,
                                 Needs needs, Add add)
        : owner_(owner), control_(control), node_(owner[control]),
          counts_(graph::control_counts::unpack(node_.attribute)), needs_(needs), add_(add) {
        for (int k = 0; k < node_.input_count; ++k) {
            inputs_.push_back(owner.input(control, k));
        }
        finals_ = none(counts_.yields);
        stacked_ = none(counts_.yields);
        histories_ = none(counts_.carried);
        for (control_adjoint const& of : adjoints) {
            graph::node const& n = owner[of.result];
            has_adjoints_ = true;
            sequence<node_id>& of_kind = n.op == graph::code_of<graph::ops::result>    ? finals_
                                         : n.op == graph::code_of<graph::ops::stacked> ? stacked_
                                                                                       : histories_;
            of_kind[static_cast<int>(n.attribute)] = of.adjoint;
        }
    }

    constexpr void run() {
        if (!has_adjoints_) {
            return;
        }
        if (node_.op == graph::code_of<graph::ops::branch>) {
            run_branch();
        } else if (node_.op == graph::code_of<graph::ops::scan>) {
            run_scan();
        } else {
            owner_.fail(graph::reason::no_reverse_derivative, node_.op, inputs_.data(), counts_.carried);
        }
    }

private:
    static constexpr sequence<node_id> none(int count) {
        sequence<node_id> all(count);
        for (node_id& id : all) {
            id = -1;
        }
        return all;
    }

    constexpr value at(node_id id) const { return {&owner_, id}; }
    constexpr bool is_floating(node_id id) const { return calque::is_floating(owner_[id].type); }
    constexpr node_id zeros_like(node_id id) { return graph::broadcast_like(graph::zero_of(at(id)), at(id)).id; }
    constexpr std::uint16_t region_of_yield(int k) const { return owner_[inputs_[k]].region; }
    constexpr node_id parameter(node_id initial, int number) {
        return owner_.add(graph::code_of<graph::ops::parameter>, {initial}, static_cast<std::uint64_t>(number));
    }
    constexpr node_id item(node_id all, int number) {
        return owner_.add(graph::code_of<graph::ops::item>, {all}, static_cast<std::uint64_t>(number));
    }
    constexpr node_id yield(node_id id) { return owner_.add(graph::code_of<graph::ops::yield>, {id}); }

    /// The captures of a copied region that have a gradient which someone asks for; `outs`, what it returns, may be
    /// captures too.
    constexpr void append_captures(std::uint16_t region, sequence<node_id> const& outs, sequence<node_id>& captures) {
        sequence<node_id> all;
        graph::collect_captures(owner_.view(), region, all);
        for (node_id const out : outs) {
            if (!graph::is_within(owner_.view(), owner_[out].region, region)) {
                all.push_back(out);
            }
        }
        for (node_id const id : all) {
            if (is_floating(id) && needs_(id) && find(captures, id) < 0) {
                captures.push_back(id);
            }
        }
    }

    /// Of a region whose captures are among `wrt`, if they have a gradient.
    constexpr void differentiate(std::uint16_t region, sequence<seed> const& seeds, sequence<node_id> const& wrt,
                                 sequence<node_id>& gradients) {
        differentiate_seeds<typename graph::op_set_for<Needs>::type>(owner_.view().regions[region].first_node, owner_,
                                                                     seeds, wrt, gradients);
    }

    constexpr void run_branch() {
        int const count = graph::region_count(node_);
        sequence<std::uint16_t> regions;
        sequence<node_id> outs[max_branches];
        sequence<node_id> captures;
        for (int r = 0; r < count; ++r) {
            int const first = counts_.data + r * counts_.yields;
            regions.push_back(owner_.enter_region());
            region_copy copy(owner_, region_of_yield(first), control_);
            copy.run();
            for (int k = 0; k < counts_.yields; ++k) {
                outs[r].push_back(copy[owner_.input(inputs_[first + k], 0)]);
            }
            append_captures(regions[r], outs[r], captures);
            owner_.leave_region();
        }
        if (captures.empty()) {
            return;
        }
        sequence<node_id> inputs;
        inputs.push_back(inputs_[0]);
        for (int r = 0; r < count; ++r) {
            owner_.in_region(regions[r], [&] {
                sequence<seed> seeds;
                for (int k = 0; k < counts_.yields; ++k) {
                    if (finals_[k] >= 0) {
                        seeds.push_back({outs[r][k], finals_[k]});
                    }
                }
                sequence<node_id> gradients;
                differentiate(regions[r], seeds, captures, gradients);
                for (node_id const gradient : gradients) {
                    inputs.push_back(yield(gradient));
                }
            });
        }
        graph::control_counts const counts{.data = 1, .yields = captures.size()};
        node_id const branch =
            owner_.add(graph::code_of<graph::ops::branch>, inputs.data(), inputs.size(), counts.pack());
        for (int k = 0; k < captures.size(); ++k) {
            add_(captures[k], result(branch, inputs[1 + k], k));
        }
    }

    constexpr value result(node_id control, node_id yield, int number) {
        return at(owner_.add(graph::code_of<graph::ops::result>, {control, yield}, static_cast<std::uint64_t>(number)));
    }

    constexpr void run_scan() {
        using namespace graph;
        node_id const steps = inputs_[counts_.carried];
        // Outside the new region: what its steps begin with and go along.
        sequence<node_id> carried; // adjoints of carried values, then of captures
        sequence<node_id> arrays;
        sequence<int> floating; // the carried values that have adjoints
        for (int k = 0; k < counts_.carried; ++k) {
            arrays.push_back(
                owner_.add(code_of<ops::history>, {control_, inputs_[k], steps}, static_cast<std::uint64_t>(k)));
            if (is_floating(inputs_[k])) {
                floating.push_back(k);
                carried.push_back(finals_[k] >= 0 ? finals_[k] : zeros_like(inputs_[k]));
            }
        }
        for (int k = 0; k < counts_.items; ++k) {
            arrays.push_back(inputs_[counts_.carried + k]);
        }
        int const stacked_adjoints = append_present(stacked_, arrays);
        int const history_adjoints = append_present(histories_, arrays);

        std::uint16_t const outside = owner_.current_region();
        std::uint16_t const region = owner_.enter_region();
        sequence<node_id> parameters;
        for (int i = 0; i < carried.size(); ++i) {
            parameters.push_back(parameter(carried[i], i));
        }
        sequence<node_id> items;
        for (int i = 0; i < arrays.size(); ++i) {
            items.push_back(item(arrays[i], i));
        }
        sequence<node_id> const outs = copy_step(items);
        sequence<node_id> captures;
        append_captures(region, outs, captures);
        owner_.set_region(outside);
        for (node_id const id : captures) {
            carried.push_back(zeros_like(id));
        }
        owner_.set_region(region);
        for (int i = parameters.size(); i < carried.size(); ++i) {
            parameters.push_back(parameter(carried[i], i));
        }

        sequence<seed> seeds;
        for (int i = 0; i < floating.size(); ++i) {
            seeds.push_back({outs[floating[i]], parameters[i]});
        }
        for (int j = 0, next = stacked_adjoints; j < counts_.yields - counts_.carried; ++j) {
            if (stacked_[j] >= 0) {
                seeds.push_back({outs[counts_.carried + j], items[next++]});
            }
        }
        sequence<node_id> wrt;
        for (int const k : floating) {
            wrt.push_back(items[k]);
        }
        sequence<int> floating_items;
        for (int k = 0; k < counts_.items; ++k) {
            if (is_floating(inputs_[counts_.carried + k])) {
                floating_items.push_back(k);
                wrt.push_back(items[counts_.carried + k]);
            }
        }
        for (node_id const id : captures) {
            wrt.push_back(id);
        }
        sequence<node_id> gradients;
        differentiate(region, seeds, wrt, gradients);

        sequence<node_id> yields;
        for (int i = 0; i < floating.size(); ++i) {
            node_id total = gradients[i];
            if (histories_[floating[i]] >= 0) {
                total = (at(total) + at(items[history_adjoints + present_before(histories_, floating[i])])).id;
            }
            yields.push_back(yield(total));
        }
        int const first_capture = floating.size() + floating_items.size();
        for (int i = 0; i < captures.size(); ++i) {
            yields.push_back(yield((at(parameters[floating.size() + i]) + at(gradients[first_capture + i])).id));
        }
        for (int i = 0; i < floating_items.size(); ++i) {
            yields.push_back(yield(gradients[floating.size() + i]));
        }
        owner_.set_region(outside);
        if (yields.empty()) {
            return;
        }
        hand_out(carried, arrays, yields, floating, floating_items, captures);
    }

    /// Appends the adjoints that there are; returns where.
    static constexpr int append_present(sequence<node_id> const& adjoints, sequence<node_id>& arrays) {
        int const first = arrays.size();
        for (node_id const id : adjoints) {
            if (id >= 0) {
                arrays.push_back(id);
            }
        }
        return first;
    }
    static constexpr int present_before(sequence<node_id> const& adjoints, int end) {
        int count = 0;
        for (int k = 0; k < end; ++k) {
            count += adjoints[k] >= 0 ? 1 : 0;
        }
        return count;
    }

    /// Computes a step again from what it began with; returns what it returned.
    constexpr sequence<node_id> copy_step(sequence<node_id> const& items) {
        std::uint16_t const body = region_of_yield(counts_.data);
        region_copy copy(owner_, body, control_);
        for (node_id id = owner_.view().regions[body].first_node; id < control_; ++id) {
            graph::node const& n = owner_[id];
            if (n.region == body && n.op == graph::code_of<graph::ops::parameter>) {
                copy.set(id, items[static_cast<int>(n.attribute)]);
            } else if (n.region == body && n.op == graph::code_of<graph::ops::item>) {
                copy.set(id, items[counts_.carried + static_cast<int>(n.attribute)]);
            }
        }
        copy.run();
        sequence<node_id> outs;
        for (int k = 0; k < counts_.yields; ++k) {
            outs.push_back(copy[owner_.input(inputs_[counts_.data + k], 0)]);
        }
        return outs;
    }

    constexpr void hand_out(sequence<node_id> const& carried, sequence<node_id> const& arrays,
                            sequence<node_id> const& yields, sequence<int> const& floating,
                            sequence<int> const& floating_items, sequence<node_id> const& captures) {
        using namespace graph;
        sequence<node_id> inputs;
        for (sequence<node_id> const* part : {&carried, &arrays, &yields}) {
            for (node_id const id : *part) {
                inputs.push_back(id);
            }
        }
        control_counts const counts{.data = carried.size() + arrays.size(),
                                    .carried = carried.size(),
                                    .items = arrays.size(),
                                    .yields = yields.size(),
                                    .backwards = !counts_.backwards};
        node_id const back = owner_.add(code_of<ops::scan>, inputs.data(), inputs.size(), counts.pack());
        for (int i = 0; i < floating.size(); ++i) {
            add_(inputs_[floating[i]], result(back, yields[i], i));
        }
        for (int i = 0; i < captures.size(); ++i) {
            int const number = floating.size() + i;
            add_(captures[i], result(back, yields[number], number));
        }
        for (int i = 0; i < floating_items.size(); ++i) {
            node_id const all = owner_.add(code_of<ops::stacked>, {back, yields[carried.size() + i], arrays[0]},
                                           static_cast<std::uint64_t>(i));
            add_(inputs_[counts_.carried + floating_items[i]], at(all));
        }
    }

    static constexpr int max_branches = 64;

    graph::builder& owner_;
    node_id control_;
    graph::node node_;
    graph::control_counts counts_;
    Needs needs_;
    Add add_;
    sequence<node_id> inputs_;
    sequence<node_id> finals_;    // adjoints of results, by number; -1: none
    sequence<node_id> stacked_;   // of what steps return
    sequence<node_id> histories_; // of what steps begin with
    bool has_adjoints_ = false;
};

} // namespace detail
} // namespace passes
} // namespace v0
} // namespace calque
