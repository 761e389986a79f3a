#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace rankcheck::harness {

/// Detects bits that changed on a disk or on the way to it, with the CRC-32 of zlib and gzip.
class Checksum {
 public:
  void add(std::string_view bytes);
  /// Eight hexadecimal digits.
  [[nodiscard]] std::string text() const;

 private:
  std::uint32_t sum_ = 0;
};

}  // namespace rankcheck::harness
