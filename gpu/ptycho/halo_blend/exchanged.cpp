#include "gpu/ptycho/exchange/halo.hpp"

namespace rankcheck::gpu::halo_blend {

Operator exchanged() {
  return {
      .name = "exchanged",
      .summary = "Every rank sends its copies to all ranks that hold the same pixels, in one call.",
      .run = [](const OperatorRun& run) { run_halo(run, Halo::blend); },
  };
}

}  // namespace rankcheck::gpu::halo_blend
