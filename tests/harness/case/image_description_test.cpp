#include "harness/case/image_description.hpp"

#include <gtest/gtest.h>

namespace rankcheck::harness {
namespace {

ImageLayout layout() {
  ImageLayout layout;
  layout.send = 64;
  layout.send_size = 12;
  layout.recv = 192;
  layout.recv_size = 24;
  layout.size = 280;
  return layout;
}

TEST(ImageDescriptionTest, NamesTheBufferThatIsMissing) {
  EXPECT_EQ(describe_wrong_size(layout(), 0),
            "image of 280 bytes, got 0: the send buffer at 64 is missing");
  EXPECT_EQ(describe_wrong_size(layout(), 140),
            "image of 280 bytes, got 140: the recv buffer at 192 is missing");
  EXPECT_EQ(describe_wrong_size(layout(), 200),
            "image of 280 bytes, got 200: the recv buffer at 192 ends after 8 of 24 bytes");
  EXPECT_EQ(
      describe_wrong_size(layout(), 216),
      "image of 280 bytes, got 216: 64 of the 64 bytes of the last guard, at 216, are missing");
}

TEST(ImageDescriptionTest, SaysWhereTheBuffersOfALongImageBelong) {
  EXPECT_EQ(
      describe_wrong_size(layout(), 344),
      "image of 280 bytes, got 344: 64 bytes too many; expected guards of 64 bytes around the "
      "send buffer at 64 with 12 bytes and the recv buffer at 192 with 24 bytes");
}

}  // namespace
}  // namespace rankcheck::harness
