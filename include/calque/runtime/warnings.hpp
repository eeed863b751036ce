// SPDX-License-Identifier: MIT
// Where warnings go: to stderr, or to a function of the user's.
#pragma once

#include <calque/core/config.hpp>
#include <calque/core/counted_ptr.hpp>

#include <cstdio>
#include <functional>
#include <mutex>
#include <string_view>
#include <utility>

namespace calque {
inline namespace v0 {

/// Receives a warning, some lines without a newline at the end. May be called by several threads at once.
using warning_sink = std::function<void(std::string_view)>;

namespace detail {

struct kept_warning_sink : counted {
    explicit kept_warning_sink(warning_sink s) : send(std::move(s)) {}

    warning_sink const send;
};

struct current_warning_sink {
    std::mutex mutex;
    counted_ptr<kept_warning_sink> sink;

    static current_warning_sink& instance() {
        static current_warning_sink* const it = new current_warning_sink; // not destroyed: warnings may come at exit
        return *it;
    }
};

CALQUE_COLD inline void warn(std::string_view message) {
    counted_ptr<kept_warning_sink> sink;
    {
        current_warning_sink& current = current_warning_sink::instance();
        std::lock_guard lock(current.mutex);
        sink = current.sink;
    }
    if (sink.get() != nullptr && sink->send) {
        sink->send(message);
    } else {
        std::fprintf(stderr, "%.*s\n", static_cast<int>(message.size()), message.data());
    }
}

} // namespace detail

/// Sends all warnings to `sink` from now on, or to stderr if it is empty; returns the sink before.
inline warning_sink set_warning_sink(warning_sink sink) {
    counted_ptr<detail::kept_warning_sink> next(new detail::kept_warning_sink(std::move(sink)));
    detail::current_warning_sink& current = detail::current_warning_sink::instance();
    std::lock_guard lock(current.mutex);
    std::swap(current.sink, next);
    return next.get() == nullptr ? warning_sink{} : next->send;
}

} // namespace v0
} // namespace calque
