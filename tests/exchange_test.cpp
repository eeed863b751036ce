// SPDX-License-Identifier: MIT
// Arrays that other programs made or take: .npy files, and DLPack in both of its structures.
#include <calque/dlpack.hpp>
#include <calque/interop/npy.hpp>

#include <doctest/doctest.h>

#include "message_of.hpp"

#include <cstddef>
#include <cstdio>
#include <memory>
#include <string>

// What <dlpack/dlpack.h> defines, in its own types.
extern "C" {
enum DLDeviceType : int { kDLCPU = 1, kDLCUDA = 2 };
struct DLDevice {
    DLDeviceType device_type;
    int32_t device_id;
};
struct DLDataType {
    uint8_t code;
    uint8_t bits;
    uint16_t lanes;
};
struct DLTensor {
    void* data;
    DLDevice device;
    int32_t ndim;
    DLDataType dtype;
    int64_t* shape;
    int64_t* strides;
    uint64_t byte_offset;
};
struct DLManagedTensor {
    DLTensor dl_tensor;
    void* manager_ctx;
    void (*deleter)(DLManagedTensor* self);
};
struct DLPackVersion {
    uint32_t major;
    uint32_t minor;
};
struct DLManagedTensorVersioned {
    DLPackVersion version;
    void* manager_ctx;
    void (*deleter)(DLManagedTensorVersioned* self);
    uint64_t flags;
    DLTensor dl_tensor;
};
}

namespace {

using tests::message_of;

using calque::any_array;
using calque::dtype;
using calque::shape;
namespace dlpack = calque::dlpack;

static_assert(sizeof(dlpack::tensor) == sizeof(DLTensor) &&
              offsetof(dlpack::tensor, byte_offset) == offsetof(DLTensor, byte_offset) &&
              offsetof(dlpack::tensor, dtype) == offsetof(DLTensor, dtype));
static_assert(sizeof(dlpack::managed_tensor) == sizeof(DLManagedTensor));
static_assert(sizeof(dlpack::managed_tensor_versioned) == sizeof(DLManagedTensorVersioned) &&
              offsetof(dlpack::managed_tensor_versioned, dl_tensor) == offsetof(DLManagedTensorVersioned, dl_tensor));

bool contains(std::string const& text, char const* part) {
    return text.find(part) != std::string::npos;
}

// ---- files

struct temporary_file {
    std::string path = "exchange_test.npy";

    temporary_file() = default;
    explicit temporary_file(std::string const& content) { std::ofstream(path, std::ios::binary) << content; }
    temporary_file(temporary_file const&) = delete;
    ~temporary_file() { std::remove(path.c_str()); }
};

/// A file of a version of the format: the header, padded, and the elements.
std::string npy(std::string header, std::string const& elements, char version = 1) {
    header.resize(118 - 1, ' ');
    header += '\n';
    std::string const length = version == 1 ? std::string("\x76\0", 2) : std::string("\x76\0\0\0", 4);
    return "\x93NUMPY" + std::string{version, '\0'} + length + header + elements;
}

template <class T, std::size_t N>
std::string bytes_of(T const (&elements)[N]) {
    return std::string(reinterpret_cast<char const*>(elements), sizeof elements);
}

// ---- tensors

/// A tensor of 2 x 3 floats, 0 to 5, that counts how often it is deleted.
template <class M>
struct foreign {
    float elements[6] = {0, 1, 2, 3, 4, 5};
    std::int64_t extents[2] = {2, 3};
    std::int64_t strides[2] = {1, 2};
    int deleted = 0;
    M managed{};

    foreign() {
        managed.dl_tensor.data = elements;
        managed.dl_tensor.device.device_type = static_cast<decltype(managed.dl_tensor.device.device_type)>(1);
        managed.dl_tensor.ndim = 2;
        managed.dl_tensor.dtype.code = 2;
        managed.dl_tensor.dtype.bits = 32;
        managed.dl_tensor.dtype.lanes = 1;
        managed.dl_tensor.shape = extents;
        managed.manager_ctx = this;
        managed.deleter = [](M* self) { ++static_cast<foreign*>(self->manager_ctx)->deleted; };
        if constexpr (requires { managed.version; }) {
            managed.version.major = 1;
        }
    }
};

} // namespace

TEST_CASE("files of every version, order and byte order are read") {
    std::int32_t const elements[] = {1, 2, 3, 4, 5, 6};
    for (char const version : {'\1', '\2', '\3'}) {
        temporary_file const file(
            npy("{'descr': '<i4', 'fortran_order': False, 'shape': (2, 3), }", bytes_of(elements), version));
        any_array const a = calque::load_npy(file.path);
        CHECK(a.type() == dtype::int32);
        CHECK(a.extents() == shape{2, 3});
        CHECK(a.elements<std::int32_t>()[5] == 6);
    }
    {
        temporary_file const file(
            npy("{'descr': '<i4', 'fortran_order': True, 'shape': (3, 2), }", bytes_of(elements)));
        auto const x = calque::load_npy(file.path).as<xt::xtensor<std::int32_t, 2>>();
        CHECK(x == xt::xtensor<std::int32_t, 2>{{1, 4}, {2, 5}, {3, 6}});
    }
    {
        unsigned char const reversed[] = {0x3f, 0x80, 0, 0, 0xc0, 0x40, 0, 0}; // 1 and -3
        temporary_file const file(npy("{'descr': '>f4', 'fortran_order': False, 'shape': (2,), }", bytes_of(reversed)));
        any_array const a = calque::load_npy(file.path);
        CHECK(a.elements<float>()[0] == 1.f);
        CHECK(a.elements<float>()[1] == -3.f);
    }
    temporary_file const file(npy("{'descr': '<i4', 'fortran_order': False, 'shape': (), }", bytes_of(elements)));
    CHECK(int(calque::load_npy(file.path)) == 1);
}

TEST_CASE("files that are not what they should be") {
    std::int32_t const elements[] = {1, 2, 3, 4, 5, 6};
    auto const message = [](std::string const& content) {
        temporary_file const file(content);
        return message_of<calque::error>([&] { (void)calque::load_npy(file.path); });
    };
    std::string const numbers = bytes_of(elements);
    CHECK(contains(message(npy("{'descr': '<c8', 'fortran_order': False, 'shape': (2,), }", numbers)), "'<c8'"));
    CHECK(contains(message(npy("{'descr': '<i4', 'fortran_order': False, 'shape': (7,), }", numbers)), "shorter"));
    CHECK(contains(
        message(npy("{'descr': '<i4', 'fortran_order': False, 'shape': (9999999999, 9999999999, 9999), }", numbers)),
        "shorter"));
    CHECK(contains(
        message(npy("{'descr': '<i4', 'fortran_order': False, 'shape': (1, 1, 1, 1, 1, 1, 1, 1, 1), }", numbers)),
        "more than 8 axes"));
    CHECK(contains(message(npy("{'descr': '<i4', 'shape': (6,), }", numbers)), "no fortran_order"));
    CHECK(contains(message(npy("{'descr': '<i4', 'fortran_order': False, 'shape': (6,), }", numbers, 4)), "version 4"));
    CHECK(contains(message(npy("{'descr': '<i4', 'fortran_order'", "").substr(0, 40)), "cut off in its header"));
    CHECK(contains(message("no array"), "no .npy file"));
    CHECK(contains(message_of<calque::error>([] { (void)calque::load_npy("no_such_file.npy"); }), "is not there"));
}

TEST_CASE("what is saved is loaded again") {
    temporary_file const file;
    xt::xtensor<double, 2> const x = {{1, 2, 3}, {4, 5, 6}};
    calque::save_npy(file.path, xt::transpose(x));
    CHECK(calque::load_npy(file.path).as<xt::xtensor<double, 2>>() == xt::xtensor<double, 2>(xt::transpose(x)));
    {
        std::ifstream in(file.path, std::ios::binary);
        std::string header(128, ' ');
        in.read(header.data(), 128);
        CHECK(header.substr(6, 4) == std::string("\1\0\x76\0", 4));
        CHECK(header.substr(10, 60) == "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 2), } ");
        CHECK(header[127] == '\n');
    }
    for (shape const& extents : {shape{}, shape{3}, shape{2, 0}, shape{1, 1, 1, 1, 1, 1, 1, 1}}) {
        bool const elements[] = {true, false, true};
        calque::save_npy(file.path, any_array::refer_to(dtype::bool_, extents, elements));
        any_array const a = calque::load_npy(file.path);
        CHECK(a.type() == dtype::bool_);
        CHECK(a.extents() == extents);
        CHECK((extents.size() == 0 || a.elements<bool>()[0]));
    }
    calque::save_npy(file.path, 2.5);
    CHECK(double(calque::load_npy(file.path)) == 2.5);
    CHECK(
        contains(message_of<calque::error>([] { calque::save_npy("no/such/folder.npy", 1); }), "could not be written"));
}

TEST_CASE_TEMPLATE("tensors of others", M, DLManagedTensor, DLManagedTensorVersioned, dlpack::managed_tensor,
                   dlpack::managed_tensor_versioned) {
    foreign<M> f;
    {
        any_array const a = calque::from_dlpack(&f.managed);
        any_array const copy = a;
        CHECK(a.type() == dtype::float32);
        CHECK(a.extents() == shape{2, 3});
        CHECK(a.data() == f.elements);
        CHECK(f.deleted == 0);
    }
    CHECK(f.deleted == 1);

    f.managed.dl_tensor.strides = f.strides;
    any_array const by_columns = calque::from_dlpack(&f.managed);
    CHECK(f.deleted == 2);
    CHECK(by_columns.elements<float>()[1] == 2.f);

    auto const view = calque::dlpack_view<float, 2>(f.managed.dl_tensor);
    CHECK(view.data() == f.elements);
    CHECK(view.stride(1) == 2);
    f.managed.dl_tensor.byte_offset = 8;
    CHECK(calque::dlpack_view<float const, 2>(f.managed.dl_tensor).data() == f.elements + 2);
    CHECK(contains(message_of<calque::dtype_error>([&] { (void)calque::dlpack_view<int, 2>(f.managed.dl_tensor); }),
                   "float and 2 axes was viewed as int32 with 2"));
    CHECK(contains(message_of<calque::shape_error>([&] { (void)calque::dlpack_view<float, 1>(f.managed.dl_tensor); }),
                   "viewed as float with 1"));
}

TEST_CASE("tensors that calque cannot read are deleted and refused") {
    using M = DLManagedTensorVersioned;
    int refused = 0;
    auto const message = [&]<class Error>(std::type_identity<Error>, auto&& change) {
        foreign<M> f;
        change(f.managed);
        std::string const result = message_of<Error>([&] { (void)calque::from_dlpack(&f.managed); });
        refused += f.deleted;
        return result;
    };
    std::type_identity<calque::dtype_error> const dtype_error;
    std::type_identity<calque::error> const error;
    CHECK(contains(message(dtype_error, [](M& m) { m.dl_tensor.dtype.bits = 8; }), "float 8 with 1 lane:"));
    CHECK(contains(message(dtype_error, [](M& m) { m.dl_tensor.dtype.code = 4; }), "bfloat 32"));
    CHECK(contains(message(dtype_error, [](M& m) { m.dl_tensor.dtype.code = 99; }), "an unknown kind"));
    CHECK(contains(message(dtype_error, [](M& m) { m.dl_tensor.dtype.lanes = 4; }), "4 lanes"));
    CHECK(contains(message(error, [](M& m) { m.dl_tensor.device.device_type = kDLCUDA; }), "device of type 2"));
    CHECK(contains(message(error, [](M& m) { m.version.major = 2; }), "DLPack 2.x"));
    CHECK(contains(message(error, [](M& m) { m.dl_tensor.ndim = 9; }), "9 axes"));
    CHECK(contains(message(error, [](M& m) { m.dl_tensor.shape = nullptr; }), "without extents"));
    CHECK(refused == 8);
    CHECK(contains(message_of<calque::error>([] { (void)calque::from_dlpack<M>(nullptr); }), "the pointer is null"));
}

TEST_CASE_TEMPLATE("tensors for others", M, DLManagedTensor, DLManagedTensorVersioned, dlpack::managed_tensor,
                   dlpack::managed_tensor_versioned) {
    constexpr bool is_versioned = calque::detail::dlpack_versioned<M>;
    auto const flags_of = [](M const* m) {
        if constexpr (is_versioned) {
            CHECK(m->version.major == 1);
            return m->flags;
        } else {
            return m == nullptr ? 1 : 0;
        }
    };
    xt::xtensor<std::int16_t, 2> x = {{1, 2, 3}, {4, 5, 6}};
    M* const copied = calque::to_dlpack<M>(x);
    CHECK(copied->dl_tensor.data != x.data());
    CHECK(flags_of(copied) == (is_versioned ? dlpack::is_copied : 0));
    CHECK(copied->dl_tensor.dtype.code == 0);
    CHECK(copied->dl_tensor.dtype.bits == 16);
    CHECK(copied->dl_tensor.shape[0] == 2);
    CHECK(copied->dl_tensor.strides[0] == 3);
    copied->deleter(copied);

    std::int16_t const* const elements = x.data();
    M* const moved = calque::to_dlpack<M>(std::move(x));
    CHECK(moved->dl_tensor.data == elements);
    CHECK(flags_of(moved) == 0);
    any_array const back = calque::from_dlpack(moved); // and deleted with it
    CHECK(back.data() == elements);

    M* const shared = calque::to_dlpack<M>(back);
    CHECK((shared->dl_tensor.data == elements) == is_versioned);
    CHECK(flags_of(shared) == (is_versioned ? dlpack::is_read_only : 0));
    CHECK(calque::from_dlpack(shared).template elements<std::int16_t>()[5] == 6);

    M* const halves = calque::to_dlpack<M>(xt::xtensor<calque::half, 1>{calque::half(1), calque::half(0.5)});
    CHECK(int{halves->dl_tensor.dtype.code} == 2); // kDLFloat
    CHECK(int{halves->dl_tensor.dtype.bits} == 16);
    CHECK(calque::from_dlpack(halves).template elements<calque::half>()[1] == 0.5f);
    M* const brain = calque::to_dlpack<M>(calque::bfloat16(3));
    CHECK(int{brain->dl_tensor.dtype.code} == 4); // kDLBfloat
    CHECK(float(calque::from_dlpack(brain)) == 3);

    M* const number = calque::to_dlpack<M>(2.5f);
    CHECK(number->dl_tensor.ndim == 0);
    CHECK(float(calque::from_dlpack(number)) == 2.5f);
}
