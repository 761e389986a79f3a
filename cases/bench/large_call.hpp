#pragma once

#include <cstdint>
#include <string_view>

#include "harness/case.hpp"

namespace rankcheck::cases::bench {

/// The call of a collective whose longer buffer has about `bytes` bytes on every rank.
[[nodiscard]] harness::Case large_case(std::string_view operation,
                                       std::string_view algorithm,
                                       int ranks,
                                       std::int64_t bytes);

}  // namespace rankcheck::cases::bench
