#include "gpu/ptycho/exchange/halo.hpp"

namespace rankcheck::gpu::halo_blend {

Operator exchanged() {
  return {
      .name = "exchanged",
      .summary = "Every rank sends each rank that holds some of its pixels their copies, at once.",
      .run = [](const OperatorRun& run) { run_halo(run, Halo::blend); },
  };
}

}  // namespace rankcheck::gpu::halo_blend
