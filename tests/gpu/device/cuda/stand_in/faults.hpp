#pragma once

#include <cstdlib>
#include <string_view>

namespace rankcheck::stand_in {

/// Whether the environment variable RANKCHECK_STAND_IN names this fault.
inline bool is_planted(std::string_view fault) {
  static const char* const named = std::getenv("RANKCHECK_STAND_IN");
  return named != nullptr && named == fault;
}

}  // namespace rankcheck::stand_in
