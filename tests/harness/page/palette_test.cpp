#include "harness/page/palette.hpp"

#include <gtest/gtest.h>

namespace rankcheck::harness::page {
namespace {

TEST(PaletteTest, ContrastIsTheOneOfWcag) {
  EXPECT_NEAR(contrast(0x000000, 0xffffff), 21, 1e-9);
  EXPECT_NEAR(contrast(0x777777, 0xffffff), 4.48, 0.01);
  EXPECT_EQ(contrast(0x123456, 0x123456), 1);
}

void expect_readable(std::string_view text, std::string_view behind) {
  // WCAG 2.1, level AA, for text of usual size.
  constexpr double least = 4.5;
  EXPECT_GE(contrast(shade(text).light, shade(behind).light), least) << text << " on " << behind;
  EXPECT_GE(contrast(shade(text).dark, shade(behind).dark), least) << text << " on " << behind;
}

TEST(PaletteTest, TextIsReadableOnItsBackground) {
  for (const char* text : {"ink", "faint", "link", "good", "bad", "doubt", "quiet"}) {
    for (const char* behind : {"paper", "panel"}) expect_readable(text, behind);
  }
  expect_readable("ink", "code");
  for (const char* number : {"0", "1", "2", "3", "4"}) {
    expect_readable(std::string("on-heat-") + number, std::string("heat-") + number);
  }
}

TEST(PaletteTest, SignsInPicturesAreReadable) {
  for (const char* fill : {"bad", "doubt", "ink"}) expect_readable("paper", fill);
}

TEST(PaletteTest, CssHasBothSchemes) {
  const std::string css = palette_css();
  EXPECT_NE(css.find(":root{--paper:#ffffff;"), std::string::npos);
  EXPECT_NE(css.find("@media (prefers-color-scheme:dark){:root{--paper:#14171c;"),
            std::string::npos);
}

}  // namespace
}  // namespace rankcheck::harness::page
