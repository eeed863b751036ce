// SPDX-License-Identifier: MIT
// Measures what calque costs a compiler: the bare include, functions of 243 and of 1,000 nodes, and residual
// networks of 2 and of 48 layers that are blocks.
//
//     compile_time [--check] [--runs N] [-OLEVEL...] [COMPILER...]
//
// Each case is a program in cases/, compiled without optimization and with -O2. The figures are medians over the runs
// (5): user seconds and peak memory. With --check the program fails where a ratio is above its limit.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

struct cost {
    double seconds = 0;
    double mebibytes = 0;
};

/// Runs a command in silence and returns what it used. Ends the program if the command fails.
cost run(std::vector<std::string> const& command) {
    std::vector<char*> arguments;
    for (std::string const& part : command) {
        arguments.push_back(const_cast<char*>(part.c_str()));
    }
    arguments.push_back(nullptr);

    pid_t const child = fork();
    if (child == 0) {
        int const nowhere = open("/dev/null", O_WRONLY);
        dup2(nowhere, STDOUT_FILENO);
        dup2(nowhere, STDERR_FILENO);
        execvp(arguments[0], arguments.data());
        _exit(127);
    }
    int status = 0;
    rusage used{};
    if (child < 0 || wait4(child, &status, 0, &used) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        std::fprintf(stderr, "failed:");
        for (std::string const& part : command) {
            std::fprintf(stderr, " %s", part.c_str());
        }
        std::fprintf(stderr, "\n");
        std::exit(1);
    }
    timeval const user = used.ru_utime;
    return {.seconds = static_cast<double>(user.tv_sec) + 1e-6 * static_cast<double>(user.tv_usec),
            .mebibytes = static_cast<double>(used.ru_maxrss) / 1024};
}

double median(std::vector<double> values) {
    auto const middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

/// The command that compiles a case. clang 19 needs the two options for xtensor before 0.26; others do not mind them.
std::vector<std::string> compile_command(std::string const& compiler, std::string const& level,
                                         std::string const& name) {
    std::vector<std::string> command{compiler, "-std=c++20", level, "-march=native", "-ffp-contract=off"};
    if (compiler.find("clang") != std::string::npos) {
        command.insert(command.end(), {"-fno-relaxed-template-template-args", "-Wno-unknown-warning-option",
                                       "-Wno-deprecated-no-relaxed-template-template-args"});
    }
    std::string const source = CALQUE_CASES_DIR "/" + name + ".cpp";
    command.insert(command.end(), {"-I" CALQUE_INCLUDE_DIR, "-c", source, "-o", "/dev/null"});
    return command;
}

struct compile_case {
    char const* name;
    int base;     // index of the case that this one is compared with; itself: with none
    double limit; // of the ratio of user times; 0: none
};

constexpr std::array cases{
    compile_case{"include_xtensor_xsimd", 0, 0},
    compile_case{"include_calque", 0, 1.5},
    compile_case{"nodes_243", 1, 2},
    compile_case{"nodes_1000", 1, 0},
    compile_case{"layers_2", 1, 0},
    compile_case{"layers_48", 4, 2},
};

/// Measures and prints all cases with one compiler. Returns whether all ratios are within their limits.
bool measure(std::string const& compiler, std::string const& level, int runs) {
    bool within = true;
    std::array<cost, cases.size()> costs{};
    for (std::size_t i = 0; i != cases.size(); ++i) {
        std::vector<std::string> const command = compile_command(compiler, level, cases[i].name);
        std::vector<double> seconds;
        std::vector<double> mebibytes;
        for (int j = 0; j != runs; ++j) {
            cost const one = run(command);
            seconds.push_back(one.seconds);
            mebibytes.push_back(one.mebibytes);
        }
        costs[i] = {median(seconds), median(mebibytes)};
        std::printf("%-12s %s %-22s %6.2f s %6.0f MiB", compiler.c_str(), level.c_str(), cases[i].name,
                    costs[i].seconds, costs[i].mebibytes);

        auto const base = static_cast<std::size_t>(cases[i].base);
        double const ratio = costs[i].seconds / costs[base].seconds;
        if (base != i) {
            std::printf("   %5.2f x %s", ratio, cases[base].name);
        }
        if (cases[i].limit != 0) {
            std::printf(" (limit %.1f)", cases[i].limit);
            within = within && ratio <= cases[i].limit;
        }
        std::printf("\n");
        std::fflush(stdout);
    }
    return within;
}

bool is_there(std::string const& compiler) {
    return std::system(("command -v " + compiler + " > /dev/null").c_str()) == 0;
}

} // namespace

int main(int count, char** values) {
    bool check = false;
    int runs = 5;
    std::vector<std::string> compilers;
    std::vector<std::string> levels;
    for (int i = 1; i != count; ++i) {
        std::string_view const value = values[i];
        if (value == "--check") {
            check = true;
        } else if (value == "--runs" && i + 1 != count) {
            runs = std::max(1, std::atoi(values[++i]));
        } else if (value.starts_with("-O")) {
            levels.emplace_back(value);
        } else {
            compilers.emplace_back(value);
        }
    }
    if (levels.empty()) {
        levels = {"-O0", "-O2"};
    }
    if (compilers.empty()) {
        compilers = {"g++", "clang++-14", "clang++-19"};
        std::erase_if(compilers, [](std::string const& compiler) { return !is_there(compiler); });
    }
    bool within = true;
    for (std::string const& compiler : compilers) {
        for (std::string const& level : levels) {
            within = measure(compiler, level, runs) && within;
        }
    }
    return check && !within ? 1 : 0;
}
