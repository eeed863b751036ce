// SPDX-License-Identifier: MIT
// `while_loop`, `fori_loop` and `scan`: loops of which the call decides how often they run.
#pragma once

#include <calque/graph/arranging.hpp>
#include <calque/trace/creation.hpp>
#include <calque/trace/region.hpp>

namespace calque {
inline namespace v0 {
namespace detail {

/// What a loop carries, while it is traced: the leaves of its initial values, then all variables.
class carried_values {
public:
    constexpr explicit carried_values(region_home& home) : home_(home) {}

    template <class Tree>
    constexpr void begin_with(Tree const& tree) {
        append_leaves<Tree>(home_, tree, initial_);
    }
    constexpr void begin_with_variables() {
        leaf_count_ = initial_.size();
        before_ = variables_of(home_.owner());
        for (graph::node_id const id : before_) {
            initial_.push_back(id);
        }
    }

    /// Begins a region, in which variables are what the step before has left.
    constexpr sequence<graph::node_id> enter() {
        graph::builder& owner = home_.owner();
        regions_.push_back(owner.enter_region());
        sequence<graph::node_id> parameters;
        for (int k = 0; k < initial_.size(); ++k) {
            parameters.push_back(
                owner.add(graph::code_of<graph::ops::parameter>, {initial_[k]}, static_cast<std::uint64_t>(k)));
        }
        for (int v = 0; leaf_count_ + v < parameters.size(); ++v) {
            owner.assign(v, parameters[leaf_count_ + v]);
        }
        return parameters;
    }

    /// Ends it; `values` are what the body returned, to which the variables are added.
    constexpr void leave(sequence<graph::node_id>& values) {
        graph::builder& owner = home_.owner();
        for (int v = 0; v < before_.size(); ++v) {
            values.push_back(owner.variable(v));
        }
        home_.leave(regions_.back());
        restore_variables(owner, before_);
    }

    /// Keeps what changes from one step to the next, and makes the rest what it is at the start.
    constexpr void keep_what_changes(sequence<graph::node_id> const& body_parameters,
                                     sequence<graph::node_id> const& other_parameters,
                                     sequence<graph::node_id> const& values) {
        graph::builder& owner = home_.owner();
        for (int k = 0; k < initial_.size(); ++k) {
            bool const changes = values[k] != body_parameters[k];
            number_.push_back(changes ? kept_.size() : -1);
            for (sequence<graph::node_id> const* parameters : {&body_parameters, &other_parameters}) {
                if (parameters->empty()) {
                    continue;
                }
                if (changes) {
                    owner.number_parameter((*parameters)[k], kept_.size());
                } else {
                    owner.fix_parameter((*parameters)[k]);
                }
            }
            if (changes) {
                kept_.push_back(k);
            }
        }
    }

    /// The leaves after the loop, and variables assigned. `yields`: those of the kept values, by number.
    constexpr sequence<graph::node_id> finals(graph::node_id loop, graph::node_id const* yields) {
        graph::builder& owner = home_.owner();
        sequence<graph::node_id> all;
        for (int k = 0; k < initial_.size(); ++k) {
            int const number = number_[k];
            all.push_back(number < 0 ? initial_[k]
                                     : owner.add(graph::code_of<graph::ops::result>, {loop, yields[number]},
                                                 static_cast<std::uint64_t>(number)));
        }
        for (int v = 0; leaf_count_ + v < all.size(); ++v) {
            owner.assign(v, all[leaf_count_ + v]);
        }
        return all;
    }

    constexpr int kept_count() const { return kept_.size(); }
    constexpr int kept_index(int number) const { return kept_[number]; }
    constexpr graph::node_id initial(int k) const { return initial_[k]; }
    constexpr std::uint16_t region(int r) const { return regions_[r]; }

    /// To be called when a body has run, with the nodes that were noted before.
    template <class... Nodes>
    constexpr void follow(Nodes&... nodes) {
        home_.follow(regions_, initial_, before_, nodes...);
    }

private:
    region_home& home_;
    int leaf_count_ = 0;
    sequence<graph::node_id> initial_;
    sequence<graph::node_id> before_; // the variables
    sequence<std::uint16_t> regions_;
    sequence<int> number_; // of each value, among those that change; -1: it does not
    sequence<int> kept_;
};

/// The trees that a body sees for what a loop carries, made from nodes in order.
template <class... Init>
class carried_trees {
public:
    constexpr carried_trees(region_home const& home, graph::node_id const* ids)
        : source_(home, ids), trees_{unflatten<Init>(source_)...} {}

    template <class Fn, class... Before>
    constexpr auto call(Fn const& fn, Before const&... before) {
        return std::apply([&](auto&... tree) { return fn(before..., tree...); }, trees_);
    }
    /// One tree bare, several as a tuple.
    constexpr auto result() const {
        if constexpr (sizeof...(Init) == 1) {
            return std::get<0>(trees_);
        } else {
            return trees_;
        }
    }

private:
    value_source source_;
    std::tuple<traced_t<Init>...> trees_;
};

template <class... Init>
struct carried_result {
    using type = std::tuple<Init...>;
};
template <class Init>
struct carried_result<Init> {
    using type = Init;
};

template <class Xs>
constexpr void require_arrays(Xs const& xs) {
    for_each_leaf(xs, [](auto const& leaf) {
        static_assert(is_expr<std::remove_cvref_t<decltype(leaf)>>, "calque: scan goes along axis 0 of traced arrays");
    });
}

/// Traces a scan over `xs`. `body` is called as `body(item, carried...)`, and returns the carried values, or with
/// `Stacks` a tuple of those and of what is to be stacked.
template <bool Stacks, class Body, class Xs, class... Init>
constexpr auto trace_scan(region_home home, Body const& body, Xs const& xs, Init const&... init) {
    using namespace graph;
    carried_values carried(home);
    (carried.begin_with(init), ...);
    carried.begin_with_variables();
    sequence<node_id> arrays;
    append_leaves<Xs>(home, xs, arrays);

    sequence<node_id> parameters = carried.enter();
    sequence<node_id> items;
    for (int k = 0; k < arrays.size(); ++k) {
        items.push_back(home.owner().add(code_of<ops::item>, {arrays[k]}, static_cast<std::uint64_t>(k)));
    }
    value_source item_source(home, items.data());
    auto const item = unflatten<Xs>(item_source);
    auto const returned = carried_trees<Init...>(home, parameters.data()).call(body, item);
    carried.follow(arrays, parameters, items);
    sequence<node_id> values;
    sequence<node_id> stacked;
    using wanted = typename carried_result<Init...>::type;
    if constexpr (Stacks) {
        append_leaves<wanted>(home, std::get<0>(returned), values);
        append_leaves<std::remove_cvref_t<decltype(std::get<1>(returned))>>(home, std::get<1>(returned), stacked);
    } else {
        append_leaves<wanted>(home, returned, values);
    }
    home.template require_meeting<Body>();
    carried.leave(values);
    carried.keep_what_changes(parameters, {}, values);

    builder& owner = home.owner();
    sequence<node_id> inputs;
    for (int n = 0; n < carried.kept_count(); ++n) {
        inputs.push_back(carried.initial(carried.kept_index(n)));
    }
    for (node_id const id : arrays) {
        inputs.push_back(id);
    }
    int const data = inputs.size();
    owner.in_region(carried.region(0), [&] {
        for (int n = 0; n < carried.kept_count(); ++n) {
            inputs.push_back(owner.add(code_of<ops::yield>, {values[carried.kept_index(n)]}));
        }
        for (node_id const id : stacked) {
            inputs.push_back(owner.add(code_of<ops::yield>, {id}));
        }
    });
    node_id loop = -1;
    if (inputs.size() != data) {
        control_counts const counts{
            .data = data, .carried = carried.kept_count(), .items = arrays.size(), .yields = inputs.size() - data};
        loop = owner.add(code_of<ops::scan>, inputs.data(), inputs.size(), counts.pack());
    }
    node_id const* const yields = inputs.data() + data;
    sequence<node_id> const finals = carried.finals(loop, yields);
    auto const result = carried_trees<Init...>(home, finals.data()).result();
    if constexpr (Stacks) {
        sequence<node_id> outputs;
        for (int k = 0; k < stacked.size(); ++k) {
            outputs.push_back(owner.add(code_of<ops::stacked>, {loop, yields[carried.kept_count() + k], arrays[0]},
                                        static_cast<std::uint64_t>(k)));
        }
        value_source source(home, outputs.data());
        return std::tuple<std::remove_cv_t<decltype(result)>,
                          traced_t<std::remove_cvref_t<decltype(std::get<1>(returned))>>>{
            result, unflatten<std::remove_cvref_t<decltype(std::get<1>(returned))>>(source)};
    } else {
        return result;
    }
}

template <class Condition, class Body, class... Init>
constexpr auto trace_while(region_home home, Condition const& condition, Body const& body, Init const&... init) {
    using namespace graph;
    carried_values carried(home);
    (carried.begin_with(init), ...);
    carried.begin_with_variables();

    sequence<node_id> asked = carried.enter();
    auto const goes_on = carried_trees<Init...>(home, asked.data()).call(condition);
    using answer = std::remove_cv_t<decltype(goes_on)>;
    static_assert(std::is_same_v<answer, expr<bool>>, "calque: the condition of while_loop returns a traced bool");
    carried.follow(asked);
    sequence<node_id> condition_yield;
    condition_yield.push_back(home.import <bool>(goes_on));
    home.leave(carried.region(0));

    sequence<node_id> parameters = carried.enter();
    auto const returned = carried_trees<Init...>(home, parameters.data()).call(body);
    carried.follow(asked, parameters, condition_yield);
    sequence<node_id> values;
    append_leaves<typename carried_result<Init...>::type>(home, returned, values);
    home.template require_meeting<std::conditional_t<std::is_empty_v<Body>, Condition, Body>>();
    carried.leave(values);
    carried.keep_what_changes(parameters, asked, values);

    builder& owner = home.owner();
    sequence<node_id> inputs;
    for (int n = 0; n < carried.kept_count(); ++n) {
        inputs.push_back(carried.initial(carried.kept_index(n)));
    }
    int const data = inputs.size();
    owner.in_region(carried.region(0), [&] { inputs.push_back(owner.add(code_of<ops::yield>, {condition_yield[0]})); });
    owner.in_region(carried.region(1), [&] {
        for (int n = 0; n < carried.kept_count(); ++n) {
            inputs.push_back(owner.add(code_of<ops::yield>, {values[carried.kept_index(n)]}));
        }
    });
    node_id loop = -1;
    if (carried.kept_count() != 0) {
        control_counts const counts{
            .data = data, .carried = carried.kept_count(), .items = 0, .yields = carried.kept_count()};
        loop = owner.add(code_of<ops::while_loop>, inputs.data(), inputs.size(), counts.pack());
    }
    sequence<node_id> const finals = carried.finals(loop, inputs.data() + data + 1);
    return carried_trees<Init...>(home, finals.data()).result();
}

template <class... Trees>
constexpr region_home home_of(Trees const&... trees) {
    home_finder finder;
    (finder.consider(trees), ...);
    return finder.find();
}

/// Where a counted loop is traced, and what it counts.
struct counted_loop {
    region_home home;
    weak_expr<std::int64_t> indices;
};

/// first, first + 1, ... up to but without `last`, of which only the call may know how many there are.
template <class First, class Last, class... Handles>
constexpr counted_loop loop_indices(First const& first, Last const& last, Handles const&... handles) {
    extent_t const start = static_cast<extent_t>(first);
    if constexpr (std::same_as<Last, axis_extent>) {
        if (!calque::is_static(last.declared())) {
            auto const all = arange<std::int64_t>(last);
            region_home home = home_of(handles..., all);
            graph::value index{&home.owner(), home.template import <std::int64_t>(all)};
            if (start < 0) {
                graph::value const parts[] = {graph::count_from(index, start, -start), index};
                index = graph::concatenate(parts, 2, 0);
            } else if (start > 0) {
                index = graph::slice_axis(index, 0, start, graph::to_the_end);
            }
            return {home, weak_expr<std::int64_t>(index, home.shared())};
        }
    }
    region_home const home = home_of(handles...);
    extent_t const end = static_cast<extent_t>(last);
    graph::value const anchor{&home.owner(), home.owner().constant(dtype::int64, 0)};
    graph::value const index = graph::count_from(anchor, start, end > start ? end - start : 0);
    return {home, weak_expr<std::int64_t>(index, home.shared())};
}

} // namespace detail

/// Repeats `body` while `condition` holds, beginning with `init`: arrays, numbers, and trees of them.
///
/// Both are called with the carried values as separate arguments; the body returns them, several as a tuple, with the
/// dtypes and shapes that they have. So does the loop. Lambdas may capture traced values, and assign to variables. How
/// often it runs is only known when it has run, so it has no reverse derivative.
///
/// ```cpp
/// auto root = calque::while_loop([&](auto y) { return abs(y * y - x) > 1e-6f; }, [&](auto y) { return 0.5f * (y + x /
/// y); }, x);
/// ```
template <class Condition, class Body, class... Init>
constexpr auto while_loop(Condition const& condition, Body const& body, Init const&... init) {
    static_assert(sizeof...(Init) != 0, "calque: while_loop carries at least one value");
    auto const trace = [&](auto const&... handles) {
        return detail::trace_while(detail::home_of(handles...), condition, body, handles...);
    };
    return trace(detail::as_handle(init)...);
}

/// Runs `body(carried, x)` for each element `x` of `xs` along axis 0: arrays, or trees of them with equal extents
/// there.
///
/// The body returns a tuple: what is carried to the next step (dtypes and shapes as those of `init`), and what becomes
/// an element of the second result, along a new axis 0. Returns a tuple of the last carried value and the stacked ones.
/// It can be differentiated: the reverse pass keeps what each step began with and computes its inside again.
///
/// ```cpp
/// auto [total, running] = calque::scan([](auto sum, auto x) { return std::tuple{sum + x, sum + x}; }, 0.f, xs);
/// ```
template <class Body, class Init, class Xs>
constexpr auto scan(Body const& body, Init const& init, Xs const& xs) {
    detail::require_arrays(xs);
    auto const in_order = [&body](auto const& x, auto const& carried) { return body(carried, x); };
    auto const start = detail::as_handle(init);
    return detail::trace_scan<true>(detail::home_of(xs, start), in_order, xs, start);
}

/// Runs `body(i, carried...)` for i = first, first + 1, ... up to but without `last`; returns what `while_loop`
/// returns.
///
/// `i` is a traced integer that takes the dtype of the array it meets. With numbers and extents (`x.extent(0)`) as its
/// bounds it can be differentiated as `scan` can; with traced bounds it is a `while_loop`.
template <class First, class Last, class Body, class... Init>
constexpr auto fori_loop(First const& first, Last const& last, Body const& body, Init const&... init) {
    static_assert(sizeof...(Init) != 0, "calque: fori_loop carries at least one value");
    if constexpr (extent_argument<First> && extent_argument<Last>) {
        auto const trace = [&](auto const&... handles) {
            auto const [home, indices] = detail::loop_indices(first, last, handles...);
            auto const in_order = [&body](auto const& i, auto const&... carried) { return body(i, carried...); };
            return detail::trace_scan<false>(home, in_order, indices, handles...);
        };
        return trace(detail::as_handle(init)...);
    } else {
        using index = weak_expr<std::int64_t>;
        auto const as_index = [](auto const& x) {
            if constexpr (handle<std::remove_cvref_t<decltype(x)>>) {
                static_assert(std::is_integral_v<detail::element_of_t<std::remove_cvref_t<decltype(x)>>>,
                              "calque: the bounds of fori_loop are integers");
                return index(graph::cast(x.value(), dtype::int64), x.shared());
            } else {
                return detail::as_handle(static_cast<std::int64_t>(x));
            }
        };
        index const end = as_index(last);
        auto const goes_on = [&end](auto const& i, auto const&...) { return i < end; };
        auto const step = [&body](auto const& i, auto const&... carried) {
            auto const next = body(i, carried...);
            if constexpr (sizeof...(carried) == 1) {
                return std::tuple{i + std::int64_t{1}, next};
            } else {
                return std::tuple_cat(std::tuple{i + std::int64_t{1}}, next);
            }
        };
        auto const finals = while_loop(goes_on, step, as_index(first), init...);
        return std::apply(
            [](auto const&, auto const&... carried) {
                if constexpr (sizeof...(carried) == 1) {
                    return (carried, ...);
                } else {
                    return std::tuple{carried...};
                }
            },
            finals);
    }
}

} // namespace v0
} // namespace calque
