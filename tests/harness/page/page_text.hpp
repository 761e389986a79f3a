#pragma once

#include <cstdint>
#include <string>
#include <string_view>

/// What tests ask about the text of a page.
namespace rankcheck::harness::page {

inline bool has(const std::string& page, std::string_view text) {
  return page.find(text) != std::string::npos;
}

/// How often the text occurs.
inline std::int64_t count(const std::string& page, std::string_view text) {
  std::int64_t found = 0;
  for (std::size_t at = 0; (at = page.find(text, at)) != std::string::npos; at += text.size()) {
    ++found;
  }
  return found;
}

}  // namespace rankcheck::harness::page
