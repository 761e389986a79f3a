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

TEST_F(MemoryTest, IsAlignedAndPoisoned) {
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block_) % 64, 0U);
  for (std::size_t i = 0; i < 20; ++i) EXPECT_EQ(block_[i], std::byte{0xff}) << i;
}

TEST_F(MemoryTest, MayBeWrittenFromTheFirstByteToTheLast) {
  for (std::size_t i = 0; i < 20; ++i) block_[i] = std::byte{};
  EXPECT_EQ(memory_.find_damage(), "");
}

TEST_F(MemoryTest, SeesEveryByteThatIsWrittenInFrontOfItOrBehindIt) {
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

TEST_F(MemoryTest, LooksAtEveryBlock) {
  std::byte* const other = memory_.allocate(8);
  other[8] = std::byte{};
  EXPECT_EQ(memory_.find_damage(), "a write past 8 bytes of scratch memory");
  memory_.clear();
  EXPECT_EQ(memory_.find_damage(), "");
}

TEST_F(MemoryTest, KnowsTheRoomBehindAnAddress) {
  EXPECT_EQ(memory_.room(block_), 20);
  EXPECT_EQ(memory_.room(block_ + 15), 5);
  EXPECT_EQ(memory_.room(block_ + 20), 0);
  EXPECT_EQ(memory_.room(block_ + 21), -1);
  EXPECT_EQ(memory_.room(block_ - 1), -1);
}

}  // namespace
}  // namespace rankcheck::gpu::host
