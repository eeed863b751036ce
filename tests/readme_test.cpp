// SPDX-License-Identifier: MIT
// README.md shows examples/first/first.cpp and what it prints: as it is, and as it prints today.
#define main first_example
#include "../examples/first/first.cpp"
#undef main

#include "documents.hpp"

#include <unistd.h>

namespace {

/// What `fn` prints.
template <class Fn>
std::string printed_by(Fn fn) {
    std::FILE* const file = std::tmpfile();
    REQUIRE(file != nullptr);
    std::fflush(stdout);
    int const terminal = dup(STDOUT_FILENO);
    dup2(fileno(file), STDOUT_FILENO);
    fn();
    std::fflush(stdout);
    dup2(terminal, STDOUT_FILENO);
    close(terminal);

    std::rewind(file);
    std::string text;
    for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) {
        text += static_cast<char>(c);
    }
    std::fclose(file);
    return text;
}

} // namespace

TEST_CASE("the first example of the README is the program, and its output is what that prints") {
    std::string const readme = documents::read("README.md");
    auto const programs = documents::blocks(readme, "cpp");
    auto const outputs = documents::blocks(readme, "text");
    REQUIRE(programs.size() == 1);
    REQUIRE(outputs.size() == 1);

    std::string program = documents::read("examples/first/first.cpp");
    program.erase(0, program.find("#include")); // the licence, and what the file is for
    CHECK(programs[0] == program);
    CHECK(outputs[0] == printed_by([] { first_example(); }));
}
