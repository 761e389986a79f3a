#pragma once

#include <string_view>

namespace rankcheck::cases {

/// The most ranks of a run in this process that carries data. Larger runs only compute virtual
/// times.
inline constexpr int data_ranks_max = 64;

/// Throws BadInput if `ranks` is above the most that the backend may start.
void require_ranks(std::string_view backend, int ranks, int ranks_max);

}  // namespace rankcheck::cases
