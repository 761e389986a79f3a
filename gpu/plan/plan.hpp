#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "reference/spec/reduce_op.hpp"
#include "reference/spec/to_size.hpp"
#include "reference/spec/type.hpp"

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

/// The type of a call's elements, and how the call combines them.
struct Arithmetic {
  spec::Type type = spec::Type::f32;
  spec::ReduceOp op = spec::ReduceOp::sum;

  [[nodiscard]] std::int64_t element_bytes() const { return spec::info(type).bytes; }
};

struct Plan {
  /// steps[r]: the program of rank r, in program order.
  std::vector<std::vector<Step>> steps;
  std::vector<Range> sources;
  /// scratch[r]: the number of scratch elements that rank r needs.
  std::vector<std::int64_t> scratch;
  /// The number of events, including events 0 … n-1.
  std::int32_t events = 0;
  /// arithmetic[r]: that of rank r's call. All steps that touch the memory of rank r belong to it.
  std::vector<Arithmetic> arithmetic;
  /// divisors[r]: what rank r's averages divide by, which is the number of elements that make up
  /// one; see spec::terms().
  std::vector<int> divisors;
  /// groups[r]: the number of the call of rank r, if the plan has several calls. Empty: all ranks
  /// make one call.
  std::vector<int> groups;
  /// The ranks that enter only when no other rank can go on without them.
  std::vector<std::int32_t> late;
  /// Pairs of ranks: the second one enters when the first one has left. So a rank can make several
  /// calls one after another, each as a rank of its own.
  std::vector<std::pair<std::int32_t, std::int32_t>> order;

  [[nodiscard]] int ranks() const { return static_cast<int>(steps.size()); }
  [[nodiscard]] std::span<const Range> sources_of(const Step& step) const {
    return {sources.data() + step.first_source, step.source_count};
  }
  /// Whether two ranks take part in the same call.
  [[nodiscard]] bool share_call(int a, int b) const;
  /// The arithmetic of the call that a step with data belongs to.
  [[nodiscard]] const Arithmetic& arithmetic_of(const Step& step) const {
    return arithmetic[spec::to_size(step.destination.rank)];
  }
  /// What a step divides its result by.
  [[nodiscard]] int divisor_of(const Step& step) const {
    const bool divides = step.finish && arithmetic_of(step).op == spec::ReduceOp::avg;
    return divides ? divisors[spec::to_size(step.destination.rank)] : 1;
  }
  /// Whether a read of the range multiplies by the scalar of its rank.
  [[nodiscard]] bool is_premultiplied(const Range& source) const {
    const bool multiplies = arithmetic[spec::to_size(source.rank)].op == spec::ReduceOp::premul_sum;
    return multiplies && source.buffer == Buffer::send;
  }
  /// Empties the plan for `ranks` ranks and keeps its memory allocated. Averages divide by `ranks`.
  void reset(int ranks);
};

}  // namespace rankcheck::gpu::plan
