#pragma once

namespace rankcheck::cases {

/// The most ranks of a run in this process that carries data. Larger runs only compute virtual
/// times.
inline constexpr int data_ranks_max = 64;

}  // namespace rankcheck::cases
