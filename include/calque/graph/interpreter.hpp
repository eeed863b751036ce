// SPDX-License-Identifier: MIT
// Runs a graph one node at a time with plain loops: slow and, one hopes, obviously right. It is what every kernel is
// compared with, and what `calque::run_eagerly` runs.
//
// Elements of elementwise operations go through the operations' own functors, on the values of an engine: with the
// engine of the kernels (kernels/cpu/interpreter_engine.hpp) results are those of the kernels, bit for bit.
#pragma once

#include <calque/core/error.hpp>
#include <calque/core/philox.hpp>
#include <calque/core/sequence.hpp>
#include <calque/graph/graph.hpp>
#include <calque/graph/interpreter_control.hpp>
#include <calque/graph/interpreter_elementwise.hpp>
#include <calque/graph/interpreter_movement.hpp>
#include <calque/graph/interpreter_running.hpp>
#include <calque/graph/interpreter_segments.hpp>
#include <calque/graph/interpreter_sums.hpp>
#include <calque/graph/shape_inference.hpp>

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace calque {
inline namespace v0 {
namespace graph {

/// Runs graphs. `Engine` has a type `vector<T>` of `width` elements (16 at most) that functors are applied to,
/// `vector<T> load(T const*)` and `void store(vector<T>, T*)` of all and `load_one` and `store_one` of the first; if it
/// has `observe(graph, node, tensor)`, it sees each result. `Uses` bounds what is compiled: `used_by<G>` suffices for
/// one graph.
template <class Engine, class Uses = everything>
class interpreter {
public:
    /// Writes the results of `g` to `outputs` (`g.output_count` of them); `arguments` are found by their index.
    ///
    /// Throws `shape_error` if the shapes of the arguments do not suit, `dtype_error` if a dtype is not the declared
    /// one.
    static void run(graph_view const& g, tensor const* arguments, tensor* outputs) {
        execution x{g, infer(g, arguments), arguments, find_read(g), find_last_reads(g), {}, {}, {}};
        x.values.resize(g.node_count);
        x.returned.resize(g.node_count);
        for (node_id id = 0; id < g.node_count; ++id) {
            if (g.is<ops::item>(id)) { // what it is each step is written in its place
                x.value(id) = tensor(g[id].type, x.shapes[id]);
            }
        }
        run_region(x, 0);
        for (int i = 0; i < g.output_count; ++i) {
            outputs[i] = x.value(g.outputs[i]);
        }
    }

private:
    struct execution {
        graph_view const& g;
        sequence<shape> shapes;
        tensor const* arguments;
        sequence<bool> read;                        // by node: whether outputs depend on its elements
        sequence<node_id> last_reads;               // by node: which one does last
        sequence<tensor> values;                    // by node
        sequence<detail::control_results> returned; // by node: of branches and loops
        std::vector<std::vector<std::byte>> spare;  // memory

        tensor& value(node_id id) { return values[id]; }
    };

    /// Of the other nodes only the shapes count; a loop among them, on an `example` of a batch, might never end.
    static sequence<bool> find_read(graph_view const& g) {
        sequence<bool> read(g.node_count);
        for (int i = 0; i < g.output_count; ++i) {
            read[g.outputs[i]] = true;
        }
        for (node_id id = g.node_count - 1; id >= 0; --id) {
            for (int k = 0; read[id] && k < g[id].input_count; ++k) {
                if (is_read(g[id], k)) {
                    read[g.input(g[id], k)] = true;
                }
            }
        }
        return read;
    }

    static void run_region(execution& x, std::uint16_t r) {
        for (node_id id = 0; id < x.g.node_count; ++id) {
            if (x.g[id].region == r) {
                run_at(x, id);
                if constexpr (requires { Engine::observe(x.g, id, x.value(id)); }) {
                    Engine::observe(x.g, id, x.value(id));
                }
                if constexpr (!uses_control) { // else a body may run again
                    release_inputs(x, id);
                }
            }
        }
    }

    /// By node: which one reads it last. Outputs are read behind all.
    static sequence<node_id> find_last_reads(graph_view const& g) {
        sequence<node_id> last(g.node_count);
        for (node_id id = 0; id < g.node_count; ++id) {
            for (int k = 0; k < g[id].input_count; ++k) {
                last[g.input(g[id], k)] = id;
            }
        }
        for (int i = 0; i < g.output_count; ++i) {
            last[g.outputs[i]] = g.node_count;
        }
        return last;
    }

    /// Spares the memory of what nothing reads behind a node: that of a large array is anything but free to get.
    static void release_inputs(execution& x, node_id id) {
        for (int k = 0; k < x.g[id].input_count; ++k) {
            std::vector<std::byte>& elements = x.value(x.g.input(x.g[id], k)).data;
            if (x.last_reads[x.g.input(x.g[id], k)] == id && !elements.empty()) {
                x.spare.push_back(std::move(elements));
                elements.clear();
            }
        }
    }

    /// Zeros, in spare memory if there is some of about that size.
    static tensor make_tensor(execution& x, dtype type, shape const& extents) {
        std::size_t const bytes = static_cast<std::size_t>(extents.size()) * size_of(type);
        for (std::vector<std::byte>& spare : x.spare) {
            if (spare.capacity() >= bytes && spare.capacity() / 2 <= bytes) {
                tensor t;
                t.type = type;
                t.extents = extents;
                t.data = std::move(spare);
                t.data.assign(bytes, std::byte{});
                spare = std::move(x.spare.back());
                x.spare.pop_back();
                return t;
            }
        }
        return tensor(type, extents);
    }

    static void run_at(execution& x, node_id id) {
        node const& n = x.g[id];
        tensor& result = x.value(id);
        if (n.op == code_of<ops::argument>) {
            result = x.arguments[n.attribute];
            return;
        }
        if (n.op == code_of<ops::parameter> || n.op == code_of<ops::item>) {
            return; // the loop has set it
        }
        if (n.op == code_of<ops::yield>) {
            result = x.value(x.g.input(n, 0));
            return;
        }
        result = make_tensor(x, n.type, x.shapes[id]);
        if (!x.read[id]) {
            return;
        }
        if constexpr (uses_control) {
            if (is_control(n)) {
                auto const run = [&x](std::uint16_t r) { run_region(x, r); };
                x.returned[id] = detail::control_run(x.g, n, x.values, run).run();
                return;
            }
            if (info(n.op).kind == op_kind::border) {
                detail::read_result(n, x.returned[x.g.input(n, 0)], result);
                return;
            }
        }
        sequence<tensor const*> inputs;
        for (int k = 0; k < n.input_count; ++k) {
            inputs.push_back(&x.value(x.g.input(n, k)));
        }
        run_node(op_set{}, {x.g, n, inputs.data(), result});
    }

    static constexpr bool uses_control = Uses::template contains<ops::branch> ||
                                         Uses::template contains<ops::while_loop> || Uses::template contains<ops::scan>;

    struct step {
        graph_view const& g;
        node const& n;
        tensor const* const* inputs;
        tensor& result;

        tensor const& input(int k) const { return *inputs[k]; }
    };

    static sequence<shape> infer(graph_view const& g, tensor const* arguments) {
        sequence<shape> extents;
        for (node_id id = 0; id < g.node_count; ++id) {
            node const& n = g[id];
            if (n.op == code_of<ops::argument>) {
                tensor const& given = arguments[n.attribute];
                if (given.type != n.type) {
                    text message;
                    message << "argument " << n.attribute << ": it is " << given.type << ", declared " << n.type;
                    throw dtype_error(message.string());
                }
                auto const index = static_cast<int>(n.attribute);
                extents.resize(index < extents.size() ? extents.size() : index + 1);
                extents[index] = given.extents;
            }
        }
        sequence<shape> shapes(g.node_count);
        inference_failure failure;
        if (!infer_shapes(g, extents.data(), shapes.data(), failure)) {
            throw shape_error(describe(g, shapes.data(), failure));
        }
        return shapes;
    }

    template <class... Ops>
    static void run_node(op_list<Ops...>, step const& s) {
        constexpr void (*runners[])(step const&) = {(Uses::template contains<Ops> ? &run_op<Ops> : nullptr)...};
        runners[static_cast<int>(s.n.op)](s);
    }

    template <class Op>
    static void run_op(step const& s) {
        if constexpr (Op::kind != op_kind::source && Op::kind != op_kind::control && Op::kind != op_kind::border) {
            check_dtype<Op>(s);
        }
        if constexpr (Op::kind == op_kind::control || Op::kind == op_kind::border) {
            static_cast<void>(s); // `run_at` runs them
        } else if constexpr (std::is_base_of_v<ops::identity_op, Op>) {
            run_identity<Op>(s);
        } else if constexpr (std::is_same_v<Op, ops::random_bits>) {
            run_random_bits(s);
        } else if constexpr (Op::kind == op_kind::elementwise) {
            auto const fn = detail::find_vector_function<Engine, Uses, Op>(operand_type<Op>(s), s.n.type);
            detail::run_elementwise(fn, Engine::width, s.inputs, s.n.input_count, s.result);
        } else if constexpr (Op::kind == op_kind::reduction) {
            run_reduction<Op>(s);
        } else if constexpr (Op::kind == op_kind::source) {
            run_source<Op>(s);
        } else if constexpr (Op::kind == op_kind::view) {
            run_view<Op>(s);
        } else if constexpr (Op::kind == op_kind::movement) {
            run_movement<Op>(s);
        } else {
            static_assert(std::is_same_v<Op, ops::matmul>, "calque: write here how to run the operation");
            with_number_type<Op>(s, [&]<class T>() { detail::run_matmul<T>(s.input(0), s.input(1), s.result); });
        }
    }

    /// The dtype that an operation computes in: that of its first array which is no condition.
    template <class Op>
    static dtype operand_type(step const& s) {
        return s.input(std::is_same_v<Op, ops::where> ? 1 : 0).type;
    }

    template <class Op>
    static void check_dtype(step const& s) {
        if (dtype const type = operand_type<Op>(s); !contains(Op::accepts, type)) {
            text message;
            message << Op::name << ": it takes " << name_of(Op::accepts) << ", not " << type;
            throw dtype_error(message.string());
        }
    }

    template <class Op>
    static void run_identity(step const& s) {
        if constexpr (std::is_same_v<Op, ops::sum_to>) {
            with_number_type<Op>(s, [&]<class T>() { detail::run_sum<T>(s.input(0), s.result); });
        } else {
            detail::gather(s.input(0), detail::broadcast_placement(s.input(0).extents, s.result.extents), s.result);
        }
    }

    static void run_random_bits(step const& s) {
        std::uint64_t const key = *s.input(0).template as<std::uint64_t>();
        with_type_of(s.n.type, [&]<class T>() {
            if constexpr (contains(dtype_set::words, dtype_of<T>)) {
                for (extent_t i = 0; i < s.result.size(); ++i) {
                    s.result.template as<T>()[i] = philox::random_word<T>(key, static_cast<std::uint64_t>(i));
                }
            }
        });
    }

    template <class Op>
    static void run_reduction(step const& s) {
        with_number_type<Op>(s, [&]<class T>() {
            if constexpr (std::is_same_v<Op, ops::sum>) {
                detail::run_sum<T>(s.input(0), s.result);
            } else {
                detail::run_fold<Engine, Op, T>(s.input(0), s.result);
            }
        });
    }

    template <class Op>
    static void run_source(step const& s) {
        if constexpr (std::is_same_v<Op, ops::iota>) {
            with_type_of(s.n.type, [&]<class T>() {
                for (extent_t i = 0; i < s.result.size(); ++i) {
                    s.result.template as<T>()[i] = static_cast<T>(i);
                }
            });
        } else if constexpr (!std::is_same_v<Op, ops::argument> && !std::is_same_v<Op, ops::example>) {
            std::uint64_t bits = s.n.attribute;
            if constexpr (!std::is_same_v<Op, ops::constant>) {
                static_assert(std::is_same_v<Op, ops::element_count>, "calque: write here how to run the operation");
                bits = constant_bits(s.n.type, Op::count(s.input(0).extents, s.n.attribute));
            }
            with_type_of(s.n.type, [&]<class T>() { *s.result.template as<T>() = from_bits<T>(bits); });
        }
    }

    template <class Op>
    static void run_view(step const& s) {
        tensor const& x = s.input(0);
        if constexpr (std::is_same_v<Op, ops::transpose>) {
            detail::gather(x, detail::transpose_placement(x.extents, s.n.attribute), s.result);
        } else if constexpr (std::is_same_v<Op, ops::slice>) {
            slice_lists const lists = slice_lists::unpack(s.n.attribute);
            detail::gather(x, detail::slice_placement(x.extents, s.g.shapes, lists), s.result);
        } else if constexpr (std::is_same_v<Op, ops::flip>) {
            detail::gather(x, detail::flip_placement(x.extents, s.n.attribute), s.result);
        } else if constexpr (std::is_same_v<Op, ops::concatenation_part>) {
            int const axis = Op::axis(s.n.attribute);
            int const part = Op::part(s.n.attribute);
            detail::gather(x, detail::part_placement(x.extents, s.inputs + 1, part, axis), s.result);
        } else {
            static_assert(std::is_same_v<Op, ops::reshape> || std::is_same_v<Op, ops::reshape_like> ||
                              std::is_same_v<Op, ops::merge_axes> || std::is_same_v<Op, ops::split_axis> ||
                              std::is_base_of_v<ops::custom_op, Op> || std::is_same_v<Op, ops::after> ||
                              std::is_same_v<Op, ops::expand_dims> || std::is_same_v<Op, ops::squeeze>,
                          "calque: write here how to run the operation");
            s.result.data = x.data;
        }
    }

    template <class Op>
    static void run_movement(step const& s) {
        if constexpr (std::is_same_v<Op, ops::concatenate>) {
            int const axis = static_cast<int>(s.n.attribute);
            for (int k = 0; k < s.n.input_count; ++k) {
                detail::scatter(s.input(k), detail::part_placement(s.result.extents, s.inputs, k, axis), s.result);
            }
        } else if constexpr (std::is_same_v<Op, ops::slice_adjoint> || std::is_same_v<Op, ops::set_slice>) {
            slice_lists const lists = slice_lists::unpack(s.n.attribute);
            if constexpr (std::is_same_v<Op, ops::set_slice>) {
                s.result.data = s.input(1).data;
            }
            detail::scatter(s.input(0), detail::slice_placement(s.result.extents, s.g.shapes, lists), s.result);
        } else if constexpr (std::is_same_v<Op, ops::batch_matmul>) {
            with_number_type<Op>(s, [&]<class T>() { detail::run_matmul<T>(s.input(0), s.input(1), s.result); });
        } else if constexpr (std::is_same_v<Op, ops::literal_elements>) {
            with_type_of(s.n.type, [&]<class T>() {
                for (extent_t i = 0; i < s.result.size(); ++i) {
                    auto const bits = s.g.shapes[s.n.attribute][static_cast<int>(i)];
                    s.result.template as<T>()[i] = from_bits<T>(static_cast<std::uint64_t>(bits));
                }
            });
        } else if constexpr (std::is_base_of_v<ops::running_op, Op>) {
            auto const order = ops::running_order::unpack(s.n.attribute);
            tensor const* const factors = Op::arity == 2 ? s.inputs[0] : nullptr;
            with_number_type<Op>(s, [&]<class T>() {
                detail::run_recurrence<T>(factors, s.input(Op::arity - 1), order, s.result);
            });
        } else if constexpr (std::is_same_v<Op, ops::user_function>) {
            sequence<std::byte const*> inputs;
            sequence<strides> steps;
            for (int k = 0; k < s.n.input_count; ++k) {
                inputs.push_back(s.input(k).data.data());
                steps.push_back(contiguous_strides(s.result.extents));
            }
            s.g.user_operations[s.n.attribute]->run(s.result.extents, s.result.data.data(), inputs.data(),
                                                    steps.data());
        } else if constexpr (std::is_base_of_v<ops::host_operation, Op>) {
            sequence<untyped_array> arrays;
            for (int k = 0; k < s.n.input_count; ++k) { // the elements of a tensor may be changed by nobody else
                arrays.push_back({&s.input(k).extents, const_cast<std::byte*>(s.input(k).data.data())});
            }
            if constexpr (std::is_same_v<Op, ops::host_call>) {
                s.result.data = s.input(s.n.input_count - 1).data;
            }
            arrays.push_back({&s.result.extents, s.result.data.data()});
            s.g.user_operations[Op::number(s.n.attribute)]->call(arrays.data());
        } else if constexpr (std::is_same_v<Op, ops::sort_order>) {
            with_type_of(s.input(0).type, [&]<class T>() { detail::run_sort_order<T>(s.input(0), s.n, s.result); });
        } else if constexpr (std::is_same_v<Op, ops::roll>) {
            detail::run_roll(s.input(0), *s.input(1).template as<std::int64_t>(), static_cast<int>(s.n.attribute),
                             s.result);
        } else if constexpr (std::is_same_v<Op, ops::take>) {
            detail::run_take(s.input(0), s.input(1), static_cast<int>(s.n.attribute), s.result);
        } else if constexpr (std::is_same_v<Op, ops::shuffled_indices>) {
            extent_t const n = s.result.extents[s.result.extents.rank - 1];
            for (extent_t first = 0; first < s.result.size(); first += n) {
                Op::shuffle(s.input(0).template as<std::uint64_t>() + first, 1, n,
                            s.result.template as<std::int64_t>() + first);
            }
        } else if constexpr (std::is_same_v<Op, ops::row_numbers>) {
            detail::run_row_numbers(s.input(0), s.result);
        } else if constexpr (std::is_same_v<Op, ops::gather_rows>) {
            detail::run_gather_rows(s.input(0), s.input(1), s.result);
        } else if constexpr (std::is_same_v<Op, ops::segment_sum>) {
            with_number_type<Op>(s, [&]<class T>() { detail::run_segment_sum<T>(s.input(0), s.input(1), s.result); });
        } else if constexpr (std::is_base_of_v<ops::segment_fold, Op>) {
            with_number_type<Op>(
                s, [&]<class T>() { detail::run_segment_fold<Op, T>(s.input(0), s.input(1), s.result); });
        } else {
            static_assert(std::is_same_v<Op, ops::take_adjoint>, "calque: write here how to run the operation");
            with_number_type<Op>(s, [&]<class T>() {
                detail::run_take_adjoint<T>(s.input(0), s.input(1), static_cast<int>(s.n.attribute), s.result);
            });
        }
    }

    /// `with_type_of` the result, for sums: bool is cast for them, and numbers of two bytes.
    template <class Op, class Fn>
    static void with_number_type(step const& s, Fn fn) {
        with_type_of(s.n.type, [&]<class T>() {
            if constexpr (contains(dtype_set::numbers, dtype_of<T>) && Uses::template contains<Op, void, T>) {
                fn.template operator()<T>();
            }
        });
    }
};

} // namespace graph
} // namespace v0
} // namespace calque
