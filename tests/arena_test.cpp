// SPDX-License-Identifier: MIT
#include <calque/runtime/arena.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <new>
#include <thread>
#include <vector>

namespace {

using calque::arena;

bool is_aligned(std::byte const* p) {
    return reinterpret_cast<std::uintptr_t>(p) % arena::alignment == 0;
}

/// Fills a piece and says later whether it is still the same.
struct pattern {
    pattern(std::byte* data, std::size_t size, unsigned char value) : data_(data), size_(size), value_(value) {
        std::memset(data, value, size);
    }

    bool holds() const {
        for (std::size_t i = 0; i != size_; ++i) {
            if (data_[i] != std::byte{value_}) {
                return false;
            }
        }
        return true;
    }

private:
    std::byte* data_;
    std::size_t size_;
    unsigned char value_;
};

/// Calls inside calls, each of which keeps its piece; false if one was lost.
bool nest(int depth, std::size_t bytes) {
    arena::frame frame(bytes);
    pattern const mine(frame.data(), bytes, static_cast<unsigned char>(depth));
    bool const inner = depth == 0 || (nest(depth - 1, bytes * 2) && nest(depth - 1, bytes + 1));
    return inner && mine.holds() && is_aligned(frame.data());
}

TEST_CASE("require gives aligned memory that grows and stays") {
    arena& a = arena::of_this_thread();
    a.release();
    CHECK(a.capacity() == 0);
    for (std::size_t bytes : std::initializer_list<std::size_t>{0, 1, 63, 64, 65, 5000, 100, 1'000'000}) {
        std::byte* p = a.require(bytes);
        CHECK(is_aligned(p));
        std::memset(p, 1, bytes);
        CHECK(a.capacity() >= bytes);
    }
    std::byte* const warm = a.require(1'000'000);
    CHECK(a.require(10) == warm);
    a.release();
    CHECK(a.capacity() == 0);
}

TEST_CASE("frames are pieces apart, also where the arena has to grow between them") {
    arena::of_this_thread().release();
    CHECK(nest(8, 100));
    CHECK(nest(8, 100));
}

TEST_CASE("calls that have been nested before allocate nothing and find one piece of heap") {
    arena& a = arena::of_this_thread();
    a.release();
    nest(6, 1000); // finds out what is needed
    nest(6, 1000); // takes it at once
    std::size_t const settled = a.capacity();
    std::byte* const bottom = arena::frame(1).data();
    for (int i = 0; i != 10; ++i) {
        CHECK(nest(6, 1000));
        CHECK(a.capacity() == settled);
        CHECK(arena::frame(1).data() == bottom);
    }
}

TEST_CASE("an inner call in a loop reuses the piece that it made the arena grow by") {
    arena& a = arena::of_this_thread();
    a.release();
    arena::frame outer(1000);
    pattern const mine(outer.data(), 1000, 7);
    std::byte* first = nullptr;
    for (int i = 0; i != 10; ++i) {
        arena::frame inner(1'000'000);
        first = i == 0 ? inner.data() : first;
        CHECK(inner.data() == first);
        std::memset(inner.data(), i, 1'000'000);
    }
    CHECK(mine.holds());
}

TEST_CASE("release keeps what frames use") {
    arena& a = arena::of_this_thread();
    a.release();
    {
        arena::frame outer(100);
        pattern const mine(outer.data(), 100, 3);
        {
            arena::frame inner(1'000'000);
        }
        CHECK(a.capacity() >= 1'000'000);
        a.release();
        CHECK(a.capacity() < 1'000'000);
        CHECK(a.capacity() >= 100);
        CHECK(mine.holds());
        CHECK(nest(3, 5000));
        CHECK(mine.holds());
    }
    CHECK(nest(3, 5000));
    a.release();
    CHECK(a.capacity() == 0);
}

TEST_CASE("too much is an exception, and the arena goes on") {
    arena& a = arena::of_this_thread();
    a.release();
    std::size_t const too_much = std::numeric_limits<std::size_t>::max() - 10;
    CHECK_THROWS_AS(a.require(too_much), std::bad_alloc);
    {
        arena::frame outer(100);
        pattern const mine(outer.data(), 100, 3);
        CHECK_THROWS_AS(arena::frame inner(too_much), std::bad_alloc);
        CHECK(nest(2, 100));
        CHECK(mine.holds());
    }
    CHECK(nest(2, 100));
}

TEST_CASE("each thread has its own arena, which ends with it") {
    arena::frame mine(1000);
    pattern const kept(mine.data(), 1000, 1);
    std::vector<std::thread> threads;
    std::vector<std::byte*> pieces(4);
    std::vector<char> held(4);
    for (std::size_t i = 0; i != pieces.size(); ++i) {
        threads.emplace_back([&, i] {
            arena::frame theirs(1000);
            pieces[i] = theirs.data();
            held[i] = nest(4, 1000);
        });
    }
    for (std::size_t i = 0; i != pieces.size(); ++i) {
        threads[i].join();
        CHECK(held[i]);
        CHECK(pieces[i] != mine.data());
    }
    CHECK(kept.holds());
}

} // namespace
