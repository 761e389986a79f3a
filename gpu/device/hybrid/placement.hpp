#pragma once

namespace rankcheck::gpu::hybrid {

/// Where the ranks of a world are. Rank r is device r mod D of process floor(r / D). The last
/// process may have fewer devices than the others.
struct Placement {
  /// The number of ranks in the world.
  int ranks = 1;
  /// D, the number of devices of every process but the last.
  int devices_per_process = 1;
};

/// The number of processes in the world.
[[nodiscard]] int processes(const Placement& placement);
/// The process that hosts a world rank.
[[nodiscard]] int process_of(const Placement& placement, int world_rank);
/// The device of a world rank, counted within its process.
[[nodiscard]] int device_of(const Placement& placement, int world_rank);
/// The number of devices of a process.
[[nodiscard]] int devices_of(const Placement& placement, int process);

}  // namespace rankcheck::gpu::hybrid
