#include "gpu/device/cluster.hpp"

#include <vector>

namespace rankcheck::gpu {

void sum_over_ranks(Cluster& cluster,
                    spec::Type type,
                    std::int64_t count,
                    std::span<std::byte* const> arrays) {
  std::vector<DeviceBuffers> buffers;
  for (std::byte* const array : arrays) buffers.push_back({.send = array, .recv = array});
  cluster.collective(
      "all_reduce",
      {.ranks = cluster.ranks(), .type = type, .op = spec::ReduceOp::sum, .count = count},
      true,
      buffers);
}

}  // namespace rankcheck::gpu
