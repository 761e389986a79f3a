#pragma once

#include <cstdlib>
#include <string_view>

/// How tests tell a library which faults to have.
namespace rankcheck::tests {

/// Whether `list` names the fault. It holds names with commas between them, and is null if there is
/// none. So one process can have several faults, in functions that have nothing to do with one
/// another.
inline bool names_fault(const char* list, std::string_view fault) {
  if (list == nullptr) return false;
  for (std::string_view rest = list;;) {
    const std::size_t comma = rest.find(',');
    if (rest.substr(0, comma) == fault) return true;
    if (comma == std::string_view::npos) return false;
    rest.remove_prefix(comma + 1);
  }
}

/// Whether the environment variable RANKCHECK_PLANTED names the fault.
inline bool is_planted(std::string_view fault) {
  return names_fault(std::getenv("RANKCHECK_PLANTED"), fault);
}

}  // namespace rankcheck::tests
