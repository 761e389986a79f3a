#include "harness/page/packed.hpp"

#include <gtest/gtest.h>

#include "tests/harness/page/page_text.hpp"

namespace rankcheck::harness::page {
namespace {

TEST(PackedTest, UnpacksToTheSameBytes) {
  // The lengths of these have all remainders by three.
  for (const char* each : {"", "a", "ab", "abc", "abcd", "\xff\xfe", "{\"a\":1}"}) {
    EXPECT_EQ(unpacked(packed(each)), each);
  }
  std::string large(1'000'000, 'x');
  for (std::size_t i = 0; i < large.size(); ++i) large[i] = static_cast<char>(i * i >> 7);
  EXPECT_EQ(unpacked(packed(large)), large);
}

TEST(PackedTest, IsShorterThanWhatRepeats) {
  EXPECT_LT(packed(std::string(1'000'000, 'x')).size(), 3000U);
}

/// A script can only read what has these first bytes: those of gzip, without a time.
TEST(PackedTest, HasTheFormatOfGzip) {
  EXPECT_TRUE(packed("text").starts_with("H4sIAAAAAAAAA"));
}

}  // namespace
}  // namespace rankcheck::harness::page
