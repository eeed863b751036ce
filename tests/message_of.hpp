// SPDX-License-Identifier: MIT
// What a call throws, for tests of messages.
#pragma once

#include <string>

namespace tests {

/// The message of the `Error` that a call throws.
template <class Error>
std::string message_of(auto&& call) {
    try {
        call();
    } catch (Error const& e) {
        return e.what();
    }
    return "nothing thrown";
}

} // namespace tests
