#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gpu/plan/plan.hpp"
#include "gpu/plan/topology.hpp"

namespace rankcheck::gpu::plan {

/// The traffic over one class of links.
struct LinkTraffic {
  std::string link_class;
  std::int64_t messages = 0;
  std::int64_t bytes = 0;
};

/// The time that a plan would take on a machine. It is calculated, never measured.
struct Timing {
  /// leave_seconds[r]: the time when rank r leaves. All ranks enter at time 0.
  std::vector<double> leave_seconds;
  /// The largest of leave_seconds.
  double seconds = 0;
  /// One entry for each level, starting with each rank's own memory.
  std::vector<LinkTraffic> traffic;
};

/// Calculates the time of a plan that `validate` accepts. The model:
/// - A rank takes its steps in order.
/// - A transfer starts when the rank, the sender's port and the receiver's port of the link level
///   are free. It occupies all three for bytes/bandwidth and arrives one latency later.
/// - A signal takes one latency and never arrives before the data that its rank has sent. All ranks
///   know at once that a rank has entered.
/// - A reduce fetches remote sources first.
/// - Local work costs its memory traffic: each source and the result once.
/// Throws std::invalid_argument if the machine has too few ranks or the plan never ends.
[[nodiscard]] Timing time_plan(const Plan& plan,
                               std::int64_t element_bytes,
                               const Topology& topology);

}  // namespace rankcheck::gpu::plan
