#include "gpu/device/sim/arena.hpp"

#include <array>
#include <cstdint>

#include <gtest/gtest.h>

namespace rankcheck::gpu::sim {
namespace {

/// Ranks with 64, 0 and 10 bytes of scratch memory. Bytes up to the next multiple of 64 have no
/// guard.
class ArenaTest : public testing::Test {
 protected:
  ArenaTest() { arena_.begin(sizes_, 1, true); }

  /// Returns what find_damage() reports when a byte changes, `at` bytes behind the begin of a
  /// rank's scratch.
  std::optional<std::size_t> damage(std::size_t rank, std::ptrdiff_t at) {
    std::byte& byte = arena_.scratch(rank)[at];
    byte ^= std::byte{1};
    const std::optional<std::size_t> found = arena_.find_damage();
    byte ^= std::byte{1};
    return found;
  }

  const std::array<std::int64_t, 3> sizes_{64, 0, 10};
  Arena arena_;
};

TEST_F(ArenaTest, SeesEveryByteOfAGuardZone) {
  EXPECT_EQ(arena_.find_damage(), std::nullopt);
  for (std::ptrdiff_t i = 0; i < 64; ++i) {
    EXPECT_EQ(damage(0, -64 + i), 0U) << i;
    EXPECT_EQ(damage(0, 64 + i), 1U) << i;
    EXPECT_EQ(damage(1, i), 2U) << i;
    EXPECT_EQ(damage(2, 64 + i), 2U) << i;
  }
  EXPECT_EQ(arena_.find_damage(), std::nullopt);
}

TEST_F(ArenaTest, LetsScratchBeWritten) {
  for (std::ptrdiff_t i = 0; i < 64; ++i) EXPECT_EQ(damage(0, i), std::nullopt) << i;
  for (std::ptrdiff_t i = 0; i < 10; ++i) EXPECT_EQ(damage(2, i), std::nullopt) << i;
}

TEST_F(ArenaTest, StartsAfreshWithPoison) {
  *arena_.scratch(0) = std::byte{};
  arena_.scratch(0)[-1] = std::byte{};
  arena_.begin(sizes_, 2, true);
  EXPECT_EQ(arena_.find_damage(), std::nullopt);
  EXPECT_EQ(*arena_.scratch(0), arena_.scratch(2)[9]);
  EXPECT_NE(*arena_.scratch(0), std::byte{});
}

}  // namespace
}  // namespace rankcheck::gpu::sim
