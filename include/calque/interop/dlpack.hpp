// SPDX-License-Identifier: MIT
// DLPack: arrays from and for other libraries of the same process, without copies where both sides can have them.
//
// The structures are our own, with the layout of DLPack's ABI: `managed_tensor` of 0.6 and later, and the versioned one
// of 1.x. Whoever includes <dlpack/dlpack.h> passes and gets its structures instead: members are known by their names.
#pragma once

#include <calque/interop/any_array.hpp>
#include <calque/interop/array_view.hpp>

namespace calque {
inline namespace v0 {

/// The structures of DLPack's ABI.
namespace dlpack {

struct device {
    std::int32_t device_type = 1; // 1 is the CPU
    std::int32_t device_id = 0;
};

struct data_type {
    std::uint8_t code = 0;
    std::uint8_t bits = 0;
    std::uint16_t lanes = 1;
};

struct tensor {
    void* data = nullptr;
    dlpack::device device;
    std::int32_t ndim = 0;
    data_type dtype;
    std::int64_t* shape = nullptr;
    std::int64_t* strides = nullptr; // in elements; null: row-major
    std::uint64_t byte_offset = 0;
};

/// DLManagedTensor. Who takes it calls `deleter(self)` once.
struct managed_tensor {
    tensor dl_tensor;
    void* manager_ctx = nullptr;
    void (*deleter)(managed_tensor* self) = nullptr;
};

struct pack_version {
    std::uint32_t major = 1;
    std::uint32_t minor = 0;
};

/// DLManagedTensorVersioned, of DLPack 1.x.
struct managed_tensor_versioned {
    pack_version version;
    void* manager_ctx = nullptr;
    void (*deleter)(managed_tensor_versioned* self) = nullptr;
    std::uint64_t flags = 0;
    tensor dl_tensor;
};

inline constexpr std::uint64_t is_read_only = 1; // flags
inline constexpr std::uint64_t is_copied = 2;

} // namespace dlpack

namespace detail {

/// A DLTensor, ours or DLPack's own.
template <class T>
concept dlpack_tensor = requires(T const& t) {
    { t.data } -> std::convertible_to<void const*>;
    t.device.device_type;
    { t.dtype.code } -> std::convertible_to<int>;
    { t.dtype.lanes } -> std::convertible_to<int>;
    { t.ndim } -> std::convertible_to<int>;
    { t.shape } -> std::convertible_to<std::int64_t const*>;
    { t.strides } -> std::convertible_to<std::int64_t const*>;
    { t.byte_offset } -> std::convertible_to<std::uint64_t>;
};

/// A DLManagedTensor or DLManagedTensorVersioned.
template <class M>
concept dlpack_managed = requires(M& m) {
    requires dlpack_tensor<decltype(m.dl_tensor)>;
    { m.manager_ctx } -> std::convertible_to<void*>;
    m.deleter(&m);
};

template <class M>
concept dlpack_versioned = dlpack_managed<M> && requires(M const& m) {
    { m.version.major } -> std::convertible_to<std::uint32_t>;
    { m.flags } -> std::convertible_to<std::uint64_t>;
};

/// DLPack's codes of kinds of elements.
enum class dlpack_code : std::uint8_t { signed_integer, unsigned_integer, floating, opaque, bfloat, complex, boolean };

constexpr dlpack_code dlpack_code_of(dtype d) {
    return d == dtype::bool_                         ? dlpack_code::boolean
           : d == dtype::bfloat16                    ? dlpack_code::bfloat
           : is_floating(d)                          ? dlpack_code::floating
           : d >= dtype::uint8 && d <= dtype::uint64 ? dlpack_code::unsigned_integer
                                                     : dlpack_code::signed_integer;
}

template <dlpack_tensor T>
dtype dtype_of_dlpack(T const& t) {
    for (int i = 0; i < dtype_count; ++i) {
        auto const d = static_cast<dtype>(i);
        if (t.dtype.code == static_cast<std::uint8_t>(dlpack_code_of(d)) && t.dtype.bits == 8 * size_of(d)) {
            if (t.dtype.lanes == 1) {
                return d;
            }
        }
    }
    constexpr std::string_view kinds[] = {"int", "uint", "float", "opaque", "bfloat", "complex", "bool"};
    text message;
    message << "calque: a DLPack tensor of "
            << (t.dtype.code < std::size(kinds) ? kinds[t.dtype.code] : "an unknown kind") << ' '
            << static_cast<int>(t.dtype.bits) << " with " << static_cast<int>(t.dtype.lanes)
            << (t.dtype.lanes == 1 ? " lane" : " lanes")
            << ": calque has bool, integers of 8 to 64 bits, half, bfloat16, float and double";
    throw dtype_error(message.string());
}

/// Checks what is not said by dtype and rank: that the elements are in the memory of the host, and have extents.
template <dlpack_tensor T>
void require_host_tensor(T const& t) {
    auto const device = static_cast<int>(t.device.device_type);
    if (device != 1 && device != 3 && device != 11) { // the CPU, and what CUDA and ROCm have pinned in its memory
        text message;
        message << "calque: a DLPack tensor on a device of type " << device
                << " (1 is the CPU, 2 is CUDA): copy it to the CPU";
        throw error(message.string());
    }
    if (t.ndim < 0 || t.ndim > max_rank) {
        text message;
        message << "calque: a DLPack tensor of " << static_cast<int>(t.ndim) << " axes: calque has at most 8";
        throw shape_error(message.string());
    }
    if (t.ndim != 0 && t.shape == nullptr) {
        throw shape_error("calque: a DLPack tensor without extents");
    }
}

template <dlpack_tensor T>
shape shape_of_dlpack(T const& t, strides& steps) {
    shape extents;
    for (int axis = 0; axis < t.ndim; ++axis) {
        extents.push_back(t.shape[axis]);
    }
    steps = contiguous_strides(extents);
    for (int axis = 0; t.strides != nullptr && axis < t.ndim; ++axis) {
        steps[axis] = extents[axis] == 1 ? steps[axis] : t.strides[axis];
    }
    return extents;
}

template <dlpack_managed M>
void require_known_version([[maybe_unused]] M const& m) {
    if constexpr (dlpack_versioned<M>) {
        if (m.version.major != 1) {
            text message;
            message << "calque: a tensor of DLPack " << m.version.major
                    << ".x: calque knows 1.x, and the unversioned one";
            throw error(message.string());
        }
    }
}

} // namespace detail

/// A view of a tensor that somebody else keeps, of known dtype and rank, `dlpack_view<float const, 2>(m->dl_tensor)`:
/// an argument of any strides, and an output if `T` is not const. Throws `dtype_error`, `shape_error` for another rank,
/// or `calque::error` for another device.
template <class T, int Rank, detail::dlpack_tensor Tensor>
array_view<T, Rank, false> dlpack_view(Tensor const& tensor) {
    detail::require_host_tensor(tensor);
    dtype const actual = detail::dtype_of_dlpack(tensor);
    constexpr dtype wanted = dtype_of<std::remove_const_t<T>>;
    if (actual != wanted || tensor.ndim != Rank) {
        text message;
        message << "calque: a DLPack tensor of " << actual << " and " << static_cast<int>(tensor.ndim)
                << " axes was viewed as " << wanted << " with " << Rank;
        if (actual != wanted) {
            throw dtype_error(message.string());
        }
        throw shape_error(message.string());
    }
    strides steps;
    shape const extents = detail::shape_of_dlpack(tensor, steps);
    std::array<std::int64_t, static_cast<std::size_t>(Rank)> lengths{}, distances{};
    for (int axis = 0; axis < Rank; ++axis) {
        lengths[static_cast<std::size_t>(axis)] = extents[axis];
        distances[static_cast<std::size_t>(axis)] = steps[axis];
    }
    auto* const bytes = static_cast<std::byte*>(tensor.data) + tensor.byte_offset;
    return {reinterpret_cast<T*>(bytes), lengths, distances};
}

/// Takes over a managed tensor, ours or DLPack's: its deleter is called when the last copy of the result is gone, or
/// before this returns, also by an exception. Row-major elements stay where they are, others are copied.
template <detail::dlpack_managed M>
any_array from_dlpack(M* managed) {
    if (managed == nullptr) {
        throw error("calque: no DLPack tensor: the pointer is null");
    }
    std::shared_ptr<M> owner(managed, [](M* m) {
        if (m->deleter != nullptr) {
            m->deleter(m);
        }
    });
    detail::require_known_version(*managed);
    auto const& tensor = managed->dl_tensor;
    detail::require_host_tensor(tensor);
    dtype const type = detail::dtype_of_dlpack(tensor);
    strides steps;
    shape const extents = detail::shape_of_dlpack(tensor, steps);
    void const* const data = static_cast<std::byte const*>(tensor.data) + tensor.byte_offset;
    strides const by_rows = contiguous_strides(extents);
    bool is_by_rows = true;
    for (int axis = 0; axis < extents.rank; ++axis) {
        is_by_rows &= extents[axis] == 1 || steps[axis] == by_rows[axis];
    }
    if (is_by_rows || extents.size() == 0) {
        return any_array::keep(type, extents, data, std::move(owner));
    }
    return with_type_of(type,
                        [&]<class T>() { return any_array::copy_of<T>(extents, static_cast<T const*>(data), steps); });
}

namespace detail {

/// What a tensor that we give away keeps: the array, and the extents and strides that the tensor points to.
template <class Array, class M>
struct dlpack_export {
    Array array;
    std::int64_t extents[max_rank]{};
    std::int64_t steps[max_rank]{};
    M managed{};

    explicit dlpack_export(Array&& a) : array(std::move(a)) {}

    M* publish(void const* data, dtype type, int rank, std::uint64_t flags) {
        auto& t = managed.dl_tensor;
        t.data = const_cast<void*>(data);
        t.device.device_type = static_cast<decltype(t.device.device_type)>(1);
        t.device.device_id = 0;
        t.ndim = rank;
        t.dtype.code = static_cast<std::uint8_t>(dlpack_code_of(type));
        t.dtype.bits = static_cast<std::uint8_t>(8 * size_of(type));
        t.dtype.lanes = 1;
        t.shape = extents;
        t.strides = steps;
        t.byte_offset = 0;
        if constexpr (dlpack_versioned<M>) {
            managed.version.major = 1;
            managed.version.minor = 0;
            managed.flags = flags;
        }
        managed.manager_ctx = this;
        managed.deleter = [](M* self) { delete static_cast<dlpack_export*>(self->manager_ctx); };
        return &managed;
    }
};

/// A container whose elements a tensor can keep.
template <class A>
concept movable_container = array_output<A&> && is_resizable_v<A> && std::movable<A>;

template <class M>
M* give_elements(any_array array, std::uint64_t flags) {
    auto exported = std::make_unique<dlpack_export<any_array, M>>(std::move(array));
    any_array const& kept = exported->array;
    strides const steps = contiguous_strides(kept.extents());
    for (int axis = 0; axis < kept.rank(); ++axis) {
        exported->extents[axis] = kept.extents()[axis];
        exported->steps[axis] = steps[axis];
    }
    return exported.release()->publish(kept.data(), kept.type(), kept.rank(), flags);
}

} // namespace detail

/// Gives an array to another library, which calls the `deleter`. `M`: the structure, ours or DLPack's;
/// `to_dlpack<DLManagedTensor>(f(x))`.
///
/// A container that is passed as a temporary or moved, as results are, becomes the tensor's own, without a copy. Others
/// are copied (flag `is_copied`). The elements of an `any_array` may be shared, so that who gets them must not write:
/// in the versioned structure a flag says that, for the other one they are copied.
template <detail::dlpack_managed M = dlpack::managed_tensor_versioned, class A>
M* to_dlpack(A&& array) {
    using plain = std::remove_cvref_t<A>;
    if constexpr (std::same_as<plain, any_array>) {
        if constexpr (detail::dlpack_versioned<M>) {
            return detail::give_elements<M>(array, dlpack::is_read_only);
        } else {
            return with_type_of(array.type(), [&]<class T>() {
                return detail::give_elements<M>(any_array::copy_of<T>(array.extents(),
                                                                      static_cast<T const*>(array.data()),
                                                                      contiguous_strides(array.extents())),
                                                0);
            });
        }
    } else if constexpr (detail::movable_container<plain> && std::same_as<A, plain>) {
        auto exported = std::make_unique<detail::dlpack_export<plain, M>>(std::move(array));
        using adaptor = array_adaptor<plain>;
        plain& kept = exported->array;
        for (int axis = 0; axis < adaptor::rank; ++axis) {
            exported->extents[axis] = adaptor::extent(kept, axis);
            exported->steps[axis] = adaptor::stride(kept, axis);
        }
        void const* const data = adaptor::data(kept);
        return exported.release()->publish(data, dtype_of<array_value_t<plain>>, adaptor::rank, 0);
    } else {
        return detail::give_elements<M>(any_array(array), dlpack::is_copied);
    }
}

} // namespace v0
} // namespace calque
