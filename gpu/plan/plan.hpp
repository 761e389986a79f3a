#pragma once

#include <cstdint>
#include <span>
#include <vector>

/// Collectives as data: a plan says, for every rank, which steps it takes. It can be printed,
/// validated without running, timed by a link model and executed by any plan machine.
namespace rankcheck::gpu::plan {

/// The memory that a step reads or writes. `scratch` belongs to the call: fresh, uninitialised.
enum class Buffer : std::uint8_t { send, recv, scratch };

/// A run of elements in one buffer of one rank; offset and count in elements.
struct Range {
  int rank = 0;
  Buffer buffer = Buffer::send;
  std::int64_t offset = 0;
  std::int64_t count = 0;
};

/// A point in one rank's program that others may wait for. Events 0 … n-1 are given: event r
/// happens when rank r enters the call, so that its buffers may be touched by others.
struct Event {
  std::int32_t id = 0;
};

enum class StepKind : std::uint8_t {
  /// Copies one local range to another rank.
  put,
  /// Copies one local range to another local one.
  copy,
  /// Combines several ranges of any ranks, in the order given, into one local range.
  reduce,
  /// Marks an event: everything that this rank did before is visible to whoever waits for it.
  signal,
  /// Goes on when the event has happened.
  wait,
};

/// One step of one rank's program. Reading a send buffer in a call with op premul_sum multiplies
/// by the scalar of the buffer's rank; `finish` divides by the number of ranks where op is avg.
struct Step {
  StepKind kind = StepKind::copy;
  bool finish = false;
  /// signal and wait only.
  Event event;
  /// put, copy and reduce only.
  Range destination;
  /// Index into Plan::sources.
  std::uint32_t first_source = 0;
  std::uint32_t source_count = 0;
};

struct Plan {
  /// steps[r]: the program of rank r, in program order.
  std::vector<std::vector<Step>> steps;
  std::vector<Range> sources;
  /// scratch[r]: elements of scratch memory that rank r needs.
  std::vector<std::int64_t> scratch;
  /// Number of events, the n given ones included.
  std::int32_t events = 0;

  [[nodiscard]] int ranks() const { return static_cast<int>(steps.size()); }
  [[nodiscard]] std::span<const Range> sources_of(const Step& step) const {
    return {sources.data() + step.first_source, step.source_count};
  }
  /// Empties the plan for n ranks and keeps its capacity.
  void reset(int ranks);
};

}  // namespace rankcheck::gpu::plan
