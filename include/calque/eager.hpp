// SPDX-License-Identifier: MIT
// `calque::run_eagerly`: every call op by op, with each result printed, and the first op that makes a NaN named.
#pragma once

#include <calque/graph/interpreter.hpp>
#include <calque/kernels/cpu/interpreter_engine.hpp>
#include <calque/runtime/eager_mode.hpp>

#include <cmath>
#include <cstdio>
#include <functional>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>

namespace calque {
inline namespace v0 {

/// What `run_eagerly` shows of each operation. Its name, its operands, its dtype and shape are always there.
struct eager_options {
    bool values = false;                             ///< the elements too, the first eight of them
    bool throw_on_nan = false;                       ///< `calque::error` at the first NaN or infinity of a call
    std::function<void(std::string_view)> sink = {}; ///< gets each line, without its end; stdout if empty
};

namespace detail {

/// The options of the process. A call keeps those that it began with. (A template, as all that is for eager calls: see
/// `run_eagerly`.)
template <class Options>
struct eager_settings {
    std::mutex mutex;
    std::shared_ptr<Options const> options = std::make_shared<Options const>();

    static eager_settings& instance() {
        static eager_settings* const it = new eager_settings; // not destroyed: functions may be called at exit
        return *it;
    }

    std::shared_ptr<Options const> get() {
        std::lock_guard lock(mutex);
        return options;
    }
};

/// The engine of the kernels, which tells of each result.
struct observing_engine : kernels::interpreter_engine {
    using options_type = eager_options;
    struct call {
        eager_options const& options;
        bool has_found_nan = false;
    };
    static constinit inline thread_local call* current = nullptr; // the innermost of this thread

    CALQUE_COLD static void observe(graph::graph_view const& g, graph::node_id id, auto const& result) {
        graph::node const& n = g[id];
        text line;
        line << '%' << id << " = " << graph::info(n.op).name;
        for (int k = 0; k < n.input_count; ++k) {
            line << (k == 0 ? " %" : ", %") << g.input(n, k);
        }
        line << " : " << result.type << result.extents;
        if (current->options.values) {
            append_values(line, result);
        }
        bool const is_first_nan = !current->has_found_nan && !is_finite(result);
        if (is_first_nan) {
            current->has_found_nan = true;
            line << "   <- the first NaN or infinity";
        }
        if (current->options.sink) {
            current->options.sink(line.view());
        } else {
            std::printf("%.*s\n", static_cast<int>(line.view().size()), line.view().data());
        }
        if (is_first_nan && current->options.throw_on_nan) {
            throw error("calque: an operation made a NaN or an infinity: " + line.string());
        }
    }

private:
    static bool is_finite(auto const& x) {
        return with_type_of(x.type, [&x]<class T>() {
            if constexpr (floating<T>) {
                for (extent_t i = 0; i < x.size(); ++i) {
                    if (!std::isfinite(x.template as<T>()[i])) {
                        return false;
                    }
                }
            }
            return true;
        });
    }

    static void append_values(text& out, auto const& x) {
        with_type_of(x.type, [&]<class T>() {
            out << " {";
            for (extent_t i = 0; i < x.size() && i < 8; ++i) {
                char number[32];
                if constexpr (floating<T>) {
                    std::snprintf(number, sizeof number, "%.9g", static_cast<double>(x.template as<T>()[i]));
                } else if constexpr (std::is_unsigned_v<T>) {
                    std::snprintf(number, sizeof number, "%llu",
                                  static_cast<unsigned long long>(x.template as<T>()[i]));
                } else {
                    std::snprintf(number, sizeof number, "%lld", static_cast<long long>(x.template as<T>()[i]));
                }
                out << (i == 0 ? "" : ", ") << std::string_view(number);
            }
            out << (x.size() > 8 ? ", ...}" : "}");
        });
    }
};

template <class Engine>
CALQUE_COLD void run_observed(graph::graph_view const& g, graph::tensor const* arguments, graph::tensor* results) {
    auto const options = eager_settings<typename Engine::options_type>::instance().get();
    typename Engine::call now{*options};
    struct scope {
        typename Engine::call* before;
        ~scope() { Engine::current = before; }
    } const restore{std::exchange(Engine::current, &now)};
    graph::interpreter<Engine>::run(g, arguments, results);
}

} // namespace detail

/// Runs every call of every traced function through the interpreter from now on, or through its kernels again, and
/// prints each operation as it is done. Results are what the kernels compute, elementwise bit for bit.
///
/// (A template, so that only programs that use it compile an interpreter of all operations: some seconds.)
template <class Engine = detail::observing_engine>
void run_eagerly(bool on, eager_options options = {}) {
    {
        auto& settings = detail::eager_settings<typename Engine::options_type>::instance();
        auto next = std::make_shared<typename Engine::options_type const>(std::move(options));
        std::lock_guard lock(settings.mutex);
        std::swap(settings.options, next);
    }
    runtime::eager_runner.store(on ? &runtime::run_on_tensors<&detail::run_observed<Engine>> : nullptr,
                                std::memory_order_release);
}

} // namespace v0
} // namespace calque
