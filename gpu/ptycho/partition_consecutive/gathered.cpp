#include "gpu/ptycho/exchange/partition.hpp"
#include "gpu/ptycho/operator.hpp"

namespace rankcheck::gpu::partition_consecutive {

Operator gathered() {
  return {
      .name = "gathered",
      .summary = "Every rank gathers all positions and computes all owners itself.",
      .run = [](const OperatorRun& run) { run_partition(run, Partition::consecutive); },
  };
}

}  // namespace rankcheck::gpu::partition_consecutive
