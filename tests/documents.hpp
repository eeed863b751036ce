// SPDX-License-Identifier: MIT
// Reads documents in tests, which run from the repository's root.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
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

/// The lines of a text without the indentation that all of them have, and without empty ones around them.
inline std::vector<std::string> dedented(std::vector<std::string> text) {
    while (!text.empty() && text.back().empty()) {
        text.pop_back();
    }
    std::size_t indentation = std::string::npos;
    for (std::string const& line : text) {
        indentation = std::min(indentation, line.find_first_not_of(' '));
    }
    for (std::string& line : text) {
        line.erase(0, std::min(indentation, line.size()));
    }
    return text;
}

/// Whether the lines of a block follow each other in `source`, indented or not.
inline bool contains_block(std::vector<std::string> const& source, std::vector<std::string> const& block) {
    for (std::size_t first = 0; first + block.size() <= source.size(); ++first) {
        auto const at = source.begin() + static_cast<std::ptrdiff_t>(first);
        if (dedented({at, at + static_cast<std::ptrdiff_t>(block.size())}) == block) {
            return true;
        }
    }
    return false;
}

/// The programs of a page that are not in a source file, line by line.
inline std::string blocks_that_are_missing(std::string const& page, std::string const& source_file) {
    auto const source = lines(read(source_file));
    std::string missing;
    for (std::string const& program : blocks(read(page), "cpp")) {
        if (!contains_block(source, dedented(lines(program)))) {
            missing += program + '\n';
        }
    }
    return missing;
}

} // namespace documents
