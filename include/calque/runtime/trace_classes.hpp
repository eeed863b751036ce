// SPDX-License-Identifier: MIT
// Which calls share a trace, as a miss sees it; plan_classes.hpp does it. Only programs whose policies or signatures
// join shapes compile that: a table of functions stands here, since of what a virtual call may lead to g++ compiles
// everything, whether such an object is ever made or not.
#pragma once

#include <calque/core/sequence.hpp>
#include <calque/runtime/key_description.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace calque {
inline namespace v0 {
namespace detail {

/// The classes for which a trace has been made, each by the words that its keys have in common.
class trace_classes {
public:
    trace_classes(trace_classes const&) = delete;
    trace_classes& operator=(trace_classes const&) = delete;

    /// The class that a call would have now, and whether a trace has been made for it.
    struct found {
        sequence<std::int64_t> words;
        bool is_known = false;
    };

    /// Whether a trace has been made that serves every key, so that nothing is left to look up.
    bool serve_all() const { return serve_all_.load(std::memory_order_acquire); }

    found find(std::int64_t const* key) const { return functions_.find(*this, key); }

    /// Adds the class of a call whose plan has been made; false if another thread has been faster.
    bool add(std::int64_t const* key) { return functions_.add(*this, key); }

    struct class_counts {
        std::size_t kept;
        std::uint64_t evictions;
    };
    class_counts counts() const { return functions_.counts(*this); }

    /// Calls `fn(context, class)` for each, the oldest first.
    void for_each(void (*fn)(void* context, described_key const&), void* context) const {
        functions_.for_each(*this, fn, context);
    }

    void clear() { functions_.clear(*this); }

    /// Ends what `new` has made.
    void destroy() { functions_.destroy(*this); }

protected:
    struct functions {
        found (*find)(trace_classes const&, std::int64_t const* key);
        bool (*add)(trace_classes&, std::int64_t const* key);
        class_counts (*counts)(trace_classes const&);
        void (*for_each)(trace_classes const&, void (*fn)(void* context, described_key const&), void* context);
        void (*clear)(trace_classes&);
        void (*destroy)(trace_classes&);
    };

    trace_classes(functions const& f, bool serve_all) : serve_all_(serve_all), functions_(f) {}
    ~trace_classes() = default;

    std::atomic<bool> serve_all_;

private:
    functions const& functions_;
};

} // namespace detail
} // namespace v0
} // namespace calque
