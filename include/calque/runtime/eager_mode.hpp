// SPDX-License-Identifier: MIT
// Calls that run op by op, on tensors: where kernels cannot, and where the user wants to watch.
#pragma once

#include <calque/core/sequence.hpp>
#include <calque/graph/interpreter_tensor.hpp>
#include <calque/kernels/cpu/movement.hpp>
#include <calque/runtime/iteration.hpp>

#include <atomic>
#include <cstring>

namespace calque {
inline namespace v0 {
namespace runtime {

/// The arrays of a call, for who does not know its types.
struct call_arrays {
    int argument_count;
    dtype const* types;
    shape const* extents;
    strides const* steps;
    std::byte* const* bases; // of the arguments, then of the contiguous outputs
    int output_count;
};

/// Runs a call op by op.
using call_runner = void (*)(graph::graph_view const& g, call_arrays const& call);

/// What runs all calls instead of their kernels, while `calque::run_eagerly` is on.
inline constinit std::atomic<call_runner> eager_runner{nullptr};

/// Runs a call by `Run(g, arguments, results)`, which works on tensors: copies its arguments to some, and the results
/// to its outputs. Only programs whose calls may run so compile the copies.
template <auto Run>
CALQUE_COLD void run_on_tensors(graph::graph_view const& g, call_arrays const& call) {
    sequence<graph::tensor> arguments(call.argument_count);
    for (int a = 0; a < call.argument_count; ++a) {
        graph::tensor& t = arguments[a];
        t = graph::tensor(call.types[a], call.extents[a]);
        kernels::copy_strided(call.extents[a], {t.data.data(), contiguous_strides(call.extents[a])},
                              {call.bases[a], call.steps[a]}, size_of(t.type));
    }
    sequence<graph::tensor> results(call.output_count);
    Run(g, arguments.data(), results.data());
    for (int o = 0; o < call.output_count; ++o) {
        graph::tensor const& t = results[o];
        if (!t.data.empty()) {
            std::memcpy(call.bases[call.argument_count + o], t.data.data(), t.data.size());
        }
    }
}

} // namespace runtime
} // namespace v0
} // namespace calque
