#pragma once

#include <cstdint>
#include <string_view>

namespace rankcheck::harness {

/// FNV-1a of the text's bytes. Unlike std::hash, it is the same on every machine. `start` is the
/// hash of the text before this text.
[[nodiscard]] constexpr std::uint64_t hash_of(std::string_view text,
                                              std::uint64_t start = 0xcbf29ce484222325) {
  constexpr std::uint64_t prime = 0x100000001b3;
  for (const char letter : text) start = (start ^ static_cast<unsigned char>(letter)) * prime;
  return start;
}

}  // namespace rankcheck::harness
