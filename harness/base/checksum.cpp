#include "harness/base/checksum.hpp"

#include <fmt/format.h>
#include <zlib.h>

namespace rankcheck::harness {

void Checksum::add(std::string_view bytes) {
  const auto* const data = reinterpret_cast<const Bytef*>(bytes.data());
  sum_ = static_cast<std::uint32_t>(::crc32_z(sum_, data, bytes.size()));
}

std::string Checksum::text() const {
  return fmt::format("{:08x}", sum_);
}

}  // namespace rankcheck::harness
