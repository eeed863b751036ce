// SPDX-License-Identifier: MIT
// The interpreter's elementwise operations: one loop for all of them, and a function for each operation and dtype that
// applies the operation's own functor to a few elements of each input.
#pragma once

#include <calque/graph/interpreter_tensor.hpp>
#include <calque/graph/interpreter_uses.hpp>

#include <type_traits>

namespace calque {
inline namespace v0 {
namespace graph {
namespace detail {

/// Computes as many elements as an engine's vectors have, whose inputs and result lie at these addresses.
using vector_function = void (*)(std::byte const* const* inputs, std::byte* result);

template <class Engine, class Op, class T>
struct functor_call {
    template <class U>
    static auto load(std::byte const* at) {
        return Engine::load(reinterpret_cast<U const*>(at));
    }

    static void call(std::byte const* const* in, std::byte* result) {
        constexpr dtype types[] = {dtype_of<T>, dtype_of<T>};
        using R = type_of<Op::infer_type(types, 0)>;
        R* const to = reinterpret_cast<R*>(result);
        if constexpr (Op::arity == 1) {
            Engine::store(Op::apply(load<T>(in[0])), to);
        } else if constexpr (Op::arity == 2) {
            Engine::store(Op::apply(load<T>(in[0]), load<T>(in[1])), to);
        } else if constexpr (std::is_same_v<Op, ops::where>) {
            Engine::store(Op::apply(load<bool>(in[0]), load<T>(in[1]), load<T>(in[2])), to);
        } else {
            Engine::store(Op::apply(load<T>(in[0]), load<T>(in[1]), load<T>(in[2])), to);
        }
    }
};

/// Whether there is a conversion: numbers of two bytes become float first, and other numbers go by way of it.
template <class From, class To>
inline constexpr bool is_converted =
    half_float<From> ? std::is_same_v<To, float> : !half_float<To> || std::is_same_v<From, float>;

template <class Engine, class From, class To>
void cast_vector(std::byte const* const* in, std::byte* result) {
    Engine::store(ops::cast::apply_to<To>(Engine::load(reinterpret_cast<From const*>(in[0]))),
                  reinterpret_cast<To*>(result));
}

/// The function for inputs of dtype `type`; null if the operation does not accept it or `Uses` does not contain it.
template <class Engine, class Uses, class Op>
vector_function find_vector_function(dtype type, dtype result) {
    return with_type_of(type, [&]<class T>() -> vector_function {
        if constexpr (std::is_same_v<Op, ops::cast>) {
            return with_type_of(result, [&]<class To>() -> vector_function {
                if constexpr (is_converted<T, To> && Uses::template contains<Op, T, To>) {
                    return &cast_vector<Engine, T, To>;
                } else {
                    return nullptr;
                }
            });
        } else if constexpr (contains(Op::accepts, dtype_of<T>) && Uses::template contains<Op, T>) {
            return &functor_call<Engine, Op, T>::call;
        } else {
            return nullptr;
        }
    });
}

/// y = fn(inputs...), which broadcast; `fn` computes `width` elements. What a row does not have so many of, or the same
/// everywhere, goes through memory of its own.
inline void run_elementwise(vector_function fn, int width, tensor const* const* inputs, int count, tensor& y) {
    constexpr int max_inputs = 3;
    constexpr std::size_t max_bytes = 16 * sizeof(double);
    alignas(64) std::byte memory[max_inputs + 1][max_bytes] = {};
    placement from[max_inputs];
    for (int k = 0; k < count; ++k) {
        from[k] = broadcast_placement(inputs[k]->extents, y.extents);
    }
    std::byte* result = y.data.data();
    std::size_t const result_size = size_of(y.type);
    for_each_row(y.extents, [&](shape const& index, extent_t n) {
        std::byte const* rows[max_inputs];
        for (int k = 0; k < count; ++k) {
            std::size_t const size = size_of(inputs[k]->type);
            rows[k] = inputs[k]->data.data() + static_cast<std::size_t>(from[k](index)) * size;
            if (from[k].along_row(y.extents) == 0) {
                copy_row(rows[k], 0, memory[k], 1, width, size);
            }
        }
        for (extent_t j = 0; j < n; j += width) {
            extent_t const elements = n - j < width ? n - j : width;
            std::byte const* at[max_inputs];
            for (int k = 0; k < count; ++k) {
                std::size_t const size = size_of(inputs[k]->type);
                at[k] = memory[k];
                if (from[k].along_row(y.extents) != 0) {
                    std::byte const* const first = rows[k] + static_cast<std::size_t>(j) * size;
                    if (elements == width) {
                        at[k] = first;
                    } else {
                        copy_row(first, 1, memory[k], 1, elements, size);
                    }
                }
            }
            fn(at, elements == width ? result : memory[max_inputs]);
            if (elements != width) {
                copy_row(memory[max_inputs], 1, result, 1, elements, result_size);
            }
            result += static_cast<std::size_t>(elements) * result_size;
        }
    });
}

} // namespace detail
} // namespace graph
} // namespace v0
} // namespace calque
