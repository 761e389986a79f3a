#include "cases/backends/ranks.hpp"

#include <fmt/format.h>

#include "harness/case.hpp"

namespace rankcheck::cases {

void require_ranks(std::string_view backend, int ranks, int ranks_max) {
  if (ranks <= ranks_max) return;
  throw harness::BadInput(
      fmt::format("backend {}: {} ranks: expected at most {}", backend, ranks, ranks_max));
}

}  // namespace rankcheck::cases
