// SPDX-License-Identifier: MIT
// Upper bounds that the compiler knows: how many kernels a function has, and how often it can trace.
#pragma once

#include <calque/runtime/signature.hpp>

namespace calque {
inline namespace v0 {
namespace detail {

template <class Scheduled>
constexpr int count_kernels();

template <class Scheduled, int Group, int... Region>
constexpr int count_kernels_of_regions(std::integer_sequence<int, Region...>) {
    return (count_kernels<typename Scheduled::template region<Group, Region>>() + ... + 0);
}

template <class Scheduled, int Group>
constexpr int count_kernels_of_group() {
    if constexpr (Scheduled::schedule.groups[Group].kind != graph::group_kind::control) {
        return 1;
    } else if constexpr (Scheduled::twin_of(Group) == Group) {
        constexpr int regions = graph::region_count(Scheduled::control_node(Group));
        return count_kernels_of_regions<Scheduled, Group>(std::make_integer_sequence<int, regions>{});
    } else {
        return 0;
    }
}

/// The kernels of a schedule, those of its branches and loops included; what is alike has the same ones.
template <class Scheduled>
constexpr int count_kernels() {
    return []<int... Group>(std::integer_sequence<int, Group...>) {
        return (count_kernels_of_group<Scheduled, Group>() + ... + 0);
    }(std::make_integer_sequence<int, Scheduled::size.groups>{});
}

template <class F, class... Specs>
struct kernel_bound {
    static constexpr int value = count_kernels<typename runtime::program<F, Specs...>::code>();
};
template <class F, class... Specs>
struct kernel_bound<F, signature<Specs...>> : kernel_bound<F, Specs...> {};
template <class F, class... Signatures>
struct kernel_bound<F, signatures<Signatures...>> {
    static constexpr int value = (kernel_bound<F, Signatures>::value + ... + 0);
};
template <class F, class... Signatures, class... Specs>
struct kernel_bound<F, specialize<Signatures...>, Specs...> {
    static constexpr int value = (kernel_bound<F, Signatures>::value + ... + kernel_bound<F, Specs...>::value);
};

template <class F, class Declared>
struct trace_bound;
template <class F, class... Specs>
struct trace_bound<F, signature<Specs...>> {
    static constexpr int value = is_static_v<F, Specs...> ? 0 : 1;
};
template <class F, class... Signatures>
struct trace_bound<F, signatures<Signatures...>> {
    static constexpr int value = (trace_bound<F, Signatures>::value + ... + 0);
};

} // namespace detail

/// How many kernels calls of `F` with such specs (or host types) can instantiate, whatever their extents:
/// `static_assert(max_kernels_v<decltype(loss), spec<float, dyn, 784>> <= 3)`.
///
/// A `signature` or `signatures` stands for its specs; after a `specialize` come the specs of the other calls.
template <class F, class... Specs>
inline constexpr int max_kernels_v = detail::kernel_bound<std::remove_cvref_t<F>, Specs...>::value;

/// How often a function with this `signature`, or with these `signatures`, can trace before it is cleared.
template <class F, class Declared>
inline constexpr int max_traces_v = detail::trace_bound<std::remove_cvref_t<F>, Declared>::value;

} // namespace v0
} // namespace calque
