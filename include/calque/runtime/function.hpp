// SPDX-License-Identifier: MIT
// `calque::function`: a traced function as an object that one calls, with its cache of plans.
#pragma once

#include <calque/runtime/call.hpp>
#include <calque/runtime/plan_text.hpp>

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace calque {
inline namespace v0 {

/// How a traced function behaves. All members have defaults; name those that differ:
/// `calque::function_options{.name = "loss", .capacity = 8}`.
struct function_options {
    std::string name = {};                   ///< for messages; the place where the function was made by default
    std::vector<std::string> arguments = {}; ///< names of the arguments, for messages and signatures
    std::size_t capacity = 256;              ///< plans kept for each set of argument types, the least recently used
                                             ///< goes first; 0: unbounded
    std::size_t capacity_bytes = 0;          ///< the same in bytes; 0: unbounded
};

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

namespace detail {

/// The plans of one set of argument types: what all of them can tell.
class plans_of_types {
public:
    explicit plans_of_types(void const* which) : which_(which) {}
    virtual ~plans_of_types() = default;

    virtual std::uint64_t trace_count() const = 0;
    virtual std::uint64_t hit_count() const = 0;
    virtual std::size_t cache_size() const = 0;
    virtual std::uint64_t trace_nanoseconds() const = 0;
    virtual void append_signatures(std::vector<std::string>& to) const = 0;
    virtual void clear() = 0;

    void const* which() const { return which_; }

    plans_of_types* next = nullptr;

private:
    void const* which_; // an address that is unique to the types
};

template <class P>
inline constexpr char which_program = 0;

/// A plan as the cache keeps it.
template <class P>
struct cached_plan : P::plan {
    std::size_t bytes() const { return sizeof(*this); }
};

/// The signature of a call: `float[64,784], float[784,10]`.
template <class P>
CALQUE_COLD std::string signature_of(std::int64_t const* words, std::vector<std::string> const& names) {
    text out;
    for (int a = 0; a < P::layout::count; ++a) {
        out << (a == 0 ? "" : ", ");
        if (static_cast<std::size_t>(a) < names.size()) {
            out << names[static_cast<std::size_t>(a)] << ": ";
        }
        shape extents;
        bool is_strided = false;
        for (int axis = 0; axis < P::layout::of.ranks[a]; ++axis) {
            extents.push_back(words[P::layout::of.first_word[a] + axis]);
            is_strided |= words[P::layout::of.first_word[a] + P::layout::of.ranks[a] + axis] != 0;
        }
        out << P::argument_type(a) << extents << (is_strided ? " strided" : "");
    }
    return out.string();
}

template <class P>
class plans final : public plans_of_types {
public:
    using key = typename P::key;

    explicit plans(function_options const& options)
        : plans_of_types(&which_program<P>), options_(options), cache_({options.capacity, options.capacity_bytes}) {}

    CALQUE_INLINE typename P::plan const& find(key const& k) {
        return cache_.find_or_make(k, [&] { return make(k); });
    }

    std::uint64_t trace_count() const override { return cache_.trace_count(); }
    std::uint64_t hit_count() const override { return cache_.hit_count(); }
    std::size_t cache_size() const override { return cache_.size(); }
    std::uint64_t trace_nanoseconds() const override { return trace_nanoseconds_.load(std::memory_order_relaxed); }
    void clear() override { cache_.clear(); }

    CALQUE_COLD void append_signatures(std::vector<std::string>& to) const override {
        cache_.for_each(
            [&](key const& k, cached_plan<P> const&) { to.push_back(signature_of<P>(k.words, options_.arguments)); });
    }

private:
    CALQUE_COLD std::unique_ptr<cached_plan<P> const> make(key const& k) {
        auto const start = std::chrono::steady_clock::now();
        auto made = std::make_unique<cached_plan<P>>();
        P::make(*made, k.words, options_.name);
        std::chrono::nanoseconds const took = std::chrono::steady_clock::now() - start;
        trace_nanoseconds_.fetch_add(static_cast<std::uint64_t>(took.count()), std::memory_order_relaxed);
        return made;
    }

    function_options const& options_;
    std::atomic<std::uint64_t> trace_nanoseconds_{0};
    plan_cache<P, key, cached_plan<P>> cache_;
};

/// What copies of a traced function share.
class function_state {
public:
    explicit function_state(function_options options) : options_(std::move(options)) {}
    function_state(function_state const&) = delete;
    function_state& operator=(function_state const&) = delete;

    ~function_state() {
        for (plans_of_types* p = first_.load(); p != nullptr;) {
            delete std::exchange(p, p->next);
        }
    }

    function_options const& options() const { return options_; }

    template <class P>
    CALQUE_INLINE plans<P>& plans_of() {
        for (plans_of_types* p = first_.load(std::memory_order_acquire); p != nullptr; p = p->next) {
            if (p->which() == &which_program<P>) [[likely]] {
                return static_cast<plans<P>&>(*p);
            }
        }
        return add_plans<P>();
    }

    template <class Fn>
    void for_each(Fn&& fn) const {
        for (plans_of_types* p = first_.load(std::memory_order_acquire); p != nullptr; p = p->next) {
            fn(*p);
        }
    }

private:
    template <class P>
    CALQUE_COLD plans<P>& add_plans() {
        std::lock_guard lock(mutex_);
        for (plans_of_types* p = first_.load(std::memory_order_relaxed); p != nullptr; p = p->next) {
            if (p->which() == &which_program<P>) {
                return static_cast<plans<P>&>(*p);
            }
        }
        auto* added = new plans<P>(options_);
        added->next = first_.load(std::memory_order_relaxed);
        first_.store(added, std::memory_order_release);
        return *added;
    }

    function_options const options_;
    std::mutex mutex_;
    std::atomic<plans_of_types*> first_{nullptr};
};

/// The place in the source where a function is made. (clang 14 has no std::source_location.)
struct caller {
    char const* file;
    int line;

    static constexpr caller current(char const* file = __builtin_FILE(), int line = __builtin_LINE()) {
        return {file, line};
    }

    /// `train.cpp:12`
    CALQUE_COLD std::string name() const {
        std::string_view path = file;
        if (auto const slash = path.find_last_of('/'); slash != std::string_view::npos) {
            path.remove_prefix(slash + 1);
        }
        text place;
        place << path << ':' << line;
        return place.string();
    }
};

/// Out of line, so that the strings of the options are not taken apart wherever a function is made.
CALQUE_COLD inline std::shared_ptr<function_state> make_function_state(function_options& options, caller const& where) {
    if (options.name.empty()) {
        options.name = where.name();
    }
    return std::make_shared<function_state>(std::move(options));
}

/// The plan of a function whose shapes are all static, made by the compiler.
template <class P>
constexpr typename P::plan make_static_plan() {
    std::int64_t words[P::layout::words == 0 ? 1 : P::layout::words]{};
    [&]<class... Leaf>(type_list<Leaf...>) {
        int argument = 0;
        auto const fill = [&]<class L>(std::type_identity<L>) {
            if constexpr (array_spec<L>) {
                for (int axis = 0; axis < L::rank; ++axis) {
                    words[P::layout::of.first_word[argument] + axis] = L::shape[axis];
                }
            }
            ++argument;
        };
        (fill(std::type_identity<Leaf>{}), ...);
    }(typename P::leaves{});
    typename P::plan p;
    P::make(p, words, {});
    return p;
}

template <class P>
inline constexpr typename P::plan static_plan = make_static_plan<P>();

} // namespace detail

/// A traced function. Calls are const and safe to make from several threads at once; copies share the cache.
template <class F>
class traced_function {
public:
    explicit traced_function(function_options options, detail::caller where = detail::caller::current())
        : state_(detail::make_function_state(options, where)) {}

    /// Calls the function. A result is an array that owns its elements, a number for a scalar, or a tree of these.
    ///
    /// The first call with new extents makes a plan (a trace); the next ones find it. Throws `shape_error` if the
    /// shapes do not fit, before anything is written.
    template <class... Args>
    auto operator()(Args const&... args) const {
        using program = runtime::program<F, Args...>;
        runtime::call<program> call(args...);
        auto const& plan = find_plan(call);
        if constexpr (program::result_count != 0) {
            auto result = make_result<typename program::result, typename program::outputs>(
                [&](auto i) CALQUE_INLINE_LAMBDA { return call.extents_of(plan, i); });
            call.template run<false>(plan, result, state_->options().name);
            return result;
        } else {
            std::tuple<> nothing;
            call.template run<false>(plan, nothing, state_->options().name);
        }
    }

    /// The same, writing to arrays that exist: several outputs as `std::tie(a, b)`. Containers of another shape are
    /// resized; views and spans of another shape throw `shape_error`. An output may share memory with an argument.
    template <class Outputs, class... Args>
    void into(Outputs&& outputs, Args const&... args) const {
        using program = runtime::program<F, Args...>;
        runtime::call<program> call(args...);
        auto const& plan = find_plan(call);
        if (call.would_lose_arguments(plan, outputs)) [[unlikely]] {
            auto result = make_result<typename program::result, typename program::outputs>(
                [&](auto i) { return call.extents_of(plan, i); });
            call.template run<false>(plan, result, state_->options().name);
            assign<program>(plan, outputs, result);
            return;
        }
        call.template run<true>(plan, outputs, state_->options().name);
    }

    /// How many plans have been made. A function whose shapes are all static makes none at run time.
    std::uint64_t trace_count() const { return sum_of(&detail::plans_of_types::trace_count); }
    /// How many calls found their plan.
    std::uint64_t hit_count() const { return sum_of(&detail::plans_of_types::hit_count); }
    /// How many plans are kept.
    std::size_t cache_size() const { return static_cast<std::size_t>(sum_of(&detail::plans_of_types::cache_size)); }

    /// The time that all traces took together.
    std::chrono::nanoseconds trace_time() const {
        return std::chrono::nanoseconds(static_cast<std::int64_t>(sum_of(&detail::plans_of_types::trace_nanoseconds)));
    }

    /// Makes the plan that a call with such arguments will find.
    template <class... Args>
    void prepare(Args const&... args) const {
        using program = runtime::program<F, Args...>;
        static_cast<void>(find_plan(runtime::call<program>(args...)));
    }

    /// What a call with such arguments runs.
    template <class... Args>
    plan_description plan(Args const&... args) const {
        using program = runtime::program<F, Args...>;
        typename program::plan plan = find_plan(runtime::call<program>(args...));
        return {runtime::to_text(program::code::optimized.view(), program::code::schedule.view(), plan.view(),
                                 plan.is_interpreted),
                plan.arena_bytes};
    }

    /// The signatures of the plans that are kept: `float[64,784], float[784,10]`.
    std::vector<std::string> signatures() const {
        std::vector<std::string> all;
        state_->for_each([&](detail::plans_of_types const& p) { p.append_signatures(all); });
        return all;
    }

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
        return state_->template plans_of<P>().find(call.key());
    }

    template <class P, class Outputs, class Result>
    CALQUE_COLD static void assign(typename P::plan const& plan, Outputs& outputs, Result& result) {
        auto const extents_of = [&](auto i) { return runtime::call<P>::extents_of(plan, i); };
        std::byte const* from[static_cast<std::size_t>(P::traced::output_count)];
        bind_outputs<typename P::result, typename P::outputs>(result, extents_of, [&](auto i, auto const& ref) {
            from[i] = reinterpret_cast<std::byte const*>(ref.data);
        });
        bind_outputs<typename P::result, typename P::outputs>(outputs, extents_of, [&](auto i, auto const& ref) {
            runtime::value_plan const& value = plan.values[P::code::schedule.outputs[i]];
            auto* const to = reinterpret_cast<std::byte*>(ref.data);
            if constexpr (std::remove_cvref_t<decltype(ref)>::contiguous) {
                kernels::copy_bytes(to, from[i], static_cast<std::size_t>(value.extents.size()) * sizeof(*ref.data));
            } else {
                strides steps;
                for (int axis = 0; axis < value.extents.rank; ++axis) {
                    steps[axis] = ref.strides[axis];
                }
                kernels::copy_strided(value.extents, {to, steps}, {from[i], contiguous_strides(value.extents)},
                                      sizeof(*ref.data));
            }
        });
    }

    template <class Count>
    std::uint64_t sum_of(Count (detail::plans_of_types::*count)() const) const {
        std::uint64_t sum = 0;
        state_->for_each([&](detail::plans_of_types const& p) { sum += (p.*count)(); });
        return sum;
    }

    std::shared_ptr<detail::function_state> state_;
};

/// Makes a traced function of a captureless lambda or function object.
template <class F>
traced_function<F> function(F const&, function_options options, detail::caller where = detail::caller::current()) {
    return traced_function<F>(std::move(options), where);
}

template <class F>
traced_function<F> function(F const& fn, detail::caller where = detail::caller::current()) {
    return function(fn, function_options{}, where);
}

/// Makes a traced function of a constexpr object with state that the compiler knows: `calque::function<model>()`.
template <auto const& Object>
auto function(function_options options, detail::caller where = detail::caller::current()) {
    return function(object_function<Object>{}, std::move(options), where);
}

template <auto const& Object>
auto function(detail::caller where = detail::caller::current()) {
    return function(object_function<Object>{}, function_options{}, where);
}

} // namespace v0
} // namespace calque
