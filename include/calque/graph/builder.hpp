// SPDX-License-Identifier: MIT
// Builds a graph, one node at a time: infers dtypes and shapes, finds nodes that exist already, and keeps the first
// error.
#pragma once

#include <calque/core/sequence.hpp>
#include <calque/graph/graph.hpp>

#include <climits>
#include <initializer_list>

namespace calque {
inline namespace v0 {
namespace graph {

/// The first error of a trace: what a message needs to name.
struct failure {
    reason why = reason::none;
    op_code op{};
    std::string_view name; // what the user wrote: `mean`, where the operation is a sum
    dtype types[2]{};
    calque::shape shapes[2]{};
    int operands = 0;
    calque::shape wanted; // the extents that the operation was to make
    bool has_wanted = false;
};

/// A condition that a call must satisfy.
struct requirement {
    node_id condition = -1;
    std::string_view message;
};

/// What the hidden variable of a graph with requirements is worth: which was the first not to hold, and where.
struct violation {
    static constexpr int place_bits = 40;
    static constexpr std::int64_t none = INT64_MAX;

    int requirement;
    std::int64_t place; // of the first element that is false, in row-major order

    static constexpr std::int64_t first_code(int requirement) { return std::int64_t{requirement} << place_bits; }
    static constexpr violation decode(std::int64_t code) {
        return {static_cast<int>(code >> place_bits), code & ((std::int64_t{1} << place_bits) - 1)};
    }
};

/// A graph under construction.
///
/// Tracing goes on after an error, on whatever shape the rule returned: only the first error is of use to anybody.
class builder {
public:
    constexpr builder() {
        regions_.push_back({});
        grow_shape_table();
    }

    /// The node for this operation on these inputs: an existing one where that is the same value.
    constexpr node_id add(op_code op, node_id const* inputs, int count, std::uint64_t attribute = 0) {
        op_info const& operation = info(op);
        node n;
        n.op = op;
        n.attribute = attribute;
        n.input_count = static_cast<std::uint16_t>(count);
        dtype types[3]{};
        dtype stored{}; // the half-float dtype of an input, if there is one
        for (int k = 0; k < count; ++k) {
            node const& input = nodes_.at[inputs[k]];
            if (input.region != region_ && !crosses_border(operation, k, attribute) && !is_visible(input.region)) {
                fail(reason::escapes_its_region, op, inputs, count);
            }
            dtype const type = input.type;
            if (k < 3) {
                types[k] = type;
            }
            if (is_half_float(type)) {
                stored = type;
            }
        }
        n.shape = infer(operation, op, inputs, count, attribute);
        if (is_half_float(stored) && !contains(operation.accepts, stored)) {
            return add_in_float(n, inputs, stored);
        }
        n.type = rules(op).infer_type(types, attribute);
        return insert(n, inputs, operation.is_unique);
    }

    constexpr node_id add(op_code op, std::initializer_list<node_id> inputs, std::uint64_t attribute = 0) {
        return add(op, inputs.begin(), static_cast<int>(inputs.size()), attribute);
    }

    /// An argument or a constant, whose dtype and shape are given.
    constexpr node_id add_source(op_code op, dtype type, calque::shape const& s, std::uint64_t attribute) {
        node n;
        n.op = op;
        n.type = type;
        n.attribute = attribute;
        n.shape = static_cast<std::uint16_t>(intern(s));
        return insert(n, nullptr, false);
    }

    constexpr node_id argument(dtype type, calque::shape const& s, int index) {
        return add_source(code_of<ops::argument>, type, s, static_cast<std::uint64_t>(index));
    }

    /// A scalar constant, from its bits.
    constexpr node_id constant(dtype type, std::uint64_t bits) {
        return add_source(code_of<ops::constant>, type, {}, bits);
    }

    /// The index of a list of extents (a shape, or the parameter of an operation) in the graph.
    constexpr int intern(calque::shape const& s) {
        int slot = first_shape_slot(s);
        while (int const found = shape_table_.at[slot]) {
            if (shapes_.at[found - 1] == s) {
                return found - 1;
            }
            slot = (slot + 1) & (shape_table_.size() - 1);
        }
        shapes_.push_back(s);
        shape_table_.at[slot] = shapes_.size();
        if (2 * shapes_.size() > shape_table_.size()) {
            grow_shape_table();
        }
        return shapes_.size() - 1;
    }

    /// The number of a user's operation in the graph.
    constexpr int intern(user_operation const& operation) {
        for (int i = 0; i < user_operations_.size(); ++i) {
            if (user_operations_.at[i] == &operation) {
                return i;
            }
        }
        user_operations_.push_back(&operation);
        return user_operations_.size() - 1;
    }
    constexpr user_operation const& user_operation_at(std::uint64_t number) const {
        return *user_operations_.at[static_cast<int>(number)];
    }

    constexpr void add_output(node_id id) {
        if (!is_visible(nodes_.at[id].region)) {
            fail(reason::escapes_its_region, nodes_.at[id].op, &id, 1);
        }
        outputs_.push_back(id);
    }

    /// Keeps the error if it is the first one. `name`: what users call the operation, if that is not its own name.
    constexpr void fail(reason why, op_code op, node_id const* inputs, int count, std::string_view name = {}) {
        if (failure_.why != reason::none) {
            return;
        }
        failure_.why = why;
        failure_.op = op;
        failure_.name = name.empty() ? info(op).name : name;
        failure_.operands = count < 2 ? count : 2;
        for (int k = 0; k < failure_.operands; ++k) {
            failure_.types[k] = nodes_.at[inputs[k]].type;
            failure_.shapes[k] = shape(inputs[k]);
        }
    }
    constexpr failure const& error() const { return failure_; }

    /// Keeps the error of another graph, whose nodes this one takes over.
    constexpr void fail(failure const& other) {
        if (failure_.why == reason::none) {
            failure_ = other;
        }
    }

    /// Nodes added from now on run only when the new region runs, which is returned.
    constexpr std::uint16_t enter_region() { return region_ = add_region(region_); }
    constexpr void leave_region() { region_ = regions_.at[region_].parent; }
    constexpr std::uint16_t add_region(std::uint16_t parent) {
        regions_.push_back({parent, nodes_.size()});
        return static_cast<std::uint16_t>(regions_.size() - 1);
    }
    constexpr std::uint16_t current_region() const { return region_; }
    constexpr void set_region(std::uint16_t r) { region_ = r; }

    /// Calls `add`, whose nodes belong to region `r` (0: the function's body), whatever region is being built.
    constexpr void in_region(std::uint16_t r, auto add) {
        std::uint16_t const interrupted = region_;
        region_ = r;
        add();
        region_ = interrupted;
    }

    /// From now on nodes of other regions with these ids, or later ones, are not taken for new ones that are equal.
    constexpr void hide_from(node_id id) { hidden_from_ = id; }
    static constexpr node_id nothing_hidden = INT_MAX;

    /// Whether the values of a region can be used in the one that is being built.
    constexpr bool is_visible(std::uint16_t r) const {
        for (std::uint16_t at = region_;; at = regions_.at[at].parent) {
            if (at == r) {
                return true;
            }
            if (at == 0) {
                return false;
            }
        }
    }

    // ---- variables: what each is worth as of now. Assignments are in the order of the program; the graph has values.

    constexpr int add_variable(node_id initial) {
        initial_.push_back(initial);
        variables_.push_back(initial);
        return variables_.size() - 1;
    }
    constexpr int variable_count() const { return variables_.size(); }
    constexpr node_id variable(int index) const { return variables_.at[index]; }
    constexpr node_id initial_value(int index) const { return initial_.at[index]; }
    constexpr void assign(int index, node_id value) { variables_.at[index] = value; }

    // ---- requirements: a hidden variable, the first, has the first violation. It must be there before any region is.

    constexpr void expect_requirements() {
        watches_ = true;
        add_variable(constant(dtype::int64, to_bits<std::int64_t>(violation::none)));
    }
    constexpr bool watches_requirements() const { return watches_; }
    /// Returns the number of the requirement.
    constexpr int require(requirement const& r) {
        requirements_.push_back(r);
        return requirements_.size() - 1;
    }
    constexpr sequence<requirement> const& requirements() const { return requirements_; }
    static constexpr int violation_variable = 0;

    /// Whether a region is another one, or inside it.
    constexpr bool is_within(std::uint16_t inner, std::uint16_t outer) const {
        while (inner != outer && inner != 0) {
            inner = regions_.at[inner].parent;
        }
        return inner == outer;
    }

    /// Numbers a parameter anew, once it is known which values a loop carries.
    constexpr void number_parameter(node_id id, int number) {
        nodes_.at[id].attribute = static_cast<std::uint64_t>(number);
    }
    /// Makes a parameter the value that it starts as: no step changes it.
    constexpr void fix_parameter(node_id id) {
        nodes_.at[id].op = code_of<ops::fresh>;
        nodes_.at[id].attribute = 0;
    }

    constexpr node const& operator[](node_id id) const { return nodes_.at[id]; }
    constexpr node_id input(node_id id, int k) const { return inputs_.at[nodes_.at[id].first_input + k]; }
    constexpr calque::shape const& shape(node_id id) const { return shapes_.at[nodes_.at[id].shape]; }
    constexpr calque::shape const& list(int index) const { return shapes_.at[index]; }
    constexpr int node_count() const { return nodes_.size(); }

    constexpr graph_view view() const {
        graph_view v{nodes_.data(), inputs_.data(), shapes_.data(), regions_.data(), outputs_.data(),
                     nodes_.size(), inputs_.size(), shapes_.size(), regions_.size(), outputs_.size()};
        v.user_operations = user_operations_.data();
        v.user_operation_count = user_operations_.size();
        return v;
    }
    constexpr graph_size size() const {
        return {nodes_.size(),   inputs_.size(),  shapes_.size(),
                regions_.size(), outputs_.size(), user_operations_.size()};
    }

private:
    static constexpr std::uint64_t multiplier = 0x9E3779B97F4A7C15u; // 2^64 / golden ratio: multiplicative hashing

    constexpr std::uint16_t infer(op_info const& operation, op_code op, node_id const* inputs, int count,
                                  std::uint64_t attribute) {
        if (is_broadcasting(operation, count)) {
            if (int const common = common_shape(inputs, count); common >= 0) {
                return static_cast<std::uint16_t>(common);
            }
        }
        input_shapes_.resize(0);
        for (int k = 0; k < count; ++k) {
            input_shapes_.push_back(&shape(inputs[k]));
        }
        inference rule{input_shapes_.data(), input_shapes_.data(), attribute, shapes_.data(), count};
        calque::shape const result = rules(op).infer(rule);
        if (rule.failure != reason::none) {
            bool const is_first = failure_.why == reason::none;
            fail(rule.failure, op, inputs, count);
            if (is_first && operation.list_count == 1) {
                failure_.wanted = shapes_.at[static_cast<int>(attribute)];
                failure_.has_wanted = true;
            }
        }
        return static_cast<std::uint16_t>(intern(result));
    }

    /// What is not compiled for numbers of two bytes: it is computed in float, and a floating result is rounded.
    constexpr node_id add_in_float(node n, node_id const* inputs, dtype stored) {
        auto const cast = [this](node_id id, dtype from, dtype to) {
            if (nodes_.at[id].type != from) {
                return id;
            }
            return add(code_of<ops::cast>, {id}, static_cast<std::uint64_t>(to));
        };
        node_id in_float[3]{};
        dtype types[3]{};
        for (int k = 0; k < n.input_count; ++k) {
            bool const is_computed = k < info(n.op).first_shape_input;
            in_float[k] = is_computed ? cast(inputs[k], stored, dtype::float32) : inputs[k];
            types[k] = nodes_.at[in_float[k]].type;
        }
        n.type = rules(n.op).infer_type(types, n.attribute);
        return cast(insert(n, in_float, info(n.op).is_unique), dtype::float32, stored);
    }

    // The common case of an elementwise operation, without asking its rule: one shape, beside scalars; -1 if not.
    constexpr int common_shape(node_id const* inputs, int count) const {
        int common = nodes_.at[inputs[0]].shape;
        for (int k = 1; k < count; ++k) {
            int const other = nodes_.at[inputs[k]].shape;
            if (other != common && shapes_.at[other].rank != 0) {
                if (shapes_.at[common].rank != 0) {
                    return -1;
                }
                common = other;
            }
        }
        return common;
    }

    /// Inputs that name values of other regions: what a branch or loop returns.
    static constexpr bool crosses_border(op_info const& operation, int k, std::uint64_t attribute) {
        return operation.kind == op_kind::border ||
               (operation.kind == op_kind::control && k >= control_counts::unpack(attribute).data);
    }

    constexpr node_id insert(node& n, node_id const* inputs, bool is_unique) {
        n.region = region_;
        node_id& newest = newest_alike_[node_slot(n, inputs)];
        for (node_id id = newest - 1; !is_unique && id >= 0; id = older_alike_.at[id] - 1) {
            if (is_same(id, n, inputs)) {
                return id;
            }
        }
        n.first_input = inputs_.size();
        if (n.input_count != 0) {
            inputs_.append(inputs, n.input_count);
        }
        nodes_.push_back(n);
        older_alike_.push_back(newest);
        return (newest = nodes_.size()) - 1;
    }

    constexpr bool is_same(node_id id, node const& n, node_id const* inputs) const {
        node const& other = nodes_.at[id];
        if (other.op != n.op || other.attribute != n.attribute || other.type != n.type || other.shape != n.shape ||
            other.input_count != n.input_count || !is_visible(other.region) ||
            (id >= hidden_from_ && other.region != region_)) {
            return false;
        }
        for (int k = 0; k < n.input_count; ++k) {
            if (inputs_.at[other.first_input + k] != inputs[k]) {
                return false;
            }
        }
        return true;
    }

    constexpr int node_slot(node const& n, node_id const* inputs) const {
        std::uint64_t h = static_cast<std::uint64_t>(n.op) | static_cast<std::uint64_t>(n.shape) << 8 |
                          static_cast<std::uint64_t>(n.type) << 24 | static_cast<std::uint64_t>(n.input_count) << 32;
        h = (h ^ (n.attribute ^ n.attribute >> 31)) * multiplier;
        for (int k = 0; k < n.input_count; ++k) {
            h = (h ^ h >> 32 ^ static_cast<std::uint64_t>(inputs[k])) * multiplier;
        }
        return static_cast<int>(h >> 54);
    }

    constexpr int first_shape_slot(calque::shape const& s) const {
        std::uint64_t h = static_cast<std::uint64_t>(s.rank);
        for (int axis = 0; axis < s.rank; ++axis) {
            h = (h ^ h >> 32 ^ static_cast<std::uint64_t>(s[axis])) * multiplier;
        }
        return static_cast<int>(h >> 40) & (shape_table_.size() - 1);
    }

    constexpr void grow_shape_table() {
        int const size = shape_table_.empty() ? 16 : 4 * shape_table_.size();
        shape_table_.resize(0);
        shape_table_.resize(size);
        for (int i = 0; i < shapes_.size(); ++i) {
            int slot = first_shape_slot(shapes_.at[i]);
            while (shape_table_.at[slot] != 0) {
                slot = (slot + 1) & (size - 1);
            }
            shape_table_.at[slot] = i + 1;
        }
    }

    sequence<node> nodes_;
    sequence<node_id> inputs_;
    sequence<calque::shape> shapes_;
    sequence<region> regions_;
    sequence<node_id> outputs_;
    sequence<calque::shape const*> input_shapes_; // of the rule that is running
    int newest_alike_[1024]{};                    // by the hash of a node: 1 + the last one, 0 if there is none
    sequence<int> older_alike_;                   // the same for each node: the one before it with its hash
    sequence<int> shape_table_;                   // open addressing; 0 is empty, else 1 + the shape
    sequence<node_id> initial_;                   // of each variable
    sequence<node_id> variables_;
    sequence<requirement> requirements_;
    sequence<user_operation const*> user_operations_;
    bool watches_ = false;
    std::uint16_t region_ = 0;
    node_id hidden_from_ = nothing_hidden;
    failure failure_;
};

/// Copies a graph under construction into a constant of its exact size.
template <graph_size Size>
constexpr static_graph<Size> freeze(builder const& from) {
    static_graph<Size> to;
    copy_graph(from.view(), to, Size);
    return to;
}

/// Copies a graph under construction into arrays of some capacity, and says what it would need.
template <graph_size Capacity>
constexpr graph_within<Capacity> freeze_within(builder const& from) {
    graph_within<Capacity> to{from.size(), {}};
    if (to.fits()) {
        copy_graph(from.view(), to.graph, to.size);
    }
    return to;
}

} // namespace graph
} // namespace v0
} // namespace calque
