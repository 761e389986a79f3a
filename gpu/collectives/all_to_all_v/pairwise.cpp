#include "gpu/plan/algorithm.hpp"

namespace rankcheck::gpu::all_to_all {
plan::Algorithm pairwise();
}

namespace rankcheck::gpu::all_to_all_v {

/// The even operation's algorithm: schedules see blocks, whatever their sizes.
plan::Algorithm pairwise() {
  plan::Algorithm algorithm = all_to_all::pairwise();
  algorithm.refuses = plan::refuses_in_place;
  return algorithm;
}

}  // namespace rankcheck::gpu::all_to_all_v
