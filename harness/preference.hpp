#pragma once

#include <cstdint>
#include <string_view>

#include "harness/case.hpp"

namespace rankcheck::harness {

/// How much a case that names no algorithm prefers this one. A backend runs the most preferred one
/// of those that take the case. Depends on data_seed and on the names alone: so the choice replays,
/// every algorithm gets its turn, and a new one changes only the cases that it wins.
[[nodiscard]] std::uint64_t preference(const Case& c, std::string_view algorithm);

}  // namespace rankcheck::harness
