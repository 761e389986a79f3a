#include "gpu/device/cuda/enqueue.hpp"

#include <optional>
#include <vector>

#include "reference/spec/to_size.hpp"

#include "gpu/device/cluster.hpp"
#include "gpu/plan/schedule.hpp"

namespace rankcheck::gpu::cuda {

namespace {

using plan::StepKind;

/// Turns the steps of a plan into work on streams.
class Enqueuer {
 public:
  Enqueuer(const PlanCall& call, Streams& streams) : call_(call), streams_(streams) {}

  void enter(int rank) { streams_.record(rank, rank); }

  void take(int rank, const plan::Step& step) {
    switch (step.kind) {
      case StepKind::signal:
        streams_.record(rank, step.event.id);
        return;
      case StepKind::wait:
        streams_.wait(rank, step.event.id);
        return;
      case StepKind::put:
      case StepKind::copy:
      case StepKind::reduce:
        combine(rank, step);
        return;
    }
  }

 private:
  void combine(int rank, const plan::Step& step) {
    sources_.clear();
    for (const plan::Range& source : call_.plan.sources_of(step)) {
      sources_.push_back({.data = address(source),
                          .scalar = call_.plan.is_premultiplied(source)
                                        ? memory_of(source.rank).scalar
                                        : nullptr});
    }
    const auto& [type, op] = call_.plan.arithmetic_of(step);
    streams_.combine(rank,
                     {type,
                      op,
                      address(step.destination),
                      sources_,
                      step.destination.count,
                      call_.plan.divisor_of(step)});
  }

  [[nodiscard]] const RankMemory& memory_of(int rank) const {
    return call_.memory[spec::to_size(rank)];
  }
  [[nodiscard]] std::byte* address(const plan::Range& range) const {
    const std::int64_t bytes = call_.plan.arithmetic[spec::to_size(range.rank)].element_bytes();
    return memory_of(range.rank).begin(range.buffer) + range.offset * bytes;
  }

  const PlanCall& call_;
  Streams& streams_;
  std::vector<Source> sources_;
};

}  // namespace

void enqueue(const PlanCall& call, Streams& streams) {
  Enqueuer enqueuer(call, streams);
  plan::Scheduler scheduler;
  scheduler.begin(call.plan, {});
  while (const std::optional<plan::Move> move = scheduler.next()) {
    const auto& program = call.plan.steps[spec::to_size(move->rank)];
    if (move->step == plan::Move::entry) {
      if (call.entering) call.entering(move->rank);
      enqueuer.enter(move->rank);
    } else if (spec::to_size(move->step) < program.size()) {
      enqueuer.take(move->rank, program[spec::to_size(move->step)]);
    } else if (call.left) {
      call.left(move->rank);
    }
  }
  if (!scheduler.finished()) throw DeviceError("the plan waits for an event that never happens");
}

}  // namespace rankcheck::gpu::cuda
