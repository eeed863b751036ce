// SPDX-License-Identifier: MIT
// What one can choose when a traced function is made, and what it tells of each trace.
#pragma once

#include <calque/runtime/shape_policy.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace calque {
inline namespace v0 {

/// A trace, as `function_options::on_retrace` is told of it: before other threads find the new plan.
struct retrace_event {
    std::string function;          ///< its name
    std::string signature;         ///< what is traced: `float[20,784]`
    std::string reason;            ///< against the closest earlier key: "argument 0 `x`: extent 0 was 10, is 20"
    std::string remedy;            ///< what would have avoided the trace; empty for the first
    std::chrono::nanoseconds cost; ///< of this trace
    std::uint64_t trace_count;     ///< with this one
};

/// How a traced function behaves. All members have defaults; name those that differ:
/// `calque::function_options{.name = "loss", .capacity = 8}`.
struct function_options {
    std::string name = {};                     ///< for messages; the place where the function was made by default
    std::vector<std::string> arguments = {};   ///< names of the arguments, for messages and signatures
    shape_policy shapes = shape_policy::exact; ///< which extents share a trace; a signature has its own extents
    bucket_list buckets = {};                  ///< for `shape_policy::bucket`
    std::size_t capacity = 256;                ///< plans kept for each set of argument types, the least recently used
                                               ///< goes first; 0: unbounded
    std::size_t capacity_bytes = 0;            ///< the same in bytes; 0: unbounded
    std::size_t max_traces = 0;                ///< one more throws `retrace_error`; 0: unbounded
    bool strict = false;                       ///< what would be a warning of retracing throws `retrace_error`
    std::size_t warn_after = 5;                ///< warn when so many traces are in the window; 0: never
    std::size_t warn_window = 10;              ///< a trace leaves when more calls than this follow its own run of calls
    std::size_t max_warnings = 2;
    std::function<void(retrace_event const&)> on_retrace = {}; ///< called at each trace; if it throws, so does the call
};

} // namespace v0
} // namespace calque
