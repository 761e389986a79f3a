#include "gpu/ptycho/exchange/halo.hpp"

namespace rankcheck::gpu::halo_accumulate {

Operator exchanged() {
  return {
      .name = "exchanged",
      .summary = "Every rank sends each rank that holds some of its pixels their copies, at once.",
      .run = [](const OperatorRun& run) { run_halo(run, Halo::accumulate); },
  };
}

}  // namespace rankcheck::gpu::halo_accumulate
