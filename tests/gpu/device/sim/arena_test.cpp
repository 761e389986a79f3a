#include "gpu/device/sim/arena.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include <gtest/gtest.h>

namespace rankcheck::gpu::sim {
namespace {

TEST(ArenaTest, keeps_the_scratch_of_ranks_apart) {
  Arena arena;
  arena.begin(std::array<std::int64_t, 3>{64, 0, 10}, 1, true);
  EXPECT_EQ(arena.scratch(1), arena.scratch(0) + 64);
  EXPECT_EQ(arena.scratch(2), arena.scratch(1));
}

TEST(ArenaTest, starts_afresh_with_poison) {
  Arena arena;
  const std::array<std::int64_t, 2> sizes{64, 10};
  arena.begin(sizes, 1, true);
  std::fill_n(arena.scratch(0), 64, std::byte{});
  std::fill_n(arena.scratch(1), 10, std::byte{});
  arena.begin(sizes, 2, true);
  EXPECT_NE(*arena.scratch(0), std::byte{});
  EXPECT_EQ(std::count(arena.scratch(0), arena.scratch(0) + 64, *arena.scratch(0)), 64);
  EXPECT_EQ(std::count(arena.scratch(1), arena.scratch(1) + 10, *arena.scratch(0)), 10);
}

TEST(ArenaTest, fills_only_the_begin_of_long_scratch) {
  constexpr std::int64_t size = 10'000;
  Arena arena;
  arena.begin(std::array<std::int64_t, 1>{size}, 1, true);
  std::fill_n(arena.scratch(0), size, std::byte{});
  arena.begin(std::array<std::int64_t, 1>{size}, 1, false);
  EXPECT_EQ(std::count(arena.scratch(0), arena.scratch(0) + size, std::byte{}), size - 4096);
}

}  // namespace
}  // namespace rankcheck::gpu::sim
