#include "gpu/device/host/memory.hpp"

#include <cstdint>

#include <gtest/gtest.h>

namespace rankcheck::gpu::host {
namespace {

class MemoryTest : public testing::Test {
 protected:
  Memory memory_;
  std::byte* block_ = memory_.allocate(20);
};

TEST_F(MemoryTest, is_aligned_and_poisoned) {
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block_) % 64, 0U);
  for (std::size_t i = 0; i < 20; ++i) EXPECT_EQ(block_[i], std::byte{0xff}) << i;
}

TEST_F(MemoryTest, may_be_written_from_the_first_byte_to_the_last) {
  for (std::size_t i = 0; i < 20; ++i) block_[i] = std::byte{};
  EXPECT_EQ(memory_.find_damage(), "");
}

TEST_F(MemoryTest, sees_every_byte_that_is_written_in_front_of_it_or_behind_it) {
  for (std::ptrdiff_t i = 1; i <= 64; ++i) {
    block_[-i] = std::byte{};
    EXPECT_EQ(memory_.find_damage(), "a write before 20 bytes of scratch memory") << i;
    block_[-i] = std::byte{0xff};
    block_[19 + i] = std::byte{};
    EXPECT_EQ(memory_.find_damage(), "a write past 20 bytes of scratch memory") << i;
    block_[19 + i] = std::byte{0xff};
  }
  EXPECT_EQ(memory_.find_damage(), "");
}

TEST_F(MemoryTest, looks_at_every_block) {
  std::byte* const other = memory_.allocate(8);
  other[8] = std::byte{};
  EXPECT_EQ(memory_.find_damage(), "a write past 8 bytes of scratch memory");
  memory_.clear();
  EXPECT_EQ(memory_.find_damage(), "");
}

TEST_F(MemoryTest, knows_the_room_behind_an_address) {
  EXPECT_EQ(memory_.room(block_), 20);
  EXPECT_EQ(memory_.room(block_ + 15), 5);
  EXPECT_EQ(memory_.room(block_ + 20), 0);
  EXPECT_EQ(memory_.room(block_ + 21), -1);
  EXPECT_EQ(memory_.room(block_ - 1), -1);
}

}  // namespace
}  // namespace rankcheck::gpu::host
