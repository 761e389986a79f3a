#include "reference/ptycho/rpie_step/contract.hpp"

#include "gpu/ptycho/pie.hpp"

namespace rankcheck::gpu::rpie_step {

Operator replicated() {
  return {
      .name = "replicated",
      .summary =
          "Every rank has the whole object; gradients and weights are summed over the ranks.",
      .run = [](const OperatorRun& run) { run_pie_step(run, reference::rpie_alpha); },
  };
}

}  // namespace rankcheck::gpu::rpie_step
