#include "harness/page/packed.hpp"

#include <cstdint>

#include <zlib.h>

#include "reference/spec/assert.hpp"

namespace rankcheck::harness::page {

namespace {

std::string gzip(std::string_view bytes) {
  constexpr int gzip_format = 16;
  z_stream stream{};
  RANKCHECK_ASSERT(deflateInit2(&stream,
                                Z_DEFAULT_COMPRESSION,
                                Z_DEFLATED,
                                MAX_WBITS + gzip_format,
                                MAX_MEM_LEVEL,
                                Z_DEFAULT_STRATEGY) == Z_OK);
  std::string out(deflateBound(&stream, bytes.size()), '\0');
  std::string input(bytes);
  stream.next_in = reinterpret_cast<Bytef*>(input.data());
  stream.avail_in = static_cast<uInt>(input.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  RANKCHECK_ASSERT(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t j = i; j < i + 3; ++j) {
      group = group << 8 | (j < bytes.size() ? static_cast<unsigned char>(bytes[j]) : 0U);
    }
    for (const int shift : {18, 12, 6, 0}) out += digits[group >> shift & 63];
  }
  const std::size_t padding = (3 - bytes.size() % 3) % 3;
  return out.replace(out.size() - padding, padding, padding, '=');
}

}  // namespace

std::string packed(std::string_view bytes) {
  return base64(gzip(bytes));
}

}  // namespace rankcheck::harness::page
