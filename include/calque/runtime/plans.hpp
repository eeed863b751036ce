// SPDX-License-Identifier: MIT
// The plans of a traced function for arguments of some types: the cache, and what a miss does beside making a plan.
#pragma once

#include <calque/runtime/call.hpp>
#include <calque/runtime/function_state.hpp>

namespace calque {
inline namespace v0 {
namespace detail {

template <class P>
inline constexpr char which_program = 0;

/// A plan as the cache keeps it.
template <class P>
struct cached_plan : P::plan {
    /// `fill(plan)` makes the plan.
    template <class Fill>
    explicit cached_plan(Fill const& fill) {
        fill(static_cast<typename P::plan&>(*this));
    }

    std::size_t bytes() const {
        return sizeof(*this) + static_cast<std::size_t>(this->copies.size()) * sizeof(runtime::copy_plan);
    }
};

/// Decides for each new key whether it is a trace, and tells of it if it is.
///
/// The cache of plans has one for each shape and layout, whatever the policy: so a hit is the same for all. A policy
/// that joins shapes says which misses are traces; the others make their plan and no more ado.
class trace_policy {
public:
    /// `classes`: whose end it is to be, or null if each key is a trace.
    trace_policy(function_state& state, key_description const& description, trace_classes* classes)
        : state_(state), description_(description), classes_(classes) {}
    trace_policy(trace_policy const&) = delete;
    trace_policy& operator=(trace_policy const&) = delete;
    ~trace_policy() {
        if (classes_ != nullptr) {
            classes_->destroy();
        }
    }

    trace_classes* classes() const { return classes_; }

    /// Calls `make()`, which makes the plan of a key.
    template <class Make>
    CALQUE_NOINLINE void run(std::int64_t const* words, Make const& make) {
        trace_classes::found found;
        if (classes_ != nullptr) {
            found.is_known = classes_->serve_all();
            if (!found.is_known) {
                found = classes_->find(words);
            }
        }
        if (found.is_known) {
            make();
            shapes_.fetch_add(1, std::memory_order_relaxed);
            return;
        }
        described_key const key{&description_, words, classes_ != nullptr ? found.words.data() : nullptr};
        state_.admit_trace(key);
        admission admitted{state_};
        auto const start = std::chrono::steady_clock::now();
        make();
        std::chrono::nanoseconds const cost = std::chrono::steady_clock::now() - start;
        state_.trace_done(key, cost);
        if (classes_ != nullptr && !classes_->add(words)) {
            shapes_.fetch_add(1, std::memory_order_relaxed);
            return; // another thread has traced the same class meanwhile
        }
        admitted.is_used = true;
        traces_.fetch_add(1, std::memory_order_relaxed);
        nanoseconds_.fetch_add(static_cast<std::uint64_t>(cost.count()), std::memory_order_relaxed);
    }

    std::uint64_t traces() const { return traces_.load(std::memory_order_relaxed); }
    std::uint64_t shapes() const { return shapes_.load(std::memory_order_relaxed); }
    std::uint64_t nanoseconds() const { return nanoseconds_.load(std::memory_order_relaxed); }

private:
    /// A trace that comes to nothing does not count.
    struct admission {
        function_state& state;
        bool is_used = false;

        ~admission() {
            if (!is_used) {
                state.trace_failed();
            }
        }
    };

    function_state& state_;
    key_description const& description_;
    trace_classes* const classes_;
    std::atomic<std::uint64_t> traces_{0};
    std::atomic<std::uint64_t> shapes_{0};
    std::atomic<std::uint64_t> nanoseconds_{0};
};

template <class P>
class plans final : public plans_of_types {
public:
    using key = typename P::key;

    explicit plans(function_state& state)
        : plans_of_types(&which_program<P>, description_of<P>), state_(state),
          policy_(state, description_of<P>, make_classes(state)),
          cache_({state.options().capacity, state.options().capacity_bytes}) {}

    CALQUE_INLINE typename P::plan const& find(key const& k) {
        return cache_.find_or_make(k, [&] { return make(k); });
    }

    CALQUE_COLD call_counts counts() const override {
        trace_classes const* const classes = policy_.classes();
        call_counts c;
        c.traces = policy_.traces();
        c.shapes = policy_.shapes();
        c.hits = cache_.hit_count() + c.shapes;
        c.trace_nanoseconds = policy_.nanoseconds();
        if (classes != nullptr) {
            trace_classes::class_counts const of_classes = classes->counts();
            c.kept = of_classes.kept;
            c.evictions = of_classes.evictions;
        } else {
            c.kept = cache_.size();
            c.evictions = cache_.eviction_count();
        }
        return c;
    }

    CALQUE_COLD void for_each_trace(void (*fn)(void*, described_key const&), void* context) const override {
        if (trace_classes const* const classes = policy_.classes()) {
            classes->for_each(fn, context);
        } else {
            cache_.for_each([&](key const& k, cached_plan<P> const&) { fn(context, {&description(), k.words}); });
        }
    }

    /// Whether a call with this key would trace; sets `class_words` if the policy has classes. (Not virtual: compiled
    /// only for functions that explain themselves.)
    CALQUE_COLD bool would_trace(std::int64_t const* words, sequence<std::int64_t>& class_words) const {
        if (trace_classes const* const classes = policy_.classes()) {
            trace_classes::found found = classes->find(words);
            class_words = std::move(found.words);
            return !found.is_known;
        }
        key k;
        std::copy_n(words, std::size(k.words), k.words);
        return !cache_.contains(k);
    }

    CALQUE_COLD void clear() override {
        if (trace_classes* const classes = policy_.classes()) {
            classes->clear();
        }
        cache_.clear();
    }

private:
    static trace_classes* make_classes(function_state const& state) {
        if constexpr (description_of<P>.is_from_signature) {
            return new plan_classes(description_of<P>, shape_policy::dynamic, state.options());
        } else {
            return state.make_classes(description_of<P>);
        }
    }

    CALQUE_NOINLINE cached_plan<P> make(key const& k) {
        return cached_plan<P>([&](typename P::plan& p) {
            policy_.run(k.words, [&] { P::template make<typename P::mismatch>(p, k.words, state_.options().name); });
            if constexpr (P::code::may_be_interpreted) {
                if (p.mode == runtime::execution_mode::op_by_op) {
                    state_.tell_of_interpreted({&description(), k.words});
                }
            }
        });
    }

    function_state& state_;
    trace_policy policy_;
    plan_cache<P, key, cached_plan<P>> cache_;
};

template <class P>
CALQUE_INLINE plans<P>& plans_of(function_state& state) {
    if (plans_of_types* const p = state.find(&which_program<P>)) [[likely]] {
        return static_cast<plans<P>&>(*p);
    }
    return static_cast<plans<P>&>(state.add(&which_program<P>, [&] { return new plans<P>(state); }));
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
} // namespace v0
} // namespace calque
