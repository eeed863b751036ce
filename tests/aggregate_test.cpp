// SPDX-License-Identifier: MIT
#include <calque/core/aggregate.hpp>
#include <calque/core/type_list.hpp>

#include <doctest/doctest.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

namespace {

// A traced handle has no default constructor, and neither has what holds one.
struct handle {
    constexpr explicit handle(int i) : id(i) {}
    int id;
};

struct empty {};
struct config {
    float scale;
    int power;
};
struct dense {
    handle w;
    handle b;
};
struct network {
    dense first;
    std::array<dense, 2> more;
    std::pair<handle, int> head;
    float rate;
};
struct with_containers {
    std::vector<float> w;
    std::string name;
    std::tuple<float> one;
    std::array<float, 3> fixed;
};
struct with_c_arrays {
    int before;
    float k[3];
    dense layers[2];
    double matrix[2][2];
    handle after;
};
struct one_array {
    float k[1];
};
struct same_types {
    float a, b, c, d;
};
struct many {
    int f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15;
    int f16, f17, f18, f19, f20, f21, f22, f23, f24, f25, f26, f27, f28, f29, f30, f31;
};
template <class T>
struct family {
    T first, second;
};

static_assert(calque::field_count_v<empty> == 0);
static_assert(calque::field_count_v<config> == 2);
static_assert(calque::field_count_v<config const> == 2);
static_assert(calque::field_count_v<dense> == 2);
static_assert(calque::field_count_v<network> == 4);
static_assert(calque::field_count_v<with_containers> == 4);
static_assert(calque::field_count_v<one_array> == 1);
static_assert(calque::field_count_v<with_c_arrays> == 5);
static_assert(calque::field_count_v<many> == 32);
static_assert(calque::field_count_v<family<empty>> == 2);

static_assert(std::is_same_v<calque::field_t<network, 1>, std::array<dense, 2>>);
static_assert(std::is_same_v<calque::field_t<config const, 0>, float const>);
static_assert(std::is_same_v<calque::field_t<with_c_arrays, 1>, float[3]>);

static_assert(calque::field_name_v<config, 0> == "scale");
static_assert(calque::field_name_v<config, 1> == "power");
static_assert(calque::field_name_v<network, 2> == "head");
static_assert(calque::field_name_v<with_containers, 1> == "name");
static_assert(calque::field_name_v<with_c_arrays, 1> == "k");
static_assert(calque::field_name_v<family<empty>, 1> == "second");
static_assert(calque::field_name_v<many, 31> == "f31");

static_assert(calque::field_index(&config::scale) == 0);
static_assert(calque::field_index(&config::power) == 1);
static_assert(calque::field_index(&same_types::c) == 2);
static_assert(calque::field_index(&with_containers::fixed) == 3);
static_assert(calque::field_index(&many::f30) == 30);

// The fields are the object's own, in constant evaluation too.
static_assert([] {
    dense layer{handle(1), handle(2)};
    auto [w, b] = calque::tie_fields(layer);
    b.id = 40;
    return layer.b.id + w.id;
}() == 41);
static_assert([] {
    config const c{2.f, 3};
    return calque::with_fields(c, [](auto& scale, auto& power) { return scale * static_cast<float>(power); });
}() == 6.f);

using list = calque::type_list<int, float, double, char>;
static_assert(list::size == 4 && std::is_same_v<calque::type_at_t<list, 2>, double>);
static_assert(std::is_same_v<calque::concatenate_t<>, calque::type_list<>>);
static_assert(
    std::is_same_v<calque::concatenate_t<calque::type_list<int>, calque::type_list<>, calque::type_list<char, int>,
                                         calque::type_list<float>, calque::type_list<double>>,
                   calque::type_list<int, char, int, float, double>>);

} // namespace

TEST_CASE("tie_fields refers to the fields") {
    with_containers object{{1.f}, "x", {2.f}, {3.f, 4.f, 5.f}};
    auto fields = calque::tie_fields(object);
    std::get<1>(fields) = "changed";
    CHECK(object.name == "changed");
    CHECK(&std::get<3>(fields) == &object.fixed);
}

TEST_CASE("a pointer to member that is known only at run time has a place too") {
    float same_types::* member = &same_types::b;
    CHECK(calque::field_index(member) == 1);
    member = &same_types::d;
    CHECK(calque::field_index(member) == 3);
}
