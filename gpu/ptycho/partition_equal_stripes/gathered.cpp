#include "gpu/ptycho/exchange/partition.hpp"
#include "gpu/ptycho/operator.hpp"

namespace rankcheck::gpu::partition_equal_stripes {

Operator gathered() {
  return {
      .name = "gathered",
      .summary = "Every rank gathers all positions and computes all owners itself.",
      .run = [](const OperatorRun& run) { run_partition(run, Partition::equal_stripes); },
  };
}

}  // namespace rankcheck::gpu::partition_equal_stripes
