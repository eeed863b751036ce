// SPDX-License-Identifier: MIT
// When a function traces too often: TensorFlow's rule, which people know from its warning.
#pragma once

#include <calque/core/sequence.hpp>
#include <calque/runtime/function_options.hpp>

namespace calque {
inline namespace v0 {
namespace detail {

/// The traces of the last calls.
///
/// Each trace opens a run: itself and the calls after it that found a plan. The oldest run leaves when more than
/// `warn_window` calls have followed it. (TensorFlow: `_FrequentTracingDetector` in polymorphic_function.py.)
class retrace_history {
public:
    /// Notes a trace; `earlier_calls`: all calls before it. Returns whether there are too many.
    CALQUE_NOINLINE bool add_trace(std::uint64_t earlier_calls, function_options const& options) {
        auto const since = static_cast<std::int64_t>(earlier_calls > calls_seen_ ? earlier_calls - calls_seen_ : 0);
        calls_seen_ = earlier_calls + 1;
        if (since != 0) {
            if (runs_.empty()) {
                open_run(0); // of calls before the first trace that is known
            }
            runs_.back() += since;
            calls_in_window_ += since;
        }
        open_run(1);
        ++calls_in_window_;
        int gone = 0;
        while (static_cast<std::uint64_t>(calls_in_window_ - runs_[gone]) > options.warn_window) {
            calls_in_window_ -= runs_[gone++];
        }
        for (int i = gone; i < runs_.size(); ++i) {
            runs_[i - gone] = runs_[i];
        }
        for (; gone != 0; --gone) {
            runs_.pop_back();
        }
        return options.warn_after != 0 && traces() >= options.warn_after;
    }

    std::size_t traces() const { return static_cast<std::size_t>(runs_.size()); }
    std::uint64_t calls() const { return static_cast<std::uint64_t>(calls_in_window_); }

private:
    CALQUE_NOINLINE void open_run(std::int64_t calls) { runs_.push_back(calls); }

    sequence<std::int64_t> runs_; // calls of each: a few. (A sequence that keys have as well.)
    std::int64_t calls_in_window_ = 0;
    std::uint64_t calls_seen_ = 0;
};

} // namespace detail
} // namespace v0
} // namespace calque
