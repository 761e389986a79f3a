#include "gpu/device/hybrid/placement.hpp"

#include <algorithm>

namespace rankcheck::gpu::hybrid {

int processes(const Placement& placement) {
  const int full = placement.ranks / placement.devices_per_process;
  return full + (placement.ranks % placement.devices_per_process > 0 ? 1 : 0);
}

int process_of(const Placement& placement, int world_rank) {
  return world_rank / placement.devices_per_process;
}

int device_of(const Placement& placement, int world_rank) {
  return world_rank % placement.devices_per_process;
}

int devices_of(const Placement& placement, int process) {
  const int before = process * placement.devices_per_process;
  return std::clamp(placement.ranks - before, 0, placement.devices_per_process);
}

}  // namespace rankcheck::gpu::hybrid
