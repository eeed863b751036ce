// SPDX-License-Identifier: MIT
// The lines that the examples print: what was computed and traced here, and by TensorFlow.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

/// Prints the lines, and remembers whether any of them is not as it should be.
class table {
public:
    /// The outputs of all calls of `f` beside TensorFlow's, and the traces of both: here at most `most_traces`.
    template <class F>
    void line(char const* example, std::vector<double> const& outputs, std::vector<double> const& expected, F const& f,
              std::uint64_t most_traces, char const* traces_there) {
        std::uint64_t const traces = f.trace_count();
        bool agree = outputs.size() == expected.size() && traces <= most_traces;
        std::string text;
        for (std::size_t i = 0; i < outputs.size(); ++i) {
            agree = agree && std::abs(outputs[i] - expected[i]) <= 1e-5 * std::abs(expected[i]);
            char number[32];
            std::snprintf(number, sizeof number, "%s%g", i == 0 ? "" : " ", outputs[i]);
            text += number;
        }
        fail_unless(agree);
        std::printf("%-58s %-44s %2d   TensorFlow: %s%s\n", example, text.c_str(), static_cast<int>(traces),
                    traces_there, agree ? "" : "   DIFFERS");
    }

    void fail_unless(bool ok) { failures_ += ok ? 0 : 1; }
    bool is_good() const { return failures_ == 0; }

private:
    int failures_ = 0;
};
