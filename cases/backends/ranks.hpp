#pragma once

namespace rankcheck::cases {

/// The most ranks of a run in this process that carries data; beyond it lies virtual time.
inline constexpr int data_ranks_max = 64;

}  // namespace rankcheck::cases
