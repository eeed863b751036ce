// SPDX-License-Identifier: MIT
// Batches of branches and loops. Where all examples decide alike, a branch stays a branch and a loop a loop, of
// batches. Where they differ, all branches are computed and each example selects its own, and a `while_loop` runs until
// all examples are done, which keep their values from then on.
#pragma once

#include <calque/graph/batches.hpp>
#include <calque/passes/mapped_nodes.hpp>
#include <calque/passes/region_copy.hpp>

namespace calque {
inline namespace v0 {
namespace passes {
namespace detail {

using graph::value;

/// Maps one branch or loop for a `Vectorizer`, which knows the batches of what stands before it, and is told those of
/// the results.
template <class Vectorizer>
class control_batch {
public:
    constexpr control_batch(Vectorizer& outer, graph::builder& owner, mapped_nodes const& batches, node_id control)
        : outer_(outer), owner_(owner), mapped_(batches), control_(control), node_(owner[control]),
          counts_(graph::control_counts::unpack(node_.attribute)) {}

    constexpr void run() {
        bool const differs = mapped_.is_decision_mapped(control_);
        if (node_.op == graph::code_of<graph::ops::branch>) {
            differs ? select() : run_branch();
        } else if (node_.op == graph::code_of<graph::ops::scan>) {
            run_scan();
        } else {
            differs ? run_until_all_are_done() : run_while();
        }
    }

private:
    /// What stands for a parameter or an item of a region: one value for all examples, or their batch.
    struct border {
        value stands;
        bool is_batch;
    };

    constexpr value at(node_id id) const { return {&owner_, id}; }
    constexpr value input(int k) const { return at(owner_.input(control_, k)); }
    constexpr value add(graph::op_code op, std::initializer_list<node_id> inputs, int number) {
        return at(owner_.add(op, inputs, static_cast<std::uint64_t>(number)));
    }
    constexpr node_id yield(value v) { return owner_.add(graph::code_of<graph::ops::yield>, {v.id}); }

    /// Computes what region `r` returns in the region that is being built. `is_wanted(k)`: as a batch. `active`: which
    /// examples need it at all.
    constexpr sequence<value> region_values(int r, sequence<border> const& parameters, sequence<border> const& items,
                                            auto is_wanted, value active) {
        std::uint16_t const from = graph::region_of(owner_.view(), node_, r);
        region_copy copy(owner_, from);
        sequence<mapped_argument> known = outer_.known();
        for (node_id id = 0; id < control_; ++id) {
            graph::node const n = owner_[id];
            bool const is_parameter = n.op == graph::code_of<graph::ops::parameter>;
            if (n.region != from || (!is_parameter && n.op != graph::code_of<graph::ops::item>)) {
                continue;
            }
            border const& b = (is_parameter ? parameters : items)[static_cast<int>(n.attribute)];
            if (b.is_batch) {
                value const part = graph::apply<graph::ops::example>(0, b.stands);
                known.push_back({b.stands, part});
                copy.set(id, part.id);
            } else {
                copy.set(id, b.stands.id);
            }
        }
        copy.run();
        graph::yield_range const range = graph::yields_of(node_, r);
        sequence<value> all, wanted;
        for (int k = 0; k < range.count; ++k) {
            all.push_back(at(copy[owner_.input(input(range.first + k).id, 0)]));
            if (is_wanted(k)) {
                wanted.push_back(all[k]);
            }
        }
        Vectorizer const inner(known.data(), known.size(), wanted.data(), wanted.size(), active);
        for (int k = 0; k < range.count; ++k) {
            if (is_wanted(k)) {
                all[k] = inner.batch(all[k]);
            }
        }
        return all;
    }

    /// Whether each example does something, [B], beside the elements of `like`, [B,...].
    static constexpr value beside(value choice, value like) {
        return expand_dims(choice, ((graph::axis_set{1} << (like.rank() - 1)) - 1) << 1);
    }
    static constexpr value both(value a, value b) {
        return a.exists() ? graph::apply<graph::ops::logical_and>(0, a, b) : b;
    }

    /// Calls `fn(k, node)` for the results that someone needs, as batches, of one kind.
    template <class Op>
    constexpr void for_each_result(auto fn) {
        for (node_id id = control_ + 1; id <= outer_.last(); ++id) {
            if (outer_.is_needed(id) && owner_[id].op == graph::code_of<Op> && owner_.input(id, 0) == control_) {
                value const image = fn(static_cast<int>(owner_[id].attribute));
                outer_.set(id, image);
            }
        }
    }

    // ---- branches

    constexpr bool is_result_mapped(int k) const { return mapped_.is_result_mapped(control_, k); }

    constexpr void run_branch() {
        using namespace graph;
        sequence<node_id> inputs;
        inputs.push_back(input(0).id);
        for (int r = 0; r < region_count(node_); ++r) {
            owner_.enter_region();
            auto const is_wanted = [&](int k) { return is_result_mapped(k); };
            for (value const v : region_values(r, {}, {}, is_wanted, outer_.active())) {
                inputs.push_back(yield(v));
            }
            owner_.leave_region();
        }
        node_id const made = owner_.add(code_of<ops::branch>, inputs.data(), inputs.size(),
                                        control_counts{.data = 1, .yields = counts_.yields}.pack());
        for_each_result<ops::result>([&](int k) { return result(made, inputs[1 + k], k); });
    }

    /// All regions, and of each example what its own returned. (Loops in them do not run for the others.)
    constexpr void select() {
        value const index = outer_.batch(input(0));
        int const last = graph::region_count(node_) - 1;
        bool const is_bool = index.type() == dtype::bool_;
        sequence<value> results;
        for (int r = last; r >= 0; --r) {
            value const up_to = is_bool ? index : index <= r; // region r or one before it
            value const beyond = is_bool ? graph::apply<graph::ops::logical_not>(0, index) : index >= r;
            value const chosen = r == 0 ? up_to : r == last ? beyond : index == r;
            sequence<value> const values =
                region_values(r, {}, {}, [](int) { return true; }, both(outer_.active(), chosen));
            for (int k = 0; k < counts_.yields; ++k) {
                if (r == last) {
                    results.push_back(values[k]);
                } else {
                    results[k] = where(beside(up_to, values[k]), values[k], results[k]);
                }
            }
        }
        for_each_result<graph::ops::result>([&](int k) { return results[k]; });
    }

    // ---- loops

    /// Result `k`, for each example.
    constexpr value result(node_id made, node_id from, int k) {
        value const v = add(graph::code_of<graph::ops::result>, {made, from}, k);
        return is_result_mapped(k) ? v : outer_.repeated(v);
    }

    /// The carried values before the first step: batches of those that differ in any.
    constexpr sequence<border> initial() {
        sequence<border> all;
        for (int k = 0; k < counts_.carried; ++k) {
            all.push_back({is_result_mapped(k) ? outer_.batch(input(k)) : input(k), is_result_mapped(k)});
        }
        return all;
    }

    /// The parameters of a new region.
    constexpr sequence<border> parameters(sequence<border> const& start) {
        sequence<border> all;
        for (int k = 0; k < counts_.carried; ++k) {
            all.push_back({add(graph::code_of<graph::ops::parameter>, {start[k].stands.id}, k), start[k].is_batch});
        }
        return all;
    }

    /// Adds a loop. `inputs`: what it begins with, to which the condition is added and what a step makes of it.
    constexpr void add_while(sequence<node_id>& inputs, node_id condition, sequence<node_id> const& yields) {
        using namespace graph;
        control_counts const counts{
            .data = inputs.size(), .carried = inputs.size(), .items = 0, .yields = yields.size()};
        inputs.push_back(condition);
        for (node_id const id : yields) {
            inputs.push_back(id);
        }
        node_id const made = owner_.add(code_of<ops::while_loop>, inputs.data(), inputs.size(), counts.pack());
        for_each_result<ops::result>([&](int k) { return result(made, yields[k], k); });
    }

    constexpr void run_while() {
        sequence<border> const start = initial();
        sequence<node_id> inputs, yields;
        for (border const& b : start) {
            inputs.push_back(b.stands.id);
        }
        owner_.enter_region();
        node_id const condition =
            yield(region_values(0, parameters(start), {}, [](int) { return false; }, outer_.active())[0]);
        owner_.leave_region();
        owner_.enter_region();
        auto const is_batch = [&](int k) { return start[k].is_batch; };
        for (value const v : region_values(1, parameters(start), {}, is_batch, outer_.active())) {
            yields.push_back(yield(v));
        }
        owner_.leave_region();
        add_while(inputs, condition, yields);
    }

    /// Each example carries whether it goes on.
    constexpr void run_until_all_are_done() {
        auto const all = [](int) { return true; };
        sequence<border> const start = initial();
        value const goes_on = both(outer_.active(), region_values(0, start, {}, all, outer_.active())[0]);
        sequence<node_id> inputs, yields;
        for (border const& b : start) {
            inputs.push_back(b.stands.id);
        }
        inputs.push_back(goes_on.id);

        auto const carry_activity = [&] {
            return add(graph::code_of<graph::ops::parameter>, {goes_on.id}, counts_.carried);
        };
        owner_.enter_region();
        value const count = graph::sum(cast(carry_activity(), dtype::int64), 1);
        node_id const condition = yield(squeeze(count, 1) > 0);
        owner_.leave_region();

        owner_.enter_region();
        sequence<border> next = parameters(start);
        value const active = carry_activity();
        sequence<value> const values = region_values(1, next, {}, all, active);
        for (int k = 0; k < counts_.carried; ++k) {
            next[k].stands = where(beside(active, values[k]), values[k], next[k].stands);
            yields.push_back(yield(next[k].stands));
        }
        yields.push_back(yield(both(active, region_values(0, next, {}, all, active)[0])));
        owner_.leave_region();
        add_while(inputs, condition, yields);
    }

    constexpr void run_scan() {
        using namespace graph;
        sequence<border> const start = initial();
        sequence<border> arrays;
        sequence<node_id> inputs;
        for (border const& b : start) {
            inputs.push_back(b.stands.id);
        }
        for (int k = counts_.carried; k < counts_.carried + counts_.items; ++k) {
            bool const is_mapped = mapped_.contains(input(k).id);
            arrays.push_back({is_mapped ? move_axis(outer_.batch(input(k)), 0, 1) : input(k), is_mapped});
            inputs.push_back(arrays[k - counts_.carried].stands.id);
        }
        int const data = inputs.size();

        owner_.enter_region();
        sequence<border> items;
        for (int k = 0; k < arrays.size(); ++k) {
            items.push_back({add(code_of<ops::item>, {arrays[k].stands.id}, k), arrays[k].is_batch});
        }
        auto const is_wanted = [&](int k) {
            return k < counts_.carried ? start[k].is_batch : mapped_.is_stacked_mapped(control_, k - counts_.carried);
        };
        for (value const v : region_values(0, parameters(start), items, is_wanted, outer_.active())) {
            inputs.push_back(yield(v));
        }
        owner_.leave_region();

        control_counts counts = counts_;
        counts.data = data;
        node_id const made = owner_.add(code_of<ops::scan>, inputs.data(), inputs.size(), counts.pack());
        node_id const steps = inputs[counts_.carried];
        for_each_result<ops::result>([&](int k) { return result(made, inputs[data + k], k); });
        auto const in_front = [&](value v, bool is_batch) {
            return is_batch ? move_axis(v, 1, 0) : outer_.repeated(v);
        };
        for_each_result<ops::stacked>([&](int k) {
            int const number = counts_.carried + k;
            return in_front(add(code_of<ops::stacked>, {made, inputs[data + number], steps}, k), is_wanted(number));
        });
        for_each_result<ops::history>(
            [&](int k) { return in_front(add(code_of<ops::history>, {made, inputs[k], steps}, k), is_wanted(k)); });
    }

    Vectorizer& outer_;
    graph::builder& owner_;
    mapped_nodes const& mapped_;
    node_id control_;
    graph::node node_;
    graph::control_counts counts_;
};

} // namespace detail
} // namespace passes
} // namespace v0
} // namespace calque
