#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/case/case.hpp"

namespace rankcheck::harness {

/// How strongly a case that names no algorithm prefers this algorithm. A backend runs the most
/// preferred of the algorithms that take the case. The preference depends only on data_seed and the
/// names. So the choice can be replayed, every algorithm gets its turn, and a new algorithm changes
/// only the cases in which it is preferred.
[[nodiscard]] std::uint64_t preference(const Case& c, std::string_view algorithm);

/// Why a backend takes none of its algorithms `names` for the case's operation: the case asks for
/// another one.
[[nodiscard]] std::string why_no_algorithm(const Case& c, const std::vector<std::string>& names);

}  // namespace rankcheck::harness
