// SPDX-License-Identifier: MIT
// A schedule as text: which kernels a graph becomes, what runs in each, and why a value is stored between them.
//
// All of it is read off the schedule when someone asks, so that programs which do not ask do not compile it.
#pragma once

#include <calque/core/text.hpp>
#include <calque/graph/regions.hpp>
#include <calque/kernels/cpu/row_program.hpp>
#include <calque/runtime/compiled.hpp>
#include <calque/runtime/register_loop.hpp>

#include <string>
#include <utility>

namespace calque {
inline namespace v0 {
namespace runtime {
namespace detail {

using graph::group_kind;
using graph::op_kind;
using graph::storage_kind;

template <class Out>
Out& indent(Out& out, int depth) {
    for (int i = 0; i < depth; ++i) {
        out << "    ";
    }
    return out;
}

/// Writes a schedule, kernel by kernel. `indentation`: of a region's, which is written below its branch or loop.
template <class Out>
class schedule_writer {
public:
    schedule_writer(graph::graph_view const& g, graph::schedule_view const& s, Out& out, int indentation)
        : g_(g), s_(s), out_(out), indentation_(indentation) {}

    void write_kernel(int k, int scratch_rows, auto phase_of_step) {
        graph::group const& x = s_.groups[k];
        start_line(0) << "kernel " << k << ": ";
        switch (x.kind) {
        case group_kind::control: out_ << graph::info(g_[x.node].op).name << ", which runs the kernels below"; break;
        case group_kind::movement:
            out_ << graph::info(g_[x.node].op).name;
            if (graph::is_of_user(g_[x.node].op)) {
                out_ << ' ' << g_.user_operations[graph::ops::of_user::number(g_[x.node].attribute)]->name;
            }
            out_ << " to " << g_[x.node].type << g_.shape(x.node);
            break;
        case group_kind::product:
            out_ << "product " << g_[x.node].type << g_.shape(x.node);
            if (x.step_count > 1) {
                out_ << ", on its tiles:";
                write_operations(x, [](int) { return 0; });
            }
            break;
        case group_kind::columns:
            out_ << "columns of " << g_.shapes[x.space] << ", all rows folded into one:";
            write_operations(x, [](int) { return 0; });
            break;
        case group_kind::rows:
            out_ << (x.reduced_axes == 0 ? "elements of " : "rows of ") << g_.shapes[x.space]
                 << (x.reduced_axes == 0 ? ":" : " (| waits for a whole row):");
            write_operations(x, phase_of_step);
            break;
        }
        out_ << '\n';
        if (scratch_rows != 0) {
            start_line(1) << "keeps " << scratch_rows << (scratch_rows == 1 ? " row" : " rows")
                          << " in scratch memory: a later walk would repeat more than "
                          << kernels::thresholds::cheap_to_recompute << " instructions\n";
        }
        write_leaves(x);
        for (int i = 0; i < x.result_count; ++i) {
            write_result(s_.results[x.first_result + i]);
        }
    }

    /// Results of the function that no kernel makes.
    void write_outputs() {
        for (int i = 0; i < s_.output_count; ++i) {
            graph::stored_value const& v = s_.values[s_.outputs[i]];
            if (v.kind != storage_kind::buffer || v.output != i) {
                start_line(0) << "result " << i << ": ";
                write_name(s_.outputs[i]);
                out_ << (s_.values[s_.root_of(s_.outputs[i])].output == i ? ", in its place\n" : ", copied\n");
            }
        }
    }

private:
    Out& start_line(int depth) { return indent(out_, indentation_ + depth); }

    bool is_operation(graph::group const& x, int step) const {
        graph::step const& s = s_.steps[x.first_step + step];
        return s.leaf < 0 && graph::info(s.op).kind != op_kind::source && s.node != (is_product(x) ? x.node : -1);
    }
    static bool is_product(graph::group const& x) { return x.kind == group_kind::product; }

    void write_operations(graph::group const& x, auto phase_of_step) {
        int phase = 0;
        for (int last = -1, next = 0; next >= 0; last = next) { // walk by walk
            next = -1;
            for (int i = 0; i < x.step_count; ++i) {
                int const its = phase_of_step(i);
                if (is_operation(x, i) && its > last && (next < 0 || its < next)) {
                    next = its;
                }
            }
            for (int i = 0; i < x.step_count && next >= 0; ++i) {
                if (is_operation(x, i) && phase_of_step(i) == next) {
                    out_ << (phase == next ? "" : " |") << ' ' << graph::info(s_.steps[x.first_step + i].op).name;
                    phase = next;
                }
            }
        }
    }

    void write_name(int v) {
        graph::stored_value const& x = s_.values[v];
        switch (x.kind) {
        case storage_kind::argument: out_ << (indentation_ == 0 ? "argument " : "input ") << x.argument; return;
        case storage_kind::constant: out_ << "a constant"; return;
        case storage_kind::count: out_ << "an element count"; return;
        case storage_kind::indices: out_ << "the places of elements"; return;
        case storage_kind::view:
            out_ << graph::info(g_[x.node].op).name << " of ";
            write_name(x.source);
            return;
        case storage_kind::buffer: out_ << graph::info(g_[x.node].op).name << " of kernel " << x.made_by; return;
        }
    }

    void write_leaves(graph::group const& x) {
        for (int i = 0; i < x.leaf_count; ++i) {
            int const v = s_.leaves[x.first_leaf + i];
            if (i == 0) {
                start_line(1) << "reads ";
            } else {
                out_ << ", ";
            }
            write_name(v);
            out_ << ' ' << g_[s_.values[v].node].type << g_.shape(s_.values[v].node);
        }
        out_ << (x.leaf_count == 0 ? "" : "\n");
    }

    void write_result(int v) {
        graph::node_id const id = s_.values[v].node;
        start_line(1) << "stores " << graph::info(g_[id].op).name << ' ' << g_[id].type << g_.shape(id) << ':';
        bool is_first = true;
        auto const reason = [&]() -> Out& {
            out_ << (is_first ? " " : "; ");
            is_first = false;
            return out_;
        };
        for (int i = 0; i < s_.output_count; ++i) {
            if (s_.root_of(s_.outputs[i]) == v) {
                reason() << (indentation_ == 0 ? "result " : "yield ") << i;
            }
        }
        for (int k = 0; k < s_.group_count; ++k) {
            for (int i = 0; i < s_.groups[k].leaf_count; ++i) {
                if (s_.root_of(s_.leaves[s_.groups[k].first_leaf + i]) == v) {
                    reason() << "kernel " << k << ' ';
                    write_reason(s_.values[v], s_.groups[k], i);
                }
            }
        }
        out_ << '\n';
    }

    /// Why a kernel reads a value that another one has stored, instead of computing it.
    void write_reason(graph::stored_value const& v, graph::group const& reader, int leaf) {
        graph::group const& maker = s_.groups[v.made_by];
        graph::step const* const step = step_of(maker, v.node);
        bool const is_scalar = g_.shape(v.node).rank == 0;
        int const limit = is_scalar ? passes::detail::cheap_scalar_to_repeat : passes::detail::cheap_to_repeat;
        if (reader.kind == group_kind::movement || reader.kind == group_kind::control ||
            (is_product(reader) && leaf < 2)) {
            out_ << "reads it from memory, as " << graph::info(g_[reader.node].op).name << " does";
        } else if (step == nullptr) {
            out_ << "reads it: " << graph::info(g_[v.node].op).name << " joins no other kernel";
        } else if (s_.values[s_.leaves[reader.first_leaf + leaf]].kind == storage_kind::view) {
            out_ << "reads a view of it";
        } else if (is_product(maker) && depends_on_product(maker, step)) {
            out_ << "needs more of it than a tile";
        } else if (depends_on_reduction(maker, step)) {
            out_ << "needs it after a reduction";
        } else if (int const cost = cost_of(maker, step); cost > limit) {
            out_ << "would repeat " << cost << " instructions, more than " << limit;
        } else {
            out_ << "reads it, as it is stored anyway";
        }
    }

    graph::step const* step_of(graph::group const& x, graph::node_id id) const {
        for (int i = 0; i < x.step_count; ++i) {
            if (s_.steps[x.first_step + i].node == id) {
                return &s_.steps[x.first_step + i];
            }
        }
        return nullptr;
    }

    bool depends_on_product(graph::group const& x, graph::step const* step) const {
        bool depends = step->node == x.node;
        for (int i = 0; i < step->input_count && !depends; ++i) {
            depends = depends_on_product(x, &s_.steps[x.first_step + step->inputs[i]]);
        }
        return depends;
    }

    bool depends_on_reduction(graph::group const& x, graph::step const* step) const {
        bool depends = step->leaf < 0 && graph::info(step->op).kind == op_kind::reduction;
        for (int i = 0; i < step->input_count && !depends; ++i) {
            depends = depends_on_reduction(x, &s_.steps[x.first_step + step->inputs[i]]);
        }
        return depends;
    }

    int cost_of(graph::group const& x, graph::step const* step) const {
        int cost = step->leaf < 0 ? graph::info(step->op).cost : 0;
        for (int i = 0; i < step->input_count && cost < 1000; ++i) {
            cost += cost_of(x, &s_.steps[x.first_step + step->inputs[i]]);
        }
        return cost < 1000 ? cost : 1000;
    }

    graph::graph_view g_;
    graph::schedule_view s_;
    Out& out_;
    int indentation_;
};

template <class Region>
void write_region(text& out, int number, int indentation);

/// Kernel `K`, and below a branch or loop the kernels of its regions.
template <class Scheduled, int K>
void write_kernel(schedule_writer<text>& writer, text& out, int indentation) {
    using group = typename Scheduled::template group<K>;
    constexpr group_kind kind = group::description.kind;
    if constexpr (kind == group_kind::rows) {
        constexpr auto const& plan = kernels::row_program<group>::plan;
        writer.write_kernel(K, plan.scratch_rows, [&](int step) { return plan.ready[step]; });
    } else {
        writer.write_kernel(K, 0, [](int) { return 0; });
    }
    if constexpr (kind == group_kind::control) {
        if (stays_in_registers<Scheduled, K>()) {
            indent(out, indentation + 1) << "keeps what it carries in registers\n";
        }
        constexpr int regions = graph::region_count(Scheduled::control_node(K));
        [&]<int... R>(std::integer_sequence<int, R...>) {
            (write_region<typename Scheduled::template region<K, R>>(out, R, indentation + 1), ...);
        }(std::make_integer_sequence<int, regions>{});
    }
}

template <class Scheduled>
void write_schedule(text& out, int indentation) {
    if (is_register_program<Scheduled>) {
        indent(out, indentation) << "one function, all arrays in registers (where arguments have no gaps):\n";
    }
    schedule_writer writer(Scheduled::view(), Scheduled::schedule.view(), out, indentation);
    [&]<int... K>(std::integer_sequence<int, K...>) {
        (write_kernel<Scheduled, K>(writer, out, indentation), ...);
    }(std::make_integer_sequence<int, Scheduled::size.groups>{});
    writer.write_outputs();
}

template <class Region>
void write_region(text& out, int number, int indentation) {
    indent(out, indentation) << "body " << number << ":\n";
    write_schedule<Region>(out, indentation);
}

} // namespace detail

/// A schedule as text: for each kernel what runs in it, what it reads, and what it stores, and why.
template <class Scheduled>
std::string schedule_text() {
    text out;
    detail::write_schedule<Scheduled>(out, 0);
    return out.string();
}

} // namespace runtime

template <class F, class... Specs>
std::string traced_graph<F, Specs...>::schedule() {
    return runtime::schedule_text<runtime::compiled<F, Specs...>>();
}

} // namespace v0
} // namespace calque
