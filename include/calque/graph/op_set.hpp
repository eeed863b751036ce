// SPDX-License-Identifier: MIT
// The list of all operations, and what graphs need to know about each, by code. A new operation is added here once.
#pragma once

#include <calque/core/type_list.hpp>
#include <calque/graph/ops/arithmetic.hpp>
#include <calque/graph/ops/bits.hpp>
#include <calque/graph/ops/control.hpp>
#include <calque/graph/ops/custom.hpp>
#include <calque/graph/ops/functions.hpp>
#include <calque/graph/ops/identities.hpp>
#include <calque/graph/ops/logic.hpp>
#include <calque/graph/ops/mapping.hpp>
#include <calque/graph/ops/movement.hpp>
#include <calque/graph/ops/products.hpp>
#include <calque/graph/ops/random.hpp>
#include <calque/graph/ops/reductions.hpp>
#include <calque/graph/ops/rounding.hpp>
#include <calque/graph/ops/running.hpp>
#include <calque/graph/ops/segments.hpp>
#include <calque/graph/ops/sorting.hpp>
#include <calque/graph/ops/sources.hpp>
#include <calque/graph/ops/trigonometric.hpp>
#include <calque/graph/ops/user.hpp>
#include <calque/graph/ops/views.hpp>

#include <type_traits>

namespace calque {
inline namespace v0 {
namespace graph {

template <class... Ops>
struct op_list {
    static constexpr int size = static_cast<int>(sizeof...(Ops));
};

using op_set = op_list<
    ops::argument, ops::constant, ops::iota, ops::element_count, ops::example,                                 //
    ops::add, ops::subtract, ops::multiply, ops::divide, ops::remainder, ops::negative, ops::abs, ops::square, //
    ops::minimum, ops::maximum, ops::fma, ops::fnma, ops::fms,                                                 //
    ops::sqrt, ops::rsqrt, ops::cbrt, ops::exp, ops::exp2, ops::expm1, ops::log, ops::log2, ops::log1p,        //
    ops::sigmoid, ops::softplus, ops::relu, ops::erf, ops::erfc, ops::pow,                                     //
    ops::sin, ops::cos, ops::tan, ops::asin, ops::acos, ops::atan, ops::atan2,                                 //
    ops::sinh, ops::cosh, ops::tanh, ops::asinh, ops::acosh, ops::atanh,                                       //
    ops::floor, ops::ceil, ops::round, ops::trunc, ops::sign, ops::fmod,                                       //
    ops::bit_and, ops::bit_or, ops::bit_xor, ops::bit_not, ops::shift_left, ops::shift_right,                  //
    ops::equal, ops::not_equal, ops::less, ops::less_equal, ops::greater, ops::greater_equal,                  //
    ops::logical_and, ops::logical_or, ops::logical_not, ops::where, ops::cast,                                //
    ops::fresh, ops::stop_gradient, ops::broadcast_to, ops::broadcast_like, ops::assert_shape, ops::assigned,  //
    ops::sum_to, ops::same_batch, ops::cotangent, ops::custom_derivative, ops::after,                          //
    ops::sum, ops::reduce_max, ops::reduce_min, ops::reduce_product, ops::first_index,                         //
    ops::matmul, ops::batch_matmul,                                                                            //
    ops::reshape, ops::reshape_like, ops::merge_axes, ops::transpose, ops::expand_dims, ops::squeeze,          //
    ops::split_axis, ops::flip, ops::literal_elements, ops::running_sum, ops::recurrence, ops::sort_order,     //
    ops::user_function, ops::host_function, ops::host_call, ops::slice, ops::concatenation_part, ops::concatenate,
    ops::slice_adjoint, ops::set_slice, ops::roll, ops::take, ops::take_adjoint,                               //
    ops::row_numbers, ops::gather_rows, ops::segment_sum, ops::segment_max, ops::segment_min,                  //
    ops::branch, ops::while_loop, ops::scan, ops::parameter, ops::item, ops::yield, ops::result, ops::stacked, //
    ops::history,                                                                                              //
    ops::random_bits, ops::random_word32, ops::random_word64, ops::derive_key, ops::uniform_of_bits,           //
    ops::positive_uniform_of_bits, ops::normal_of_bits,                                                        //
    ops::shuffled_indices>;
static_assert(op_set::size <= 256, "an op_code is a byte");

namespace detail {

template <class List>
struct as_type_list;
template <class... Ops>
struct as_type_list<op_list<Ops...>> {
    using type = type_list<Ops...>;
};

} // namespace detail

/// The code of an operation.
template <class Op>
inline constexpr op_code code_of =
    static_cast<op_code>(index_of_type_v<typename detail::as_type_list<op_set>::type, Op>);

/// `op_set`, as a type that depends on `T`. A pass over all operations is compiled where a template that names it so is
/// instantiated; else where the template is declared, for everyone.
template <class T>
struct op_set_for {
    using type = op_set;
};

/// The operation of a code.
template <op_code Code>
using op_at = type_at_t<typename detail::as_type_list<op_set>::type, static_cast<std::size_t>(Code)>;

/// What graphs know of an operation at run time and in constant evaluation.
struct op_info {
    std::string_view name;
    dtype_set accepts;
    op_kind kind;
    int arity; // -1: any number
    int cost;
    bool takes_numbers;
    bool uses_divider;
    bool is_unique;
    bool is_indexed;
    int first_shape_input;
    int list_count;
};

/// What an operation computes of its result's dtype and shape. Apart from the rest: a program that looks up a name at
/// run time must not contain the rules of all operations.
struct op_rules {
    dtype (*infer_type)(dtype const*, std::uint64_t);
    shape (*infer)(inference&);
};

namespace detail {

template <class List>
struct op_tables;
template <class... Ops>
struct op_tables<op_list<Ops...>> {
    static constexpr op_info infos[sizeof...(Ops)] = {{Ops::name, Ops::accepts, Ops::kind, Ops::arity, Ops::cost,
                                                       Ops::takes_numbers, Ops::uses_divider, Ops::is_unique,
                                                       Ops::is_indexed, Ops::first_shape_input, Ops::list_count}...};
    static constexpr op_rules rules[sizeof...(Ops)] = {{&Ops::infer_type, &Ops::infer}...};
};

} // namespace detail

constexpr op_info const& info(op_code code) {
    return detail::op_tables<op_set>::infos[static_cast<int>(code)];
}

/// Whether an operation's attribute names a `user_operation` of the graph.
constexpr bool is_of_user(op_code code) {
    return code == code_of<ops::user_function> || code == code_of<ops::host_function> ||
           code == code_of<ops::host_call>;
}

constexpr op_rules const& rules(op_code code) {
    return detail::op_tables<op_set>::rules[static_cast<int>(code)];
}

/// Whether the shape of an operation's result is what its inputs broadcast to, and nothing else has a part in it.
constexpr bool is_broadcasting(op_info const& operation, int input_count) {
    return operation.kind == op_kind::elementwise && operation.list_count == 0 &&
           operation.first_shape_input >= input_count;
}

/// Whether an operation gives the elements of its first input a shape that they broadcast to.
constexpr bool is_stretching(op_code code) {
    return code == code_of<ops::broadcast_to> || code == code_of<ops::broadcast_like>;
}

/// How many inputs of a node, the first ones, lend it their elements; the others lend their shapes only.
constexpr int data_input_count(node const& n, op_info const& operation) {
    int const data =
        operation.kind == op_kind::control ? control_counts::unpack(n.attribute).data : operation.first_shape_input;
    return data < n.input_count ? data : n.input_count;
}
constexpr int data_input_count(node const& n) {
    return data_input_count(n, info(n.op));
}

/// Whether input `k` of a node lends its shape only: the node itself never reads its elements.
constexpr bool is_shape_input(node const& n, int k) {
    return k >= data_input_count(n);
}

/// Of how many inputs of a node, the first ones, the elements matter to it, if only through what a region returns.
constexpr int read_input_count(node const& n) {
    op_kind const kind = info(n.op).kind;
    return kind == op_kind::control || kind == op_kind::border ? n.input_count : data_input_count(n);
}

/// Whether the elements of input `k` of a node do.
constexpr bool is_read(node const& n, int k) {
    return k < read_input_count(n);
}

} // namespace graph
} // namespace v0
} // namespace calque
