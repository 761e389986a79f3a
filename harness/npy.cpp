#include "harness/npy.hpp"

#include <functional>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "reference/spec/to_size.hpp"

namespace rankcheck::harness {

std::string_view npy_description(spec::Type type) {
  switch (type) {
    case spec::Type::int8:
      return "|i1";
    case spec::Type::uint8:
    case spec::Type::f8e4m3:
    case spec::Type::f8e5m2:
      return "|u1";
    case spec::Type::int32:
      return "<i4";
    case spec::Type::uint32:
      return "<u4";
    case spec::Type::int64:
      return "<i8";
    case spec::Type::uint64:
      return "<u8";
    case spec::Type::f16:
      return "<f2";
    case spec::Type::bf16:
      return "<u2";
    case spec::Type::f32:
      return "<f4";
    case spec::Type::f64:
      return "<f8";
    case spec::Type::complex64:
      return "<c8";
    case spec::Type::complex128:
      return "<c16";
  }
  return "|V1";
}

std::string to_npy(spec::Type type,
                   const std::byte* elements,
                   const std::vector<std::int64_t>& shape) {
  const std::int64_t count =
      std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({},), }}",
                                   npy_description(type),
                                   fmt::join(shape, ", "));
  // The format requires that magic, version and header fill whole blocks of 64 bytes, and that the
  // header ends with a newline.
  constexpr std::size_t prefix_bytes = 10;
  const std::size_t unpadded = prefix_bytes + header.size() + 1;
  header.append((64 - unpadded % 64) % 64, ' ');
  header += '\n';
  std::string out("\x93NUMPY\x01\x00", 8);
  out += static_cast<char>(header.size() & 0xff);
  out += static_cast<char>(header.size() >> 8);
  out += header;
  if (count > 0) {
    const auto bytes = spec::to_size(count * spec::info(type).bytes);
    out.append(reinterpret_cast<const char*>(elements), bytes);
  }
  return out;
}

}  // namespace rankcheck::harness
