#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "reference/spec/reduce_op.hpp"
#include "reference/spec/to_size.hpp"

/// Collectives as data: a plan lists the steps of every rank. A plan can be printed, validated
/// without running, timed by a link model and executed by any plan machine.
namespace rankcheck::gpu::plan {

/// The memory that a step reads or writes. `scratch` belongs to the call and is uninitialised at
/// its start.
enum class Buffer : std::uint8_t { send, recv, scratch };

/// A run of elements in one buffer of one rank; offset and count in elements.
struct Range {
  int rank = 0;
  Buffer buffer = Buffer::send;
  std::int64_t offset = 0;
  std::int64_t count = 0;

  friend bool operator==(const Range&, const Range&) = default;
};

/// A point in one rank's program that others may wait for. Events 0 … n-1 always exist: event r
/// happens when rank r enters the call. After it, others may touch the buffers of rank r.
struct Event {
  std::int32_t id = 0;
};

enum class StepKind : std::uint8_t {
  /// Copies one local range to another rank.
  put,
  /// Copies one local range to another local one.
  copy,
  /// Combines several ranges into one local range, in the order given. The sources may belong to
  /// any ranks.
  reduce,
  /// Marks an event. A rank that waits for the event sees everything that this rank did before.
  signal,
  /// Waits until the event has happened.
  wait,
};

/// One step of one rank's program. With op premul_sum, a read of a send buffer multiplies by the
/// scalar of the buffer's rank. With op avg, `finish` divides by the divisor of the rank.
struct Step {
  StepKind kind = StepKind::copy;
  bool finish = false;
  /// Used by signal and wait only.
  Event event;
  /// Used by put, copy and reduce only.
  Range destination;
  /// Index into Plan::sources.
  std::uint32_t first_source = 0;
  std::uint32_t source_count = 0;
};

[[nodiscard]] inline bool moves_data(const Step& step) {
  return step.kind != StepKind::signal && step.kind != StepKind::wait;
}

/// Whether a call with this op multiplies what it reads from the range by the rank's scalar.
[[nodiscard]] inline bool is_premultiplied(const Range& source, spec::ReduceOp op) {
  return op == spec::ReduceOp::premul_sum && source.buffer == Buffer::send;
}

struct Plan {
  /// steps[r]: the program of rank r, in program order.
  std::vector<std::vector<Step>> steps;
  std::vector<Range> sources;
  /// scratch[r]: the number of scratch elements that rank r needs.
  std::vector<std::int64_t> scratch;
  /// The number of events, including events 0 … n-1.
  std::int32_t events = 0;
  /// divisors[r]: what rank r's averages divide by, which is the number of elements that make up
  /// one; see spec::terms().
  std::vector<int> divisors;
  /// groups[r]: the number of the group of rank r, if the plan has the calls of several groups.
  /// Empty: all ranks make one call.
  std::vector<int> groups;
  /// The ranks that enter only when no other rank can go on without them.
  std::vector<std::int32_t> late;

  [[nodiscard]] int ranks() const { return static_cast<int>(steps.size()); }
  [[nodiscard]] std::span<const Range> sources_of(const Step& step) const {
    return {sources.data() + step.first_source, step.source_count};
  }
  /// Whether two ranks take part in the same call.
  [[nodiscard]] bool share_call(int a, int b) const;
  /// What a step of a call with this op divides its result by.
  [[nodiscard]] int divisor_of(const Step& step, spec::ReduceOp op) const {
    const bool divides = step.finish && op == spec::ReduceOp::avg;
    return divides ? divisors[spec::to_size(step.destination.rank)] : 1;
  }
  /// Empties the plan for `ranks` ranks and keeps its memory allocated. Averages divide by `ranks`.
  void reset(int ranks);
};

}  // namespace rankcheck::gpu::plan
