#pragma once

#include "gpu/ptycho/operator.hpp"

namespace rankcheck::gpu {

/// One step of the regularised iterative engine on all ranks' frames at once; alpha = 1 is the
/// plain one. What rpie_step and epie_step do.
void run_pie_step(const OperatorRun& run, double alpha);

}  // namespace rankcheck::gpu
