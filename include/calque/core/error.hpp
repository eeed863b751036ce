// SPDX-License-Identifier: MIT
// The exceptions that calque throws. Each message names the function, the operation, the shapes and what to do.
#pragma once

#include <calque/core/config.hpp>

#include <stdexcept>

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

} // namespace v0
} // namespace calque
