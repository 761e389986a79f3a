#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/case.hpp"

namespace rankcheck::harness {

/// How much a case that names no algorithm prefers this one. A backend runs the most preferred one
/// of those that take the case. Depends on data_seed and on the names alone: so the choice replays,
/// every algorithm gets its turn, and a new one changes only the cases that it wins.
[[nodiscard]] std::uint64_t preference(const Case& c, std::string_view algorithm);

/// Why a backend whose algorithms of the case's operation are `names` takes none: the case asks for
/// another one.
[[nodiscard]] std::string why_no_algorithm(const Case& c, const std::vector<std::string>& names);

}  // namespace rankcheck::harness
