#pragma once

#include <cstdlib>
#include <string_view>

#include "tests/gpu/device/planted.hpp"

namespace rankcheck::stand_in {

/// Whether the environment variable RANKCHECK_STAND_IN names this fault.
inline bool is_planted(std::string_view fault) {
  static const char* const named = std::getenv("RANKCHECK_STAND_IN");
  return tests::names_fault(named, fault);
}

}  // namespace rankcheck::stand_in
