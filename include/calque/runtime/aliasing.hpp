// SPDX-License-Identifier: MIT
// Outputs that share memory with arguments: in place where that is right, through a temporary where it is not.
#pragma once

#include <calque/graph/placed_parts.hpp>
#include <calque/kernels/cpu/fused_rows.hpp>
#include <calque/runtime/compiled.hpp>

#include <algorithm>

namespace calque {
inline namespace v0 {
namespace runtime {

/// For each output and argument: whether the output may take exactly the argument's place in memory.
///
/// It may if the argument is not read any more when the output is written: neither by a later kernel, nor by the same
/// one, unless that reads each element before it writes the one in its place.
template <class Compiled>
class alias_table {
public:
    constexpr alias_table() {
        for (int o = 0; o < Compiled::output_count; ++o) {
            for (int a = 0; a < Compiled::argument_count; ++a) {
                in_place_[o][a] = may_share(o, a);
            }
        }
    }

    constexpr bool in_place(int output, int argument) const { return in_place_[output][argument]; }

    /// The stored value whose memory an output's is; -1: the output is copied at the end.
    static constexpr int written_value(int output) {
        for (int v = 0; v < size.values; ++v) {
            if (schedule.values[v].output == output) {
                return v;
            }
        }
        return -1;
    }

private:
    static constexpr auto const& schedule = Compiled::schedule;
    static constexpr graph::schedule_size size = Compiled::size;

    struct result_table {
        int of[size.values == 0 ? 1 : size.values];
        bool exist;

        constexpr result_table() : exist(graph::find_results_in_place(Compiled::view(), schedule.view(), of)) {}
    };
    static constexpr result_table results_in_place{};

    static constexpr bool may_share(int output, int argument) {
        int const written = written_value(output);
        if (written < 0) {
            return false;
        }
        int const maker = schedule.values[written].made_by;
        int const writer = first_writer(written);
        for (int v = 0; v < size.values; ++v) {
            if (root_argument(v) != argument) {
                continue;
            }
            if (schedule.values[v].last_use > writer) {
                return false;
            }
            if (schedule.values[v].last_use == writer &&
                (writer != maker || !reads_before_writing(writer, v, written, schedule.outputs[output]))) {
                return false;
            }
        }
        return true;
    }

    /// The first group that may write to the place of a value: what lies there before may be made there.
    static constexpr int first_writer(int written) {
        int writer = schedule.values[written].made_by;
        for (int v = 0; results_in_place.exist && v < size.values; ++v) {
            if (results_in_place.of[v] == written) {
                writer = std::min(writer, first_writer(v));
            }
        }
        return writer;
    }

    /// The argument that a stored value is, or is a view of; -1: none.
    static constexpr int root_argument(int v) { return schedule.values[schedule.view().root_of(v)].argument; }

    /// Whether what is read is an argument and what is written an output, or both are the transposes of these: then
    /// elements in one place of those are in one place here.
    static constexpr bool are_seen_alike(int read, int written, int output) {
        if (schedule.values[read].kind == graph::storage_kind::argument) {
            return Compiled::view().by_columns == 0 || written == output;
        }
        graph::node const& view = Compiled::optimized.nodes[schedule.values[read].node];
        graph::node const& result = Compiled::optimized.nodes[schedule.values[output].node];
        return view.op == graph::code_of<graph::ops::transpose> && result.op == view.op &&
               result.attribute == view.attribute && schedule.values[output].source == written &&
               schedule.values[schedule.values[read].source].kind == graph::storage_kind::argument;
    }

    /// Whether a kernel loads each element of `read` before it stores the one of `written`, which is the output
    /// `output` or what that is a view of, in the same place.
    static constexpr bool reads_before_writing(int k, int read, int written, int output) {
        graph::group const& x = schedule.groups[k];
        graph::node const& from = Compiled::optimized.nodes[schedule.values[read].node];
        graph::node const& to = Compiled::optimized.nodes[schedule.values[written].node];
        bool const same_place = from.shape == to.shape && size_of(from.type) == size_of(to.type);
        if (!are_seen_alike(read, written, output) || !same_place) {
            return false;
        }
        if (x.kind == graph::group_kind::product) {
            bool const is_factor = schedule.leaves[x.first_leaf] == read || schedule.leaves[x.first_leaf + 1] == read;
            return !is_factor; // the fused work on a tile loads first; the product itself reads on
        }
        return x.kind == graph::group_kind::rows && last_phase_of_reading(k, read) <= phase_of_writing(k, written);
    }

    template <class Ask>
    static constexpr int ask_plan(int k, Ask ask) {
        return [&]<int... K>(std::integer_sequence<int, K...>) {
            int answer = 0;
            (void)((K == k && (answer = ask_group<K>(ask), true)) || ...);
            return answer;
        }(std::make_integer_sequence<int, size.groups>{});
    }
    template <int K, class Ask>
    static constexpr int ask_group(Ask ask) {
        using group = typename Compiled::template group<K>;
        if constexpr (group::description.kind == graph::group_kind::rows) {
            return ask(group::description, kernels::row_program<group>::plan);
        } else {
            return 0;
        }
    }

    static constexpr int last_phase_of_reading(int k, int v) {
        return ask_plan(k, [v](graph::group const& x, auto const& plan) {
            int last = 0;
            for (int i = 0; i < x.step_count; ++i) {
                int const leaf = schedule.steps[x.first_step + i].leaf;
                if (leaf >= 0 && schedule.leaves[x.first_leaf + leaf] == v && plan.last_read[i] > last) {
                    last = plan.last_read[i];
                }
            }
            return last;
        });
    }

    static constexpr int phase_of_writing(int k, int v) {
        return ask_plan(k, [v](graph::group const& x, auto const& plan) {
            for (int i = 0; i < x.step_count; ++i) {
                int const result = schedule.steps[x.first_step + i].result;
                if (result >= 0 && schedule.results[x.first_result + result] == v) {
                    // One value a row is written when the row has been read.
                    return plan.stored_in[i] < 0 ? plan.count : plan.stored_in[i];
                }
            }
            return 0;
        });
    }

    static constexpr int at_least_one(int n) { return n == 0 ? 1 : n; }
    bool in_place_[at_least_one(Compiled::output_count)][at_least_one(Compiled::argument_count)]{};
};

/// Where the bytes of an array are: from the address of its first element on, [begin, end).
struct memory_range {
    std::ptrdiff_t begin = 0;
    std::ptrdiff_t end = 0;

    static constexpr memory_range of(shape const& extents, strides const& steps, std::size_t element_bytes) {
        if (extents.size() == 0) {
            return {};
        }
        std::ptrdiff_t low = 0;
        std::ptrdiff_t high = 1;
        for (int axis = 0; axis < extents.rank; ++axis) {
            std::ptrdiff_t const reach = (extents[axis] - 1) * steps[axis];
            (reach < 0 ? low : high) += reach;
        }
        auto const size = static_cast<std::ptrdiff_t>(element_bytes);
        return {low * size, high * size};
    }

    /// Whether `bytes` bytes that begin so far from the first element share some with the array.
    constexpr bool overlaps(std::ptrdiff_t distance, std::ptrdiff_t bytes) const {
        return (distance < end) & (begin < distance + bytes);
    }
};

} // namespace runtime
} // namespace v0
} // namespace calque
