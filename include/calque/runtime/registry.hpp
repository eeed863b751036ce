// SPDX-License-Identifier: MIT
// What every traced function of the process has done: the list that `calque::report()` reads.
#pragma once

#include <calque/core/text.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>

namespace calque {
inline namespace v0 {
namespace detail {

/// What is counted of a function, or of its calls with some types of arguments.
struct call_counts {
    std::uint64_t traces = 0;
    std::uint64_t shapes = 0; // new extents that an earlier trace served
    std::uint64_t hits = 0;
    std::uint64_t evictions = 0;
    std::uint64_t trace_nanoseconds = 0;
    std::size_t kept = 0; // traces

    CALQUE_NOINLINE call_counts& operator+=(call_counts const& other) {
        traces += other.traces;
        shapes += other.shapes;
        hits += other.hits;
        evictions += other.evictions;
        trace_nanoseconds += other.trace_nanoseconds;
        kept += other.kept;
        return *this;
    }
};

/// How long calls took, counted while `calque::time_calls` is on.
struct timed_calls {
    std::uint64_t count = 0;
    std::uint64_t nanoseconds = 0;

    CALQUE_NOINLINE timed_calls& operator+=(timed_calls const& other) {
        count += other.count;
        nanoseconds += other.nanoseconds;
        return *this;
    }
};

/// A function as the registry sees it.
class registered_function {
public:
    registered_function() = default;
    registered_function(registered_function const&) = delete;
    registered_function& operator=(registered_function const&) = delete;

    virtual std::string const& registered_name() const = 0;
    virtual call_counts counts() const = 0;

    timed_calls timed() const {
        return {timed_count_.load(std::memory_order_relaxed), timed_nanoseconds_.load(std::memory_order_relaxed)};
    }
    void add_timed(std::chrono::nanoseconds took) {
        timed_count_.fetch_add(1, std::memory_order_relaxed);
        timed_nanoseconds_.fetch_add(static_cast<std::uint64_t>(took.count()), std::memory_order_relaxed);
    }

protected:
    ~registered_function() = default;
    /// The most derived class calls these when it is complete and before it ends. What was counted stays in the report.
    void register_this();
    void unregister();

private:
    friend class function_registry;

    registered_function* before_ = nullptr;
    registered_function* after_ = nullptr;
    std::atomic<std::uint64_t> timed_count_{0};
    std::atomic<std::uint64_t> timed_nanoseconds_{0};
};

/// All functions that live, and by name what those that have ended did.
class function_registry {
public:
    struct summary {
        std::string name;
        call_counts counts;
        timed_calls timed;
        std::size_t ended = 0; // functions of this name that are no more
    };

    static function_registry& instance() {
        static function_registry* const it = new function_registry; // not destroyed: functions may end at exit
        return *it;
    }

    void add(registered_function& f) {
        std::lock_guard lock(mutex_);
        f.after_ = first_;
        if (first_ != nullptr) {
            first_->before_ = &f;
        }
        first_ = &f;
    }

    CALQUE_NOINLINE void remove(registered_function& f) {
        call_counts counts = f.counts();
        counts.kept = 0;
        std::lock_guard lock(mutex_);
        (f.before_ != nullptr ? f.before_->after_ : first_) = f.after_;
        if (f.after_ != nullptr) {
            f.after_->before_ = f.before_;
        }
        summary& s = ended(f.registered_name());
        s.counts += counts;
        s.timed += f.timed();
        ++s.ended;
    }

    /// Calls `fn(summary)` for those that live, the oldest first, then for those that have ended.
    template <class Fn>
    CALQUE_NOINLINE void for_each(Fn&& fn) const {
        std::lock_guard lock(mutex_);
        registered_function const* oldest = first_;
        while (oldest != nullptr && oldest->after_ != nullptr) {
            oldest = oldest->after_;
        }
        for (registered_function const* f = oldest; f != nullptr; f = f->before_) {
            fn(summary{f->registered_name(), f->counts(), f->timed(), 0});
        }
        for (ended_functions const* e = first_ended_; e != nullptr; e = e->next) {
            fn(e->sum);
        }
    }

private:
    /// What functions of one name have done that are no more, in the order in which the first of each ended.
    struct ended_functions {
        summary sum;
        ended_functions* next;
    };

    summary& ended(std::string const& name) {
        ended_functions** at = &first_ended_;
        while (*at != nullptr && (*at)->sum.name != name) {
            at = &(*at)->next;
        }
        if (*at == nullptr) {
            *at = new ended_functions{{copy_of(name), {}, {}, 0}, nullptr};
        }
        return (*at)->sum;
    }

    mutable std::mutex mutex_;
    registered_function* first_ = nullptr;
    ended_functions* first_ended_ = nullptr; // a list, which compiles faster than a vector that grows
};

CALQUE_NOINLINE inline void registered_function::register_this() {
    function_registry::instance().add(*this);
}

CALQUE_NOINLINE inline void registered_function::unregister() {
    function_registry::instance().remove(*this);
}

/// Whether calls are timed: the one thing that every call looks at.
inline constinit std::atomic<bool> calls_are_timed{false};

/// Times one call: the call begins again with this in place.
class call_timer {
public:
    CALQUE_COLD explicit call_timer(registered_function& f)
        : function_(f), around_(std::exchange(timed_, &f)), start_(std::chrono::steady_clock::now()) {}
    call_timer(call_timer const&) = delete;
    call_timer& operator=(call_timer const&) = delete;
    CALQUE_COLD ~call_timer() {
        function_.add_timed(std::chrono::steady_clock::now() - start_);
        timed_ = around_;
    }

    /// Whether a call has to be timed that is not yet.
    CALQUE_INLINE static bool is_due(registered_function const& f) {
        return calls_are_timed.load(std::memory_order_relaxed) && is_new(f);
    }

private:
    CALQUE_COLD static bool is_new(registered_function const& f) { return timed_ != &f; }

    static constinit inline thread_local registered_function const* timed_ = nullptr; // the innermost of this thread

    registered_function& function_;
    registered_function const* around_;
    std::chrono::steady_clock::time_point start_;
};

} // namespace detail

/// Times every call of every traced function from now on, or no longer, for `calque::report()`. A call that is timed
/// costs some 50 ns more; a call that is not, one load.
inline void time_calls(bool on) {
    detail::calls_are_timed.store(on, std::memory_order_relaxed);
}

} // namespace v0
} // namespace calque
