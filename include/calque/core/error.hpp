// SPDX-License-Identifier: MIT
// The exceptions that calque throws. Each message names the function, the operation, the shapes and what to do.
#pragma once

#include <calque/core/config.hpp>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace calque {
inline namespace v0 {

/// The base of all errors that calque throws.
struct error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Shapes that do not fit together, or do not fit what a function declares.
struct shape_error : error {
    using error::error;
};

/// A dtype that a function was not instantiated for.
struct dtype_error : error {
    using error::error;
};

/// An argument that does not match the function's signature.
struct signature_error : error {
    using error::error;
};

/// A new key where none is allowed: the function is frozen or has made all the traces it may.
struct retrace_error : error {
    using error::error;
};

/// A condition of a traced function that did not hold: what `calque::check` throws after the call.
class check_error : public error {
public:
    check_error(std::string const& what, std::string message, std::vector<std::int64_t> index)
        : error(what), message_(std::move(message)), index_(std::move(index)) {}

    /// What the check says.
    std::string const& message() const { return message_; }
    /// Where the first element is that does not satisfy the condition, in row-major order: an index for each axis.
    std::vector<std::int64_t> const& index() const { return index_; }

private:
    std::string message_;
    std::vector<std::int64_t> index_;
};

} // namespace v0
} // namespace calque
