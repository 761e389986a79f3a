#pragma once

#include <string_view>

namespace rankcheck::cases {

/// The most ranks of a run in this process that carries data; beyond it lies virtual time.
inline constexpr int data_ranks_max = 64;

/// Throws BadInput where a backend is asked for more ranks than it may start.
void require_ranks(std::string_view backend, int ranks, int ranks_max);

}  // namespace rankcheck::cases
