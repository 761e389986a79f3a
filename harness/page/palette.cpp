#include "harness/page/palette.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "reference/spec/assert.hpp"

namespace rankcheck::harness::page {

namespace {

/// The relative luminance of WCAG 2.1.
double luminance(Rgb color) {
  const auto part = [&](int shift) {
    const double share = static_cast<double>(color >> shift & 0xff) / 255;
    return share <= 0.04045 ? share / 12.92 : std::pow((share + 0.055) / 1.055, 2.4);
  };
  return 0.2126 * part(16) + 0.7152 * part(8) + 0.0722 * part(0);
}

std::string variables(Rgb Shade::*which) {
  std::string text = ":root{";
  for (const Shade& each : palette) text += fmt::format("--{}:#{:06x};", each.name, each.*which);
  return text + "}";
}

}  // namespace

const Shade& shade(std::string_view name) {
  const auto found = std::find_if(
      palette.begin(), palette.end(), [&](const Shade& each) { return each.name == name; });
  RANKCHECK_ASSERT(found != palette.end());
  return *found;
}

double contrast(Rgb a, Rgb b) {
  const auto [least, most] = std::minmax({luminance(a), luminance(b)});
  return (most + 0.05) / (least + 0.05);
}

std::string palette_css() {
  return fmt::format("{}\n@media (prefers-color-scheme:dark){{{}}}\n@media print{{{}}}\n",
                     variables(&Shade::light),
                     variables(&Shade::dark),
                     variables(&Shade::light));
}

}  // namespace rankcheck::harness::page
