#include "harness/json_text.hpp"

#include <cstddef>

namespace rankcheck::harness {

bool is_shallow(std::string_view text, int depth_max) {
  int depth = 0;
  bool is_in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (is_in_string && c == '\\') {
      ++i;
    } else if (c == '"') {
      is_in_string = !is_in_string;
    } else if (!is_in_string && (c == '[' || c == '{')) {
      if (++depth > depth_max) return false;
    } else if (!is_in_string && (c == ']' || c == '}')) {
      --depth;
    }
  }
  return true;
}

}  // namespace rankcheck::harness
