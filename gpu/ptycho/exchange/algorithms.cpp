#include "gpu/ptycho/exchange/halo.hpp"
#include "gpu/ptycho/exchange/partition.hpp"
#include "gpu/ptycho/registry.hpp"

namespace rankcheck::gpu {

namespace {

template <Partition kind>
Operator gathered() {
  return {
      .name = "gathered",
      .summary = "Every rank gathers all positions and computes all owners itself.",
      .run = [](const OperatorRun& run) { run_partition(run, kind); },
  };
}

template <Halo kind>
Operator exchanged() {
  return {
      .name = "exchanged",
      .summary = "Every rank sends its copies to all ranks that hold the same pixels, in one call.",
      .run = [](const OperatorRun& run) { run_halo(run, kind); },
  };
}

}  // namespace

std::vector<OperatorImplementation> algorithms_of_exchanges() {
  return {
      {"halo_accumulate", exchanged<Halo::accumulate>()},
      {"halo_blend", exchanged<Halo::blend>()},
      {"halo_replace", exchanged<Halo::replace>()},
      {"partition_compact", gathered<Partition::compact>()},
      {"partition_consecutive", gathered<Partition::consecutive>()},
      {"partition_equal_stripes", gathered<Partition::equal_stripes>()},
      {"partition_grid", gathered<Partition::grid>()},
      {"partition_interlaced", gathered<Partition::interlaced>()},
      {"partition_quadrants", gathered<Partition::quadrants>()},
      {"partition_random", gathered<Partition::random>()},
      {"partition_stripes", gathered<Partition::stripes>()},
  };
}

}  // namespace rankcheck::gpu
