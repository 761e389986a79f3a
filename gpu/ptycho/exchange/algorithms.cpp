#include "gpu/ptycho/exchange/halo.hpp"
#include "gpu/ptycho/exchange/partition.hpp"
#include "gpu/ptycho/exchange/redistribution.hpp"
#include "gpu/ptycho/registry.hpp"

namespace rankcheck::gpu {

namespace {

template <Partition kind>
Operator gathered() {
  return {.name = "gathered",
          .summary = "Every rank gathers all positions and computes all owners itself.",
          .run = [](const OperatorRun& run) { run_partition(run, kind); }};
}

template <Halo kind>
Operator exchanged() {
  return {
      .name = "exchanged",
      .summary = "Every rank sends its copies to all ranks that hold the same pixels, in one call.",
      .run = [](const OperatorRun& run) { run_halo(run, kind); }};
}

template <bool to_owners>
Operator redistributed() {
  return {
      .name = "exchanged",
      .summary =
          to_owners
              ? "Each rank sorts its data by owner, then all ranks exchange their data in one call."
              : "All ranks exchange their data in one call, then each rank sorts it by position.",
      .run = [](const OperatorRun& run) { run_redistribution(run, to_owners); }};
}

}  // namespace

std::vector<OperatorImplementation> algorithms_of_exchanges() {
  return {{"fuse", redistributed<false>()},
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
          {"redistribute", redistributed<true>()}};
}

}  // namespace rankcheck::gpu
