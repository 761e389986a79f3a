#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>
#include <zlib.h>

/// What tests ask about the text of a page.
namespace rankcheck::harness::page {

/// Undoes packed().
inline std::string unpacked(std::string_view text) {
  constexpr std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  std::uint32_t group = 0;
  int bits = 0;
  for (const char c : text) {
    if (c == '=') break;
    group = group << 6 | static_cast<std::uint32_t>(digits.find(c));
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes += static_cast<char>(group >> bits);
  }
  z_stream stream{};
  constexpr int gzip_format = 16;
  inflateInit2(&stream, MAX_WBITS + gzip_format);
  stream.next_in = reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_in = static_cast<uInt>(bytes.size());
  std::string out;
  for (int status = Z_OK; status == Z_OK;) {
    std::string part(1 << 16, '\0');
    stream.next_out = reinterpret_cast<Bytef*>(part.data());
    stream.avail_out = static_cast<uInt>(part.size());
    status = inflate(&stream, Z_NO_FLUSH);
    out.append(part, 0, part.size() - stream.avail_out);
  }
  inflateEnd(&stream);
  return out;
}

/// The data that the page carries.
inline nlohmann::ordered_json data_of(const std::string& page) {
  constexpr std::string_view start = "id=\"data\">";
  const std::size_t at = page.find(start) + start.size();
  return nlohmann::ordered_json::parse(unpacked(page.substr(at, page.find('<', at) - at)));
}

}  // namespace rankcheck::harness::page
