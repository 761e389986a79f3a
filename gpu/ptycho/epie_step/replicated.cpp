#include "gpu/ptycho/pie.hpp"

namespace rankcheck::gpu::epie_step {

Operator replicated() {
  return {
      .name = "replicated",
      .summary =
          "Every rank has the whole object; gradients and weights are summed over the ranks.",
      .run = [](const OperatorRun& run) { run_pie_step(run, 1); },
  };
}

}  // namespace rankcheck::gpu::epie_step
