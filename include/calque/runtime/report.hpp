// SPDX-License-Identifier: MIT
// `calque::report()`: what every traced function of the process has done, as text and as JSON.
#pragma once

#include <calque/core/text.hpp>
#include <calque/runtime/registry.hpp>

#include <string>
#include <utility>
#include <vector>

namespace calque {
inline namespace v0 {

/// What a function has done since it was made.
struct function_report {
    std::string name;
    std::uint64_t traces;
    std::uint64_t shapes;    ///< new extents that an earlier trace served
    std::uint64_t hits;      ///< calls that traced nothing
    std::uint64_t evictions; ///< traces that were dropped for newer ones
    std::size_t kept;        ///< traces that are kept
    std::chrono::nanoseconds trace_time;
    std::uint64_t timed_calls;         ///< while `calque::time_calls` was on
    std::chrono::nanoseconds run_time; ///< of these calls, traces included
    std::size_t ended;                 ///< 0, or how many functions of this name that are no more the counts are of
};

/// Reports on functions. (A template, as `report` is: only programs that ask for a report compile one.)
template <class Function>
class report_on {
public:
    explicit report_on(std::vector<Function> functions) : functions_(std::move(functions)) {}

    std::vector<Function> const& functions() const& { return functions_; }
    std::vector<Function> functions() && { return std::move(functions_); } // for (... : report().functions())

    /// A table, a line for each function.
    CALQUE_NOINLINE std::string text() const {
        calque::text out;
        append_row(out, "function", {"traces", "shapes", "hits", "evicted", "kept", "trace us", "timed", "run us"});
        for (Function const& f : functions_) {
            std::string name = f.name;
            if (f.ended != 0) {
                name += " (ended)";
            }
            append_row(out, name,
                       {std::to_string(f.traces), std::to_string(f.shapes), std::to_string(f.hits),
                        std::to_string(f.evictions), std::to_string(f.kept), microseconds(f.trace_time),
                        std::to_string(f.timed_calls), microseconds(f.run_time)});
        }
        return out.string();
    }

    /// `{"functions": [{"name": "loss", "traces": 2, ...}, ...]}`; times in nanoseconds.
    CALQUE_NOINLINE std::string json() const {
        calque::text out;
        out << "{\"functions\": [";
        bool is_first = true;
        for (Function const& f : functions_) {
            out << (is_first ? "" : ", ") << "{\"name\": ";
            append_quoted(out, f.name);
            out << ", \"traces\": " << f.traces << ", \"shapes\": " << f.shapes << ", \"hits\": " << f.hits
                << ", \"evictions\": " << f.evictions << ", \"kept\": " << f.kept
                << ", \"trace_nanoseconds\": " << f.trace_time.count() << ", \"timed_calls\": " << f.timed_calls
                << ", \"run_nanoseconds\": " << f.run_time.count() << ", \"ended\": " << f.ended << '}';
            is_first = false;
        }
        out << "]}";
        return out.string();
    }

private:
    static void append_row(calque::text& out, std::string_view name, std::vector<std::string> const& columns) {
        out << name;
        for (std::size_t i = name.size(); i < 40; ++i) {
            out << ' ';
        }
        for (std::string const& column : columns) {
            for (std::size_t i = column.size(); i < 11; ++i) {
                out << ' ';
            }
            out << ' ' << column;
        }
        out << '\n';
    }

    static std::string microseconds(std::chrono::nanoseconds time) { return std::to_string(time.count() / 1000); }

    static void append_quoted(calque::text& out, std::string_view s) {
        constexpr std::string_view digits = "0123456789abcdef";
        out << '"';
        for (char const c : s) {
            auto const code = static_cast<unsigned char>(c);
            if (c == '"' || c == '\\') {
                out << '\\' << c;
            } else if (code < 0x20) {
                out << "\\u00" << digits[code / 16] << digits[code % 16];
            } else {
                out << c;
            }
        }
        out << '"';
    }

    std::vector<Function> functions_;
};

/// All functions of the process.
using process_report = report_on<function_report>;

/// What every traced function of the process has done: those that live, the oldest first, then those that have ended,
/// added up by name. Copies of a function are one.
template <class Function = function_report>
CALQUE_NOINLINE report_on<Function> report() {
    std::vector<Function> functions;
    detail::function_registry::instance().for_each([&](auto const& of) {
        auto const time = [](std::uint64_t nanoseconds) {
            return std::chrono::nanoseconds(static_cast<std::int64_t>(nanoseconds));
        };
        functions.push_back({of.name, of.counts.traces, of.counts.shapes, of.counts.hits, of.counts.evictions,
                             of.counts.kept, time(of.counts.trace_nanoseconds), of.timed.count,
                             time(of.timed.nanoseconds), of.ended});
    });
    return report_on<Function>(std::move(functions));
}

} // namespace v0
} // namespace calque
