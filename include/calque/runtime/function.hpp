// SPDX-License-Identifier: MIT
// `calque::function`: a traced function as an object that one calls, with its cache of plans.
#pragma once

#include <calque/runtime/plan_text.hpp>
#include <calque/runtime/plans.hpp>
#include <calque/runtime/signature.hpp>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace calque {
inline namespace v0 {

/// What a call runs, for people to read.
class plan_description {
public:
    plan_description(std::string text, std::size_t bytes) : text_(std::move(text)), bytes_(bytes) {}

    /// A line for each kernel, in order.
    std::string const& text() const { return text_; }
    /// The scratch memory that the call takes from its thread's arena.
    std::size_t bytes() const { return bytes_; }

private:
    std::string text_;
    std::size_t bytes_;
};

template <class Function, class Dtypes, class Ranks>
class dispatched_function; // runtime/dispatch.hpp

/// A traced function. Calls are const and safe to make from several threads at once; copies share the cache.
///
/// `Declared`: `signature<...>`, `signatures<...>` or `specialize<...>`, if one was given.
template <class F, class Declared = no_signature>
class traced_function {
    using choice = runtime::program_choice<F, Declared>;

    template <class... Args>
    using general_program = typename choice::template general<Args...>;

    template <class P>
    using host_result = host_result_t<typename P::result, typename P::outputs>;

public:
    explicit traced_function(function_options options, detail::caller where = detail::caller::current())
        : state_(detail::make_function_state(options, where)) {}
    /// With the default options, and named by where it is made.
    explicit traced_function(detail::caller where) : state_(detail::make_function_state(where)) {}

    /// Calls the function. A result is an array that owns its elements, a number for a scalar, or a tree of these.
    ///
    /// The first call with new extents makes a plan (a trace); the next ones find it. Throws `shape_error` if the
    /// shapes do not fit, before anything is written; `signature_error` if they are not those of the signature;
    /// `retrace_error` if the function may not trace any more.
    template <class... Args>
    auto operator()(Args const&... args) const {
        using general = general_program<Args...>;
        if (!detail::call_timer::is_due(*state_)) [[likely]] {
            return choice::choose(
                *state_,
                [&]<class P>() CALQUE_INLINE_LAMBDA {
                    runtime::call<P> call(name(), args...);
                    auto const& plan = find_plan(call);
                    if constexpr (P::result_count != 0) {
                        auto result = make_result<typename general::result, typename general::outputs>(
                            [&](auto i) CALQUE_INLINE_LAMBDA { return call.extents_of(plan, i); });
                        call.template run<false>(plan, result, state_->options().name);
                        return result;
                    } else {
                        std::tuple<> nothing;
                        call.template run<false>(plan, nothing, state_->options().name);
                    }
                },
                args...);
        }
        detail::call_timer const timer(*state_);
        return (*this)(args...); // as above: its result type is known by now
    }

    /// The same, writing to arrays that exist: several outputs as `std::tie(a, b)`. Containers of another shape are
    /// resized; views and spans of another shape throw `shape_error`. An output may share memory with an argument.
    template <class Outputs, class... Args>
    void into(Outputs&& outputs, Args const&... args) const {
        if (detail::call_timer::is_due(*state_)) [[unlikely]] {
            detail::call_timer const timer(*state_);
            return into(outputs, args...);
        }
        choice::choose(
            *state_,
            [&]<class P>() CALQUE_INLINE_LAMBDA {
                runtime::call<P> call(name(), args...);
                auto const& plan = find_plan(call);
                if (call.would_lose_arguments(plan, outputs, name())) [[unlikely]] {
                    call.run_before_binding(plan, outputs, name());
                    return;
                }
                call.template run<true>(plan, outputs, state_->options().name);
            },
            args...);
    }

    /// How many traces have been made. A function whose shapes are all static makes none at run time.
    std::uint64_t trace_count() const { return state_->counts().traces; }
    /// How many times new extents came that an earlier trace served: under a policy other than `exact`, or a signature.
    std::uint64_t shape_count() const { return state_->counts().shapes; }
    /// How many calls traced nothing.
    std::uint64_t hit_count() const { return state_->counts().hits; }
    /// How many traces have been dropped for newer ones.
    std::uint64_t eviction_count() const { return state_->counts().evictions; }
    /// How many traces are kept.
    std::size_t cache_size() const { return state_->counts().kept; }

    /// The time that all traces took together.
    std::chrono::nanoseconds trace_time() const {
        return std::chrono::nanoseconds(static_cast<std::int64_t>(state_->counts().trace_nanoseconds));
    }

    /// Makes the plan that a call with such arguments will find.
    template <class... Args>
    void prepare(Args const&... args) const {
        choice::choose(
            *state_, [&]<class P>() { static_cast<void>(find_plan(runtime::call<P>(name(), args...))); }, args...);
    }

    /// The same for arrays that do not exist yet, by their specs: `prepare<spec<float, 64, 784>, spec<float, 10>>()`
    /// makes the plan that calls with such xt::xtensors will find.
    template <array_spec... Specs>
        requires(sizeof...(Specs) != 0)
    void prepare() const {
        static_assert((Specs::is_static && ...), "calque: prepare<...>: a plan has extents; write all of them");
        prepare(make_array<output_array_t<
                    detail::dynamic_spec_t<typename Specs::value_type, static_cast<std::size_t>(Specs::rank)>>>(
            Specs::shape.extents)...);
    }

    /// What a call with such arguments runs.
    template <class... Args>
    plan_description plan(Args const&... args) const {
        return choice::choose(
            *state_,
            [&]<class P>() -> plan_description {
                typename P::plan const& plan = find_plan(runtime::call<P>(name(), args...));
                return {runtime::to_text(P::code::optimized.view(), P::code::schedule.view(), plan.view()),
                        plan.arena_bytes};
            },
            args...);
    }

    /// The function for `any_array`s, whose dtype and rank only the run knows:
    /// `dispatch<calque::dtypes<float, double>, calque::ranks<1, 2>>()`.
    template <class Dtypes, class Ranks>
    auto dispatch() const {
        return dispatched_function<traced_function, Dtypes, Ranks>(*this);
    }

    /// What messages call the function.
    std::string const& name() const { return state_->options().name; }

    /// Whether a call with such arguments would find its plan, and if not, why: what differs from the closest key that
    /// is known. Runs, makes and counts nothing.
    template <class... Args>
    explanation explain(Args const&... args) const {
        return choice::choose(
            *state_,
            [&]<class P>() -> explanation {
                runtime::call<P> const call(name(), args...);
                if (P::is_static && call.has_contiguous_arguments()) {
                    return {true, "all shapes are static: the compiler has made the plan"};
                }
                sequence<std::int64_t> class_words;
                auto const* const plans = static_cast<detail::plans<P> const*>(state_->find(&detail::which_program<P>));
                bool const is_hit = plans != nullptr && !plans->would_trace(call.key().words, class_words);
                return state_->explain(
                    {&detail::description_of<P>, call.key().words, class_words.empty() ? nullptr : class_words.data()},
                    is_hit);
            },
            args...);
    }

    /// From now on a call that would trace throws `retrace_error` instead. Plans that are dropped are not made again.
    void freeze() const { state_->freeze(); }

    /// The signatures of the traces that are kept: `float[64,784], float[784,10]`.
    std::vector<std::string> signatures() const { return state_->signatures(); }

    /// Forgets all plans; the counts stay.
    void clear() const {
        state_->for_each([](detail::plans_of_types& p) { p.clear(); });
    }

private:
    template <class P>
    CALQUE_INLINE typename P::plan const& find_plan(runtime::call<P> const& call) const {
        if constexpr (P::is_static) {
            if (call.has_contiguous_arguments()) [[likely]] {
                return detail::static_plan<P>;
            }
        }
        return detail::plans_of<P>(*state_).find(call.key());
    }

    counted_ptr<detail::function_state> state_;
};

/// Makes a traced function of a captureless lambda or function object.
template <class F>
traced_function<F> function(F const&, function_options options, detail::caller where = detail::caller::current()) {
    return traced_function<F>(std::move(options), where);
}

template <class F>
traced_function<F> function(F const&, detail::caller where = detail::caller::current()) {
    return traced_function<F>(where);
}

/// What `calque::function` takes beside the function: `signature<...>`, `signatures<...>` or `specialize<...>`.
template <class T>
concept signature_declaration = detail::is_declaration<T>;

/// Makes a traced function whose arguments are declared:
/// `calque::function(total, calque::signature<calque::spec<float, calque::dyn>>{})`.
template <class F, signature_declaration Declared>
traced_function<F, Declared> function(F const&, Declared, function_options options,
                                      detail::caller where = detail::caller::current()) {
    return traced_function<F, Declared>(std::move(options), where);
}

template <class F, signature_declaration Declared>
traced_function<F, Declared> function(F const&, Declared, detail::caller where = detail::caller::current()) {
    return traced_function<F, Declared>(where);
}

/// Makes a traced function of a constexpr object with state that the compiler knows: `calque::function<model>()`.
template <auto const& Object>
auto function(function_options options, detail::caller where = detail::caller::current()) {
    return function(object_function<Object>{}, std::move(options), where);
}

template <auto const& Object>
auto function(detail::caller where = detail::caller::current()) {
    return function(object_function<Object>{}, where);
}

template <auto const& Object, signature_declaration Declared>
auto function(Declared declared, function_options options = {}, detail::caller where = detail::caller::current()) {
    return function(object_function<Object>{}, declared, std::move(options), where);
}

} // namespace v0
} // namespace calque
