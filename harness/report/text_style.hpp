#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "harness/case/verdict.hpp"

namespace rankcheck::harness {

/// The widest line that reports print on a terminal. Only lines to paste are longer.
inline constexpr std::size_t text_columns_max = 100;

/// Colours text, or leaves it alone.
class TextStyle {
 public:
  TextStyle() = default;
  explicit TextStyle(bool is_coloured) : is_coloured_(is_coloured) {}
  /// Colours if the descriptor is a terminal. NO_COLOR in the environment forbids it, and so does a
  /// terminal that is called dumb.
  [[nodiscard]] static TextStyle for_output(int descriptor);

  /// Green for passed, yellow for what was not judged, red for the rest. Bold.
  [[nodiscard]] std::string paint(Verdict verdict, std::string_view text) const;

 private:
  bool is_coloured_ = false;
};

}  // namespace rankcheck::harness
