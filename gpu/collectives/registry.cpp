#include "gpu/collectives/registry.hpp"

namespace rankcheck::gpu {

const plan::Algorithm* algorithm_for(std::string_view operation,
                                     const spec::Call& call,
                                     const plan::Options& options) {
  for (const Implementation& each : implementations()) {
    if (each.operation == operation && each.algorithm.refuses(call, options).empty()) {
      return &each.algorithm;
    }
  }
  return nullptr;
}

}  // namespace rankcheck::gpu
