#include "harness/base/checksum.hpp"

#include <gtest/gtest.h>

namespace rankcheck::harness {
namespace {

TEST(ChecksumTest, IsAsPublishedAndGoesOnFromWhatStandsBefore) {
  Checksum sum;
  EXPECT_EQ(sum.text(), "00000000");
  sum.add("123456789");
  EXPECT_EQ(sum.text(), "cbf43926");
  Checksum of_parts;
  of_parts.add("1234");
  of_parts.add("56789");
  EXPECT_EQ(of_parts.text(), "cbf43926");
}

}  // namespace
}  // namespace rankcheck::harness
