#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gpu/plan/plan.hpp"
#include "gpu/plan/topology.hpp"

namespace rankcheck::gpu::plan {

/// What travelled over one class of links.
struct LinkTraffic {
  std::string link_class;
  std::int64_t messages = 0;
  std::int64_t bytes = 0;
};

/// The time that a plan would take on a machine: virtual, never measured.
struct Timing {
  /// When each rank leaves, all ranks entering at 0.
  std::vector<double> leave_seconds;
  /// The last of them.
  double seconds = 0;
  /// Level by level, from each rank's own memory outwards.
  std::vector<LinkTraffic> traffic;
};

/// Times a plan that `validate` accepts. A rank takes its steps in order. A transfer starts when
/// the rank, the sender's port and the receiver's port of that link level are free, holds all three
/// for bytes/bandwidth, and arrives one latency later. A signal takes one latency and never arrives
/// before what its rank has sent; that a rank has entered is known to all at once. A reduce fetches
/// remote sources first. Local work costs the memory traffic: each source and the result once.
/// Throws std::invalid_argument where the machine has too few ranks or the plan never ends.
[[nodiscard]] Timing time_plan(const Plan& plan,
                               std::int64_t element_bytes,
                               const Topology& topology);

}  // namespace rankcheck::gpu::plan
