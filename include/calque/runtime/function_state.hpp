// SPDX-License-Identifier: MIT
// What all copies of a traced function share, whatever arguments it is called with: its counts, what it may still
// trace, and what it says when it traces. All of it is for misses; hits never come here.
#pragma once

#include <calque/core/counted_ptr.hpp>
#include <calque/core/error.hpp>
#include <calque/runtime/explain.hpp>
#include <calque/runtime/plan_classes.hpp>
#include <calque/runtime/registry.hpp>
#include <calque/runtime/retrace_history.hpp>
#include <calque/runtime/warnings.hpp>

#include <atomic>
#include <chrono>
#include <cstring>
#include <mutex>
#include <utility>

namespace calque {
inline namespace v0 {
namespace detail {

/// The plans of one set of argument types: what all of them can tell.
class plans_of_types {
public:
    plans_of_types(void const* which, key_description const& description) : which_(which), description_(description) {}
    virtual ~plans_of_types() = default;

    virtual call_counts counts() const = 0;
    /// Calls `fn(context, key)` for what has been traced and is kept.
    virtual void for_each_trace(void (*fn)(void* context, described_key const&), void* context) const = 0;
    virtual void clear() = 0;

    void const* which() const { return which_; }
    key_description const& description() const { return description_; }

    plans_of_types* next = nullptr;

private:
    void const* which_; // an address that is unique to the types
    key_description const& description_;
};

/// The policy for keys of some types: a signature's extents are what it says, whatever the function's policy is.
inline shape_policy policy_for(key_description const& d, function_options const& options) {
    return d.is_from_signature ? shape_policy::dynamic : options.shapes;
}

class function_state final : public registered_function, public counted {
public:
    explicit function_state(function_options&& options)
        : options_(std::move(options)), make_classes_(&classes_for), call_listener_(&call_on_retrace),
          check_limits_(&throw_beyond_limits) {
        register_this();
    }
    /// All options but the name are the default ones.
    explicit function_state(std::string name) : options_{.name = std::move(name)} { register_this(); }
    function_state(function_state const&) = delete;
    function_state& operator=(function_state const&) = delete;

    ~function_state() {
        unregister();
        for (plans_of_types* p = first_.load(); p != nullptr;) {
            delete std::exchange(p, p->next);
        }
    }

    function_options const& options() const { return options_; }

    /// The plans for the types that `which` stands for, or null.
    CALQUE_INLINE plans_of_types* find(void const* which) const {
        plans_of_types* p = first_.load(std::memory_order_acquire);
        while (p != nullptr && p->which() != which) [[unlikely]] {
            p = p->next;
        }
        return p;
    }

    /// Adds plans, which `make()` returns, unless another thread has.
    template <class Make>
    CALQUE_COLD plans_of_types& add(void const* which, Make&& make) {
        std::lock_guard lock(mutex_);
        if (plans_of_types* p = find(which)) {
            return *p;
        }
        plans_of_types* const added = make();
        added->next = first_.load(std::memory_order_relaxed);
        first_.store(added, std::memory_order_release);
        return *added;
    }

    template <class Fn>
    void for_each(Fn&& fn) const {
        for (plans_of_types* p = first_.load(std::memory_order_acquire); p != nullptr; p = p->next) {
            fn(*p);
        }
    }

    std::string const& registered_name() const override { return options_.name; }

    CALQUE_NOINLINE call_counts counts() const override {
        call_counts sum;
        for_each([&](plans_of_types const& p) { sum += p.counts(); });
        return sum;
    }

    void freeze() {
        frozen_.store(true);
        check_limits_.store(&throw_beyond_limits);
    }

    /// What joins the shapes of keys of some types, or null where each shape is a trace. It is the caller's.
    trace_classes* make_classes(key_description const& d) const {
        return make_classes_ == nullptr ? nullptr : make_classes_(d, options_);
    }

    /// The signatures of what has been traced and is kept.
    CALQUE_NOINLINE std::vector<std::string> signatures() const {
        struct listing {
            std::vector<std::string> const& names;
            std::vector<std::string> all{};
        } list{options_.arguments};
        for_each([&](plans_of_types const& p) {
            p.for_each_trace(
                [](void* context, described_key const& key) {
                    auto& to = *static_cast<listing*>(context);
                    to.all.push_back(signature_of(key, to.names));
                },
                &list);
        });
        return list.all;
    }

    /// Why a call would trace, or that it would not.
    CALQUE_FENCE explanation explain(described_key const& key, bool is_hit) const {
        if (is_hit) {
            std::int64_t const* const words = key.class_words == nullptr ? key.words : key.class_words;
            return {true, "traced as " + signature_of({key.description, words}, options_.arguments)};
        }
        text reason;
        append_reason(reason, key);
        return {false, reason.string()};
    }

    /// Admits a trace, or throws `retrace_error`. Each admitted one ends with `trace_done` or `trace_failed`.
    CALQUE_NOINLINE void admit_trace(described_key const& key) {
        std::uint64_t const before = admitted_.fetch_add(1);
        if (auto const check = check_limits_.load()) {
            check(*this, key, before);
        }
    }

    void trace_failed() { admitted_.fetch_sub(1); }

    /// Tells of a trace, before its plan is published. May throw: `strict`, and what `on_retrace` throws.
    CALQUE_NOINLINE void trace_done(described_key const& key, std::chrono::nanoseconds cost) {
        call_counts const before = counts();
        std::size_t traces_in_window = 0;
        std::uint64_t calls_in_window = 0;
        bool must_warn = false;
        bool must_throw = false;
        {
            std::lock_guard lock(mutex_);
            bool const is_often = history_.add_trace(before.traces + before.hits, options_);
            must_throw = is_often && options_.strict;
            must_warn = is_often && !must_throw && warnings_ < options_.max_warnings;
            warnings_ += must_warn ? 1 : 0;
            traces_in_window = history_.traces();
            calls_in_window = history_.calls();
        }
        if (must_warn || must_throw) {
            tell_of_many(key, traces_in_window, calls_in_window, must_throw);
        }
        if (call_listener_ != nullptr) {
            call_listener_(*this, key, cost, before.traces + 1);
        }
    }

    /// Tells, once, that calls with this key have no kernels: nobody should have to find that out by a clock.
    CALQUE_NOINLINE void tell_of_interpreted(described_key const& key) {
        if (options_.max_warnings == 0 || has_told_of_interpreted_.exchange(true)) {
            return;
        }
        text message;
        message << "calque: " << options_.name << " runs op by op, without fusion, for "
                << signature_of(key, options_.arguments)
                << ": an extent of 1 that the compiler does not know stretches to another; remedy: declare it "
                   "(calque::with_shape<1, calque::dyn>(w)), and such calls have kernels, too";
        warn(message.view());
    }

private:
    static trace_classes* classes_for(key_description const& d, function_options const& options) {
        return options.shapes == shape_policy::exact ? nullptr : new plan_classes(d, options.shapes, options);
    }

    CALQUE_COLD static void throw_beyond_limits(function_state& state, described_key const& key,
                                                std::uint64_t admitted_before) {
        bool const is_frozen = state.frozen_.load();
        std::size_t const limit = state.options_.max_traces;
        if (is_frozen || (limit != 0 && admitted_before >= limit)) {
            state.admitted_.fetch_sub(1);
            state.throw_not_admitted(key, is_frozen);
        }
    }

    [[noreturn]] CALQUE_COLD void throw_not_admitted(described_key const& key, bool is_frozen) const {
        text message;
        message << "calque: " << options_.name;
        if (is_frozen) {
            message << " is frozen";
        } else {
            message << " has made its " << options_.max_traces << " traces (max_traces)";
        }
        message << ", but this call would trace " << signature_of(key, options_.arguments) << ": ";
        append_reason(message, key);
        throw retrace_error(message.string());
    }

    CALQUE_COLD void tell_of_many(described_key const& key, std::size_t traces, std::uint64_t calls,
                                  bool must_throw) const {
        text message;
        message << "calque: " << traces << " out of the last " << calls << " calls of " << options_.name
                << " were traces. This one: " << signature_of(key, options_.arguments) << ": ";
        append_reason(message, key);
        if (must_throw) {
            throw retrace_error(message.string());
        }
        warn(message.view());
    }

    CALQUE_COLD static void call_on_retrace(function_state const& state, described_key const& key,
                                            std::chrono::nanoseconds cost, std::uint64_t traces) {
        function_options const& options = state.options_;
        if (options.on_retrace) {
            text reason;
            std::string_view const remedy = state.append_differences(reason, key);
            options.on_retrace({copy_of(options.name), signature_of(key, options.arguments), reason.string(),
                                copy_of(remedy), cost, traces});
        }
    }

    /// Appends why a key is new, and what would have avoided that.
    CALQUE_COLD void append_reason(text& out, described_key const& key) const {
        std::string_view const remedy = append_differences(out, key);
        if (!remedy.empty()) {
            out << "; remedy: " << remedy;
        }
    }

    /// Appends the differences from the closest key that is known; returns the remedy.
    CALQUE_COLD std::string_view append_differences(text& out, described_key const& key) const {
        struct closest {
            described_key const& key;
            std::vector<std::string> const& names;
            key_description const* description = nullptr;
            sequence<std::int64_t> words{};
            double distance = std::numeric_limits<double>::infinity();
        } best{key, options_.arguments};
        for_each([&](plans_of_types const& p) {
            p.for_each_trace(
                [](void* context, described_key const& before) {
                    auto& b = *static_cast<closest*>(context);
                    double const distance = key_comparison(b.key, before, b.names, nullptr).distance();
                    if (distance < b.distance) {
                        b.distance = distance;
                        b.description = before.description;
                        b.words.clear();
                        b.words.append(before.words, before.description->word_count);
                    }
                },
                &best);
        });
        shape_policy const policy = policy_for(*key.description, options_);
        if (best.description == nullptr) {
            bool const is_first = counts().traces == 0;
            bool const is_bounded = options_.capacity_bytes != 0; // else only `clear()` leaves nothing
            out << (is_first ? "the first call" : "no earlier plan is kept");
            return is_first || !is_bounded ? "" : remedy_for({}, policy);
        }
        described_key const before{best.description, best.words.data()};
        return remedy_for(key_comparison(key, before, options_.arguments, &out).differences(), policy);
    }

    function_options const options_;
    std::mutex mutex_; // of what follows, and of additions to the list
    retrace_history history_;
    std::size_t warnings_ = 0;
    std::atomic<plans_of_types*> first_{nullptr};
    std::atomic<std::uint64_t> admitted_{0};
    std::atomic<bool> frozen_{false};
    std::atomic<bool> has_told_of_interpreted_{false};

    // What only some functions need is called through pointers, which are null unless a function is made with options
    // (or frozen): programs do not compile what none of their functions can call.
    trace_classes* (*const make_classes_)(key_description const&, function_options const&) = nullptr;
    void (*const call_listener_)(function_state const&, described_key const&, std::chrono::nanoseconds cost,
                                 std::uint64_t traces) = nullptr;
    std::atomic<void (*)(function_state&, described_key const&, std::uint64_t admitted_before)> check_limits_{nullptr};
};

/// The place in the source where a function is made. (clang 14 has no std::source_location.)
class caller {
public:
    static constexpr caller current(char const* file = __builtin_FILE(), int line = __builtin_LINE()) {
        return {file, line};
    }

    /// `train.cpp:12`
    CALQUE_COLD std::string name() const {
        char const* const slash = std::strrchr(file_, '/');
        text place;
        place << (slash != nullptr ? slash + 1 : file_) << ':' << line_;
        return place.string();
    }

private:
    constexpr caller(char const* file, int line) : file_(file), line_(line) {}

    char const* file_;
    int line_;
};

/// Out of line, so that the strings of the options are not taken apart wherever a function is made.
CALQUE_NOINLINE inline counted_ptr<function_state> make_function_state(function_options& options, caller const& where) {
    if (options.name.empty()) {
        options.name = where.name();
    }
    return counted_ptr<function_state>(new function_state(std::move(options)));
}

CALQUE_NOINLINE inline counted_ptr<function_state> make_function_state(caller const& where) {
    return counted_ptr<function_state>(new function_state(where.name()));
}

} // namespace detail
} // namespace v0
} // namespace calque
