#include "harness/base/checksum.hpp"

#include <gtest/gtest.h>

namespace rankcheck::harness {
namespace {

TEST(ChecksumTest, IsAsPublished) {
  Checksum sum;
  EXPECT_EQ(sum.text(), "00000000");
  sum.add("123456789");
  EXPECT_EQ(sum.text(), "cbf43926");
}

TEST(ChecksumTest, GoesOnFromWhatStandsBefore) {
  Checksum sum;
  sum.add("1234");
  sum.add("56789");
  EXPECT_EQ(sum.text(), "cbf43926");
}

}  // namespace
}  // namespace rankcheck::harness
