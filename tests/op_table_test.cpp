// SPDX-License-Identifier: MIT
// docs/operations.md: its table of the graph's operations is made from their structs, and every function of trace/ is
// in its other tables.
#include <calque/graph/value.hpp>

#include "accuracy.hpp"
#include "documents.hpp"

#include <algorithm>
#include <filesystem>
#include <regex>
#include <sstream>

namespace {

using namespace calque::graph;

/// The name of an operation's struct. (A user may know the operation by another name: `reduce_max` is `max`.)
template <class Op>
std::string struct_name() {
    std::string_view text =
        __PRETTY_FUNCTION__; // "... [with Op = calque::...::add; ...]" or "... [Op = calque::...::add]"
    text.remove_prefix(text.find("Op = "));
    text = text.substr(0, text.find_first_of(";]"));
    return std::string(text.substr(text.rfind(':') + 1));
}

std::string_view name_of_kind(op_kind kind) {
    switch (kind) {
    case op_kind::source: return "source";
    case op_kind::elementwise: return "elementwise";
    case op_kind::reduction: return "reduction";
    case op_kind::view: return "view";
    case op_kind::contraction: return "product";
    case op_kind::movement: return "movement";
    case op_kind::control: return "branch or loop";
    case op_kind::border: return "border";
    }
    return "";
}

std::string name_of_set(calque::dtype_set set) {
    switch (set) {
    case calque::dtype_set::boolean: return "bool";
    case calque::dtype_set::integers: return "integers";
    case calque::dtype_set::floating: return "float, double";
    case calque::dtype_set::numbers: return "numbers";
    case calque::dtype_set::computed: return "bool, numbers";
    case calque::dtype_set::bits: return "bool, integers";
    case calque::dtype_set::words: return "uint32, uint64";
    case calque::dtype_set::word64: return "uint64";
    default: return "any";
    }
}

/// Whether an operation has a derivative: a rule of its own, or for those of any arity, and for what crosses the border
/// of a region, one in passes/differentiate.hpp.
template <class Op>
constexpr bool has_derivative() {
    constexpr bool has_none = std::is_same_v<Op, ops::cotangent> || std::is_same_v<Op, ops::while_loop>;
    return (Op::arity < 0 && !has_none) || Op::kind == op_kind::border ||
           requires { &Op::template vjp<value, value, value>; } ||
           requires { &Op::template vjp<value, value, value, value>; } ||
           requires { &Op::template vjp<value, value, value, value, value>; };
}

/// Whether the shape rule of an operation takes arguments of these shapes, the last of which all others have, too.
template <class Op>
bool takes(std::initializer_list<calque::shape> shapes) {
    builder b;
    node_id inputs[3];
    calque::shape extents;
    int const count = Op::arity < 0 ? 2 : Op::arity;
    for (int i = 0; i < count; ++i) {
        extents = static_cast<std::size_t>(i) < shapes.size() ? shapes.begin()[i] : extents;
        bool const is_bool = Op::accepts == calque::dtype_set::boolean;
        inputs[i] = b.argument(is_bool ? calque::dtype::bool_ : calque::dtype::uint64, extents, i);
    }
    std::uint64_t attribute = 0; // no axes, or the first
    if (Op::list_count == 1) {
        attribute = static_cast<std::uint64_t>(b.intern(extents));
    } else if (Op::list_count == 3) {
        auto const list = [&](calque::extent_t x) {
            calque::shape all = extents;
            std::fill_n(all.extents, all.rank, x);
            return b.intern(all);
        };
        attribute = slice_lists{list(0), list(to_the_end), list(1)}.pack();
    } else if (std::is_same_v<Op, ops::transpose>) {
        attribute = 0x01; // the other way round
    } else if (std::is_same_v<Op, ops::split_axis>) {
        attribute = 0x10;
    }
    b.add(code_of<Op>, inputs, count, attribute);
    return b.error().why == reason::none;
}

/// Which extents the shape rule of an operation takes: it is tried.
template <class Op>
std::string_view extents_of() {
    if constexpr (Op::arity == 0 || Op::kind == op_kind::control || Op::kind == op_kind::border) {
        return "-"; // it has none to refuse
    } else {
        using s = calque::shape;
        constexpr calque::extent_t any = calque::dyn;
        bool const is_static = takes<Op>({s{2, 2}}) || takes<Op>({s{2, 2, 2}}) || takes<Op>({s{}, s{2, 2}}) ||
                               takes<Op>({s{2, 2}, s{2}, s{2, 2}});
        bool const is_dynamic = takes<Op>({s{any, any}}) || takes<Op>({s{any, any, any}}) ||
                                takes<Op>({s{}, s{any, any}}) || takes<Op>({s{any, any}, s{any}, s{any, any}}) ||
                                takes<Op>({s{any, 2}});
        return is_dynamic ? (is_static ? "static, dynamic" : "dynamic") : is_static ? "static" : "none";
    }
}

/// The greatest error in ULP, of float and of double, where more than rounding is one.
std::string accuracy_of(std::string_view name) {
    std::ostringstream text;
    for (tests::accuracy const& row : tests::accuracy_bounds) {
        if (row.function == name) {
            text << row.in_float << ", " << row.in_double;
        }
    }
    return text.str();
}

/// The headers of the operations, with their names.
std::vector<std::pair<std::string, std::vector<std::string>>> op_headers() {
    std::vector<std::pair<std::string, std::vector<std::string>>> headers;
    for (auto const& entry : std::filesystem::directory_iterator("include/calque/graph/ops")) {
        headers.emplace_back(entry.path().filename().string(),
                             documents::lines(documents::read(entry.path().string())));
    }
    return headers;
}

struct place_in_source {
    std::string header;
    std::string sentence; // the first of the comment before it
};

/// Up to the first full stop that a space follows, other than the last of three.
std::string first_sentence(std::string const& text) {
    std::size_t end = text.find(". ");
    while (end != std::string::npos && end > 0 && text[end - 1] == '.') {
        end = text.find(". ", end + 1);
    }
    return end == std::string::npos ? text : text.substr(0, end + 1);
}

/// Where an operation is defined, and what is said of it there.
place_in_source find(std::string const& name) {
    for (auto const& [header, lines] : op_headers()) {
        for (std::size_t i = 0; i < lines.size(); ++i) {
            if (!lines[i].starts_with("struct " + name + " ") &&
                !lines[i].starts_with("CALQUE_COMPARISON(" + name + ",") &&
                !lines[i].starts_with("CALQUE_BIT_OPERATION(" + name + ",")) {
                continue;
            }
            std::size_t first = i;
            while (first > 0 && lines[first - 1].starts_with("///")) {
                --first;
            }
            std::string comment;
            for (; first < i && lines[first].size() > 4; ++first) {
                comment += (comment.empty() ? "" : " ") + lines[first].substr(4);
            }
            return {header, first_sentence(comment)};
        }
    }
    return {};
}

template <class Op>
void append_row(std::string& table) {
    place_in_source const place = find(struct_name<Op>());
    INFO(struct_name<Op>());
    REQUIRE(!place.header.empty());
    std::string const inputs = Op::arity < 0 ? "any number" : std::to_string(Op::arity);
    std::string const dtypes = Op::kind == op_kind::source ? "-" : name_of_set(Op::accepts);
    table += "| `" + std::string(Op::name) + "` | " + std::string(name_of_kind(Op::kind)) + " | " + inputs + " | " +
             dtypes + " | " + std::string(extents_of<Op>()) + " | " + (has_derivative<Op>() ? "yes" : "-") + " | " +
             accuracy_of(Op::name) + " | [" + place.header + "](../include/calque/graph/ops/" + place.header + ") | " +
             place.sentence + " |\n";
}

template <class... Ops>
std::string table_of(op_list<Ops...>) {
    std::string table = "| operation | kind | inputs | dtypes | extents | derivative | ULP | header | |\n"
                        "|---|---|---|---|---|---|---|---|---|\n";
    (append_row<Ops>(table), ...);
    return table;
}

/// The part of a document between two lines.
std::string between(std::string const& text, std::string const& first, std::string const& last) {
    std::size_t const begin = text.find(first);
    std::size_t const end = text.find(last);
    REQUIRE(begin != std::string::npos);
    REQUIRE(end != std::string::npos);
    return text.substr(begin + first.size(), end - begin - first.size());
}

/// The functions that a header defines for users: in templates and macros, outside of `detail`.
std::vector<std::string> functions_of(std::string const& header) {
    static std::regex const macro(R"(^CALQUE_(?:UNARY|BINARY|REDUCTION)\(([a-z]\w*),.*)");
    static std::regex const function(R"(^(?:constexpr|inline) [\w<>:, ]*?([a-z]\w*)\(.*\{$)");
    std::vector<std::string> names;
    bool in_detail = false;
    for (std::string const& line : documents::lines(documents::read(header))) {
        in_detail = line == "namespace detail {" || (in_detail && line != "} // namespace detail");
        std::smatch match;
        if (!in_detail && (std::regex_match(line, match, macro) || std::regex_match(line, match, function)) &&
            !match[1].str().starts_with("operator")) {
            names.push_back(match[1]);
        }
    }
    return names;
}

} // namespace

TEST_CASE("the table of operations in docs/operations.md is what their structs say") {
    std::string const expected = table_of(op_set{});
    std::string const actual =
        between(documents::read("docs/operations.md"), "<!-- made by tests/op_table_test.cpp -->\n", "<!-- end -->\n");
    if (actual != expected) {
        MESSAGE("the table should be:\n" << expected);
    }
    CHECK(actual == expected);
}

TEST_CASE("docs/operations.md has every function of trace/") {
    std::string const page = documents::read("docs/operations.md");
    std::size_t count = 0;
    for (std::string const header :
         {"activations", "arranging", "branches", "checks", "creation", "einsum", "elementwise", "loops", "products",
          "reductions", "running", "shaping", "variables"}) {
        for (std::string const& name : functions_of("include/calque/trace/" + header + ".hpp")) {
            CAPTURE(name);
            CHECK(std::regex_search(page, std::regex("[`:, ]" + name + "[<(]")));
            ++count;
        }
    }
    CHECK(count > 40);
}
