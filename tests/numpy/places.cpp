// SPDX-License-Identifier: MIT
// What moves elements: shapes, parts, sorting, and arrays from nothing.
#include "record.hpp"

namespace {

using calque::all;
using calque::padding;
using calque::range;
using numpy::element_of;
using numpy::group;
using numpy::operation;

constexpr group shapes{
    operation<"reshape">([](auto x, auto) { return reshape(x, 1, calque::dyn); }),
    operation<"transpose">([](auto x, auto) { return transpose(x); }),
    operation<"transpose_021">([](auto x, auto y) { return calque::transpose<0, 2, 1>(calque::stack<0>(x, y)); }),
    operation<"expand_dims">([](auto x, auto) { return calque::expand_dims<1>(x); }),
    operation<"swapaxes">([](auto x, auto y) { return calque::swapaxes<0, 2>(calque::stack<1>(x, y)); }),
    operation<"squeeze">([](auto x, auto) { return calque::squeeze<0>(view(calque::expand_dims<0>(x), range(0, 1))); }),
    operation<"split_first">(
        [](auto x, auto y) { return std::get<0>(calque::split<1, 2>(calque::concatenate<1>(x, y, y, x))); }),
    operation<"split_last">(
        [](auto x, auto y) { return std::get<1>(calque::split<0, 2>(calque::concatenate<0>(x, y, y, x))); }),
    operation<"flip">([](auto x, auto) { return calque::flip(x); }),
    operation<"flip_0">([](auto x, auto) { return calque::flip<0>(x); }),
    operation<"flip_1">([](auto x, auto) { return calque::flip<1>(x); }),
    operation<"view_range">([](auto x, auto) { return view(x, range(1, 20, 3), range(0, 5)); }),
    operation<"view_step">([](auto x, auto) { return view(x, all(), range(1, 100, 2)); }),
    operation<"broadcast_to">([](auto x, auto) { return broadcast_to(x, 2, calque::dyn, calque::dyn); }),
    operation<"tril">([](auto x, auto) { return calque::tril(x); }),
    operation<"triu">([](auto x, auto) { return calque::triu(x, 1); }),
    operation<"zeros_like">([](auto x, auto) { return zeros_like(x); }),
    operation<"ones_like">([](auto x, auto) { return ones_like(x); }),
    operation<"full_like">([](auto x, auto) { return full_like(x, 7); }),
};

constexpr group movements{
    operation<"concatenate_0">([](auto x, auto y) { return calque::concatenate<0>(x, y); }),
    operation<"concatenate_1">([](auto x, auto y) { return calque::concatenate<1>(x, y, x); }),
    operation<"stack_0">([](auto x, auto y) { return calque::stack<0>(x, y); }),
    operation<"stack_1">([](auto x, auto y) { return calque::stack<1>(x, y); }),
    operation<"stack_2">([](auto x, auto y) { return calque::stack<2>(x, y); }),
    operation<"roll_0">([](auto x, auto) { return calque::roll<0>(x, -1); }),
    operation<"roll_1">([](auto x, auto) { return calque::roll<1>(x, 2); }),
    operation<"pad">([](auto x, auto) { return pad(x, 7, padding{1, 2}, padding{0, 3}); }),
    operation<"at_set">([](auto x, auto) { return x.at(all(), range(0, 2)).set(9); }),
    operation<"at_add">([](auto x, auto y) { return x.at(range(1, 3)).add(view(y, range(1, 3))); }),
    operation<"sort_0">([](auto x, auto) { return calque::sort<0>(x); }),
    operation<"sort_1">([](auto x, auto) { return calque::sort<1>(x); }),
    operation<"argsort_0">([](auto x, auto) { return calque::argsort<0>(x); }),
    operation<"argsort_1">([](auto x, auto) { return calque::argsort<1>(x); }),
    operation<"take_along_axis">([](auto x, auto y) { return calque::take_along_axis<1>(y, calque::argsort<1>(x)); }),
    operation<"gather">([](auto x, auto y) { return calque::gather<0>(y, calque::argsort<0>(x)); }),
};

// Of axes of three elements or more.
constexpr group parts{
    operation<"view_index">([](auto x, auto) { return view(x, -2); }),
    operation<"view_column">([](auto x, auto) { return view(x, all(), 2); }),
    operation<"take_0">([](auto x, auto) { return calque::take<0>(x, calque::arange<std::int64_t>(-1, 3)); }),
    operation<"take_1">([](auto x, auto) { return calque::take<1>(x, calque::literal(std::array{2, 0, 2})); }),
    operation<"top_k">([](auto x, auto) { return std::get<0>(calque::top_k<3, 1>(x)); }),
    operation<"top_k_indices">([](auto x, auto) { return std::get<1>(calque::top_k<3, 0>(x)); }),
};

constexpr group creation{
    operation<"zeros">([]<class X>(X, auto) { return calque::zeros<element_of<X>>(2, 3); }),
    operation<"ones">([]<class X>(X, auto) { return calque::ones<element_of<X>>(3); }),
    operation<"full">([]<class X>(X, auto) { return calque::full<element_of<X>>(7, 2, 2); }),
    operation<"arange">([]<class X>(X, auto) { return calque::arange<element_of<X>>(33); }),
    operation<"arange_step">([]<class X>(X, auto) { return calque::arange<element_of<X>>(20, -11, -3); }),
    operation<"eye">([]<class X>(X, auto) { return calque::eye<element_of<X>>(4); }),
    operation<"eye_offset">([]<class X>(X, auto) { return calque::eye<element_of<X>>(3, 5, 1); }),
};

constexpr group creation_floating{
    operation<"linspace">([]<class X>(X, auto) { return calque::linspace<element_of<X>>(-1, 2, 33); }),
    operation<"linspace_1">([]<class X>(X, auto) { return calque::linspace<element_of<X>>(0.5, 2, 1); }),
};

template <class T>
void call_all(numpy::recorder& to) {
    to.call<T>(shapes, {.are_special = true});
    to.call<T>(movements, {.are_special = true});
    to.call<T>(parts, {.are_special = true, .least_rows = 3, .least_columns = 3});
    to.call<T>(creation);
    if constexpr (calque::floating<T>) {
        to.call<T>(creation_floating);
    }
}

} // namespace

int main(int argument_count, char** arguments) {
    return numpy::record("places", argument_count, arguments, [](numpy::recorder& to) {
        call_all<float>(to);
        call_all<double>(to);
        call_all<std::int32_t>(to);
    });
}
