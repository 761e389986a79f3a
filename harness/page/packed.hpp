#pragma once

#include <string>
#include <string_view>

namespace rankcheck::harness::page {

/// The bytes in the formats of gzip and then of base64 (RFC 1952 and 4648), as scripts unpack them.
/// Equal bytes give equal texts.
[[nodiscard]] std::string packed(std::string_view bytes);

}  // namespace rankcheck::harness::page
