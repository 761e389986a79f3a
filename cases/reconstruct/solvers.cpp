#include "cases/reconstruct/solvers.hpp"

namespace rankcheck::cases::reconstruct {

const std::vector<Solver>& solvers() {
  static const std::vector<Solver> all{};
  return all;
}

}  // namespace rankcheck::cases::reconstruct
