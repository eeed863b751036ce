// SPDX-License-Identifier: MIT
// Reads documents in tests, which run from the repository's root.
#pragma once

#include <doctest/doctest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace documents {

inline std::string read(std::string const& path) {
    std::ifstream const file(path);
    INFO(path);
    REQUIRE(file.is_open());
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

inline std::vector<std::string> lines(std::string const& text) {
    std::vector<std::string> result;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) {
        result.push_back(line);
    }
    return result;
}

/// The fenced code blocks of a Markdown text that are marked with a language.
inline std::vector<std::string> blocks(std::string const& markdown, std::string_view language) {
    std::vector<std::string> result;
    bool inside = false;
    bool wanted = false;
    for (std::string const& line : lines(markdown)) {
        if (line.starts_with("```")) {
            inside = !inside;
            wanted = inside && line.substr(3) == language;
            if (wanted) {
                result.emplace_back();
            }
        } else if (wanted) {
            result.back() += line + '\n';
        }
    }
    return result;
}

} // namespace documents
