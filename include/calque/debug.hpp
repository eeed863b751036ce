// SPDX-License-Identifier: MIT
// `calque::debug::print`: shows arrays of a traced function each time it runs.
#pragma once

#include <calque/core/fixed_string.hpp>
#include <calque/core/text.hpp>
#include <calque/graph/number_text.hpp>
#include <calque/interop/tree_map.hpp>
#include <calque/trace/host.hpp>

#include <cstdio>
#include <functional>
#include <mutex>
#include <string_view>
#include <utility>

namespace calque {
inline namespace v0 {
namespace debug {

namespace detail {

struct printer {
    std::mutex mutex;
    std::function<void(std::string_view)> sink;

    static printer& instance() {
        static printer* const it = new printer; // not destroyed: functions may be called at exit
        return *it;
    }

    void print(std::string_view line) {
        std::lock_guard const lock(mutex);
        if (sink) {
            sink(line);
        } else {
            std::printf("%.*s\n", static_cast<int>(line.size()), line.data());
        }
    }
};

/// The elements in braces, an axis a level; of many along an axis the first and the last three.
template <class T>
void append_elements(text& out, T const* x, shape const& extents, int axis) {
    constexpr extent_t edge = 3, most = 8;
    if (axis == extents.rank) {
        graph::append_number(out, *x);
        return;
    }
    extent_t step = 1;
    for (int inner = axis + 1; inner < extents.rank; ++inner) {
        step *= extents[inner];
    }
    out << '{';
    for (extent_t i = 0; i < extents[axis]; ++i) {
        if (extents[axis] > most && i == edge) {
            out << ", ...";
            i = extents[axis] - edge;
        }
        out << (i == 0 ? "" : ", ");
        append_elements(out, x + i * step, extents, axis + 1);
    }
    out << '}';
}

template <fixed_string Label>
struct print_call {
    static constexpr std::string_view name = "print";

    template <class T>
    static void call(host_array<T const> x) {
        text line;
        if (!Label.view().empty()) {
            line << Label.view() << ": ";
        }
        line << dtype_of<T> << x.extents << ' ';
        append_elements(line, x.data, x.extents, 0);
        printer::instance().print(line.view());
    }
};

} // namespace detail

/// Prints an array, or each of a tree, when the traced function that this stands in runs, compiled or eagerly, in the
/// order of the program: `calque::debug::print<"loss">(loss)` prints `loss: float[] 0.25`.
///
/// In branches and loops it prints when those run, under `vmap` the whole batch at once. A function that prints writes
/// its outputs and variables at its end, as one with checks does.
template <fixed_string Label = "", class X>
constexpr void print(X const& x) {
    for_each_leaf(x, []<class Leaf>(Leaf const& leaf) {
        if constexpr (handle<Leaf>) {
            host_call<detail::print_call<Label>>(leaf);
        }
    });
}

/// Sends what `print` prints, line by line, to `sink`; to stdout, if it is empty.
inline void print_to(std::function<void(std::string_view)> sink) {
    detail::printer& printer = detail::printer::instance();
    std::lock_guard const lock(printer.mutex);
    printer.sink = std::move(sink);
}

} // namespace debug
} // namespace v0
} // namespace calque
