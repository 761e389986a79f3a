#include "gpu/plan/topology.hpp"

#include "tests/fuzz/targets.hpp"

namespace rankcheck::fuzz {

namespace {

std::string fault_of_topology(std::string_view input) {
  return fault_of_reading([&]() -> std::string {
    const gpu::plan::Topology topology = gpu::plan::parse_topology("input", input);
    int inner = 0;
    for (const gpu::plan::LinkLevel& level : topology.levels) {
      const bool is_nested =
          inner == 0 ? level.ranks == 1 : level.ranks > inner && level.ranks % inner == 0;
      if (!is_nested) return "groups that are not nested";
      if (!(level.latency_seconds >= 0) || !(level.bytes_per_second > 0)) return "no link";
      inner = level.ranks;
    }
    const int last = topology.capacity() - 1;
    return topology.level_between(0, last) < topology.levels.size() ? "" : "ranks without a link";
  });
}

std::vector<std::string> seeds_of_topologies() {
  return contents_of("gpu/plan/topologies", ".txt");
}

}  // namespace

Target topology_target() {
  return {"topology", fault_of_topology, seeds_of_topologies};
}

}  // namespace rankcheck::fuzz
