// SPDX-License-Identifier: MIT
// The classes of calls that share a trace under a shape policy. Only misses come here, and only where a policy or a
// signature joins shapes.
#pragma once

#include <calque/runtime/function_options.hpp>
#include <calque/runtime/key_description.hpp>
#include <calque/runtime/trace_classes.hpp>

#include <mutex>
#include <utility>

namespace calque {
inline namespace v0 {
namespace detail {

/// The classes of a policy other than `exact`, or of a signature.
///
/// In their words, `dyn` is any extent, and `up_to(n)` one of a bucket; strides are zeros, since a class serves all.
class plan_classes final : public trace_classes {
public:
    plan_classes(key_description const& description, shape_policy policy, function_options const& options)
        : trace_classes(table, is_static_signature(description)), description_(description), policy_(policy),
          options_(options) {}
    ~plan_classes() { erase_all(); }

private:
    CALQUE_COLD found find(std::int64_t const* key) const {
        std::lock_guard lock(mutex_);
        found result{class_of(key), false};
        entry* const known = search(result.words);
        result.is_known = known != nullptr;
        if (result.is_known) {
            known->used = ++clock_;
        }
        return result;
    }

    CALQUE_COLD bool add(std::int64_t const* key) {
        std::lock_guard lock(mutex_);
        sequence<std::int64_t> words = class_of(key);
        if (search(words) != nullptr) {
            return false;
        }
        if (policy_ == shape_policy::bucket && options_.capacity != 0 && count_ >= options_.capacity) {
            erase_oldest();
            ++evictions_;
        }
        entry** end = &first_;
        while (*end != nullptr) {
            end = &(*end)->next;
        }
        *end = new entry{std::move(words), ++clock_, nullptr};
        ++count_;
        bool const is_open = policy_ == shape_policy::dynamic || (policy_ == shape_policy::relax && count_ == 2);
        serve_all_.store(is_open, std::memory_order_release);
        return true;
    }

    class_counts counts() const {
        std::lock_guard lock(mutex_);
        return {count_, evictions_};
    }

    CALQUE_COLD void clear() {
        std::lock_guard lock(mutex_);
        serve_all_.store(is_static_signature(description_), std::memory_order_relaxed);
        erase_all();
    }

    void for_each(void (*fn)(void* context, described_key const&), void* context) const {
        std::lock_guard lock(mutex_);
        for (entry const* e = first_; e != nullptr; e = e->next) {
            fn(context, {&description_, e->words.data()});
        }
    }

    static plan_classes const& self(trace_classes const& t) { return static_cast<plan_classes const&>(t); }
    static plan_classes& self(trace_classes& t) { return static_cast<plan_classes&>(t); }

    static functions const table;

    struct entry {
        sequence<std::int64_t> words;
        std::uint64_t used; // when a call with new extents came
        entry* next;
    };

    void erase(entry** at) {
        entry* const rest = (*at)->next;
        delete std::exchange(*at, rest);
        --count_;
    }

    void erase_all() {
        while (first_ != nullptr) {
            erase(&first_);
        }
    }

    void erase_oldest() {
        entry** oldest = &first_;
        for (entry** at = &first_; *at != nullptr; at = &(*at)->next) {
            oldest = (*at)->used < (*oldest)->used ? at : oldest;
        }
        erase(oldest);
    }

    /// Static shapes never trace, also where the strides of an argument keep a call from the plan of the compiler.
    static bool is_static_signature(key_description const& d) {
        bool all = d.is_from_signature;
        for (int leaf = 0; leaf < d.leaf_count; ++leaf) {
            all = all && d.declared[leaf].is_static();
        }
        return all;
    }

    /// Whether two classes, of as many words, are the same.
    static bool are_equal(sequence<std::int64_t> const& a, sequence<std::int64_t> const& b) {
        bool equal = true;
        for (int i = 0; i < a.size(); ++i) {
            equal &= a[i] == b[i];
        }
        return equal;
    }

    /// The class of these words, or null.
    entry* search(sequence<std::int64_t> const& words) const {
        entry* e = first_;
        while (e != nullptr && !are_equal(e->words, words)) {
            e = e->next;
        }
        return e;
    }

    sequence<std::int64_t> class_of(std::int64_t const* key) const {
        sequence<std::int64_t> words(description_.word_count);
        fill(words, key, policy_);
        if (policy_ == shape_policy::relax && first_ != nullptr && search(words) == nullptr) {
            fill(words, key, shape_policy::dynamic);
        }
        return words;
    }

    /// Writes the words of the class of a key: of all its extents while `relax` has nothing to relax.
    CALQUE_NOINLINE void fill(sequence<std::int64_t>& words, std::int64_t const* key, shape_policy policy) const {
        for (int leaf = 0; leaf < description_.leaf_count; ++leaf) {
            for (int axis = 0; axis < description_.ranks[leaf]; ++axis) {
                int const at = description_.first_words[leaf] + axis;
                if (policy == shape_policy::relax || calque::is_static(description_.declared[leaf][axis])) {
                    words[at] = key[at];
                } else {
                    words[at] = policy == shape_policy::bucket ? up_to(options_.buckets.end_of(key[at])) : dyn;
                }
            }
        }
    }

    key_description const& description_;
    shape_policy const policy_;
    function_options const& options_;
    mutable std::mutex mutex_;
    entry* first_ = nullptr; // a list, which compiles faster than a vector that grows
    std::size_t count_ = 0;
    mutable std::uint64_t clock_ = 0;
    std::uint64_t evictions_ = 0;
};

inline constexpr plan_classes::functions plan_classes::table{
    .find = [](trace_classes const& t, std::int64_t const* key) { return self(t).find(key); },
    .add = [](trace_classes& t, std::int64_t const* key) { return self(t).add(key); },
    .counts = [](trace_classes const& t) { return self(t).counts(); },
    .for_each = [](trace_classes const& t, void (*fn)(void*, described_key const&),
                   void* context) { self(t).for_each(fn, context); },
    .clear = [](trace_classes& t) { self(t).clear(); },
    .destroy = [](trace_classes& t) { delete &self(t); },
};

} // namespace detail
} // namespace v0
} // namespace calque
