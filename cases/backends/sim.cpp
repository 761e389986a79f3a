#include "cases/backends/sim.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "reference/registry.hpp"
#include "reference/spec/to_size.hpp"
#include "reference/spec/value_rules.hpp"

#include "gpu/collectives/registry.hpp"
#include "gpu/device/sim/fault.hpp"
#include "gpu/plan/merge.hpp"
#include "gpu/plan/schedule.hpp"

#include "harness/backend/stage_images.hpp"
#include "harness/backend/stages.hpp"
#include "harness/case/family.hpp"
#include "harness/case/input.hpp"

#include "cases/backends/ranks.hpp"
#include "cases/families/collectives/case.hpp"
#include "cases/families/collectives/family.hpp"
#include "cases/families/collectives/inputs.hpp"
#include "cases/families/ptycho/case.hpp"

namespace rankcheck::cases {

namespace {

using harness::Case;
using harness::Observation;
using harness::RunStatus;
using harness::Symptom;

/// How a simulated run ended, and the symptom if it failed.
std::pair<RunStatus, Symptom> outcome_of(gpu::sim::Status status) {
  switch (status) {
    case gpu::sim::Status::completed:
      return {RunStatus::completed, Symptom::none};
    case gpu::sim::Status::deadlock:
      return {RunStatus::hung, Symptom::none};
    case gpu::sim::Status::race:
      return {RunStatus::failed, Symptom::race};
    case gpu::sim::Status::memory_violation:
      return {RunStatus::failed, Symptom::memory};
    case gpu::sim::Status::malformed:
      return {RunStatus::failed, Symptom::malformed};
  }
  return {RunStatus::errored, Symptom::none};
}

/// The most ranks of a plan with several calls in flight, where a rank counts once for each call.
constexpr int ranks_in_flight_max = 64;

/// The end of the calls of the same ranks, from `first` on, that run without a wait for all ranks
/// between them: a history, or the longest run of repeated calls. At least first + 1.
std::size_t end_of_calls_in_flight(std::span<const Case> stages, std::size_t first) {
  const bool is_history = harness::runs_as_one(stages);
  int ranks = group_size(stages[first]);
  std::size_t end = first + 1;
  while (end < stages.size() && (is_history || is_repeated(stages[first], stages[end]))) {
    ranks += group_size(stages[end]);
    if (ranks > ranks_in_flight_max) break;
    ++end;
  }
  return end;
}

/// Says which ranks of a plan with several calls in flight stand for which call.
std::string explain_calls(std::span<const Case> calls) {
  std::string text;
  int first = group_size(calls.front());
  for (std::size_t k = 1; k < calls.size(); ++k) {
    const int end = first + group_size(calls[k]);
    text += fmt::format("{} {} to {} stand for the ranks in call {}",
                        k == 1 ? ". Ranks" : ",",
                        first,
                        end - 1,
                        k + 1);
    first = end;
  }
  return text;
}

}  // namespace

SimBackend::SimBackend(std::span<const gpu::Implementation> implementations, SimEdits edits)
    : algorithms_{implementations, gpu::operators()},
      edits_(std::move(edits)),
      cluster_(reference::contract_named, gpu::algorithm_for) {
  traits_.name = "sim";
  traits_.nan_rule = spec::NanRule::drops;
  traits_.zero_rule = spec::ZeroRule::ieee;
  traits_.ranks_max = data_ranks_max;
  traits_.has_schedules = true;
  traits_.draws_hosts = true;
  traits_.has_arrivals = true;
  traits_.has_delays = true;
  traits_.has_strides = true;
  traits_.has_overlaps = true;
}

std::string SimBackend::why_never(const Case& c) const {
  if (c.ranks > traits_.ranks_max) {
    return fmt::format(
        "ranks: got {}, expected at most {} in runs that carry data", c.ranks, traits_.ranks_max);
  }
  if (!gpu::plan::parse_schedule(c.schedule)) {
    return fmt::format("schedule: got \"{}\", expected in_order, random:SEED or pct:SEED",
                       c.schedule);
  }
  if (!c.fault.empty() && !gpu::sim::parse_fault(c.fault)) {
    return fmt::format("fault: got \"{1}\", expected one of {0} with a number, as lost:3",
                       fmt::join(gpu::sim::fault_kinds(), ", "),
                       c.fault);
  }
  if (c.frees) return "frees: the simulator has no communicators";
  if (collectives_family().find(c.operation) != nullptr) return {};
  if (c.pending) return "pending: the simulator's operators have no streams";
  if (c.late >= 0) return "late: the simulator's operators begin on all ranks at once";
  return c.overlaps ? "overlaps: the simulator's operators run alone" : "";
}

std::string SimBackend::why_refused(const Case& c) const {
  std::string why = why_never(c);
  return why.empty() ? algorithms_.why_none(c) : why;
}

void SimBackend::fill_images(std::span<const Case> stages,
                             std::size_t stage,
                             Observation& observation) {
  const Case& c = stages[stage];
  const auto add = [&](const harness::HostedMember& member) {
    std::byte* const memory = member.image.data();
    gpu::sim::RankBuffers& buffers =
        buffers_.emplace_back(gpu::sim::RankBuffers{.send = member.send_in(memory),
                                                    .recv = member.recv_in(memory),
                                                    .send_bytes = 0,
                                                    .recv_bytes = 0});
    if (buffers.send != nullptr) buffers.send_bytes = layout_.send_size;
    if (buffers.recv != nullptr) buffers.recv_bytes = layout_.recv_size;
    const bool is_dense = layout_.extents.send_stride == 1 && layout_.extents.recv_stride == 1;
    if (!is_dense) pack(c, member.image, buffers);
    if (c.pending) hold_back(buffers);
    if (!has_scalar(c)) return;
    fill_scalar(c, member.world_rank, scalars_.emplace_back().bytes.data());
    buffers.scalar = scalars_.back().bytes.data();
  };
  prepare_members({.contract_of = reference::contract_named, .result_place = traits_.result_place},
                  stages,
                  stage,
                  layout_,
                  observation,
                  add);
}

void SimBackend::pack(const Case& c, harness::Image& image, gpu::sim::RankBuffers& buffers) {
  const auto packed = [&](const harness::Elements& elements, std::int64_t offset) {
    std::byte* const buffer = image.data() + offset;
    packed_.push_back(
        {.elements = elements, .buffer = buffer, .dense = gather_elements(elements, buffer)});
    return packed_.back().dense.data();
  };
  const harness::Elements send = send_elements(c, layout_);
  const harness::Elements recv = recv_elements(c, layout_);
  const auto distance = (layout_.recv - layout_.send) / send.stride;
  const bool shares = buffers.send != nullptr && buffers.recv != nullptr &&
                      layout_.recv < layout_.send + layout_.send_size &&
                      layout_.send < layout_.recv + layout_.recv_size;
  // If two buffers share memory, the larger one contains the other one.
  if (shares && recv.count > send.count) {
    buffers.recv = packed(recv, layout_.recv);
    buffers.send = buffers.recv - distance;
  } else if (shares) {
    buffers.send = packed(send, layout_.send);
    buffers.recv = buffers.send + distance;
  } else {
    if (buffers.send != nullptr) buffers.send = packed(send, layout_.send);
    if (buffers.recv != nullptr) buffers.recv = packed(recv, layout_.recv);
  }
  buffers.send_bytes = buffers.send == nullptr ? 0 : send.count * send.element_bytes;
  buffers.recv_bytes = buffers.recv == nullptr ? 0 : recv.count * recv.element_bytes;
}

void SimBackend::unpack() {
  for (const Packed& each : packed_) spread_elements(each.elements, each.dense.data(), each.buffer);
}

void SimBackend::hold_back(gpu::sim::RankBuffers& buffers) {
  const harness::Image& inputs =
      arriving_.emplace_back(buffers.send, buffers.send + buffers.send_bytes);
  buffers.arriving = inputs.data();
  std::for_each(
      buffers.send, buffers.send + buffers.send_bytes, [](std::byte& each) { each = ~each; });
}

bool SimBackend::settle(const gpu::sim::Report& report,
                        const Batch& batch,
                        std::span<const Case> stages,
                        Observation& observation) {
  observation.fault_fired |= report.fault_fired;
  observation.fault_changed |= report.fault_changed;
  std::tie(observation.status, observation.symptom) = outcome_of(report.status);
  observation.reason = report.text;
  std::size_t rank = 0;
  for (std::size_t stage = batch.first; stage < batch.last; ++stage) {
    auto& stamps = observation.stages[stage].stamps;
    const bool synchronises = reference::contract_named(stages[stage].operation).synchronises;
    for (std::size_t r = 0; r < stamps.size() && rank < report.ranks.size(); ++r, ++rank) {
      const gpu::sim::RankTimes& times = report.ranks[rank];
      stamps[r] = {.entered = times.entered, .left = times.left};
      if (!synchronises || times.left_after_every_entry) continue;
      if (observation.status != RunStatus::completed) continue;
      observation.status = RunStatus::failed;
      observation.reason = "rank " + std::to_string(r) + " may leave before every rank has entered";
      if (batch.last > batch.first + 1) {
        observation.reason =
            fmt::format("call {}: {}", stage - batch.first + 1, observation.reason);
      }
      observation.symptom = Symptom::stamps;
    }
  }
  return observation.status == RunStatus::completed;
}

void SimBackend::write_plan(const gpu::plan::Algorithm& algorithm,
                            const Case& c,
                            gpu::plan::Plan& plan) {
  const spec::Call call = collective_call(c);
  builder_.begin(plan, reference::contract_named(c.operation), call, options_of(c));
  algorithm.plan(builder_);
  if (c.late >= 0 && c.late < plan.ranks()) plan.late.push_back(c.late);
  if (edits_.plan) edits_.plan(c, plan);
}

bool SimBackend::run_plans(const Batch& batch,
                           std::span<const Case> stages,
                           Observation& observation) {
  const Case& c = stages[batch.first];
  if (batch.last - batch.first == 1) {
    write_plan(*selected_[batch.first].plan, c, plan_);
  } else {
    plans_.resize(batch.last - batch.first);
    for (std::size_t k = 0; k < plans_.size(); ++k) {
      write_plan(*selected_[batch.first + k].plan, stages[batch.first + k], plans_[k]);
    }
    merge(plans_, plan_);
    const auto calls = stages.subspan(batch.first, plans_.size());
    if (harness::runs_as_one(stages)) plan_.order = harness::program_order(calls);
    if (edits_.groups) edits_.groups(calls, plan_);
  }
  const gpu::sim::Report& report =
      simulator_.run(plan_,
                     buffers_,
                     *gpu::plan::parse_schedule(stages.back().schedule),
                     gpu::sim::parse_fault(c.fault));
  const bool completed = settle(report, batch, stages, observation);
  if (!completed && harness::end_of_stages_at_once(stages, batch.first) < batch.last) {
    observation.reason += explain_calls(stages.subspan(batch.first, batch.last - batch.first));
  }
  return completed;
}

bool SimBackend::run_operator(const gpu::Operator& algorithm,
                              std::span<const Case> stages,
                              std::size_t stage,
                              Observation& observation) {
  const Case& c = stages[stage];
  const spec::OperatorCall call = operator_call(c);
  std::vector<gpu::DeviceBuffers> buffers;
  for (const gpu::sim::RankBuffers& each : buffers_) {
    buffers.push_back({.send = each.send, .recv = each.recv});
  }
  try {
    cluster_.begin(
        call.ranks, *gpu::plan::parse_schedule(c.schedule), gpu::sim::parse_fault(c.fault));
    for (std::size_t r = 0; r < buffers_.size(); ++r) {
      cluster_.adopt(static_cast<int>(r), buffers_[r].send, buffers_[r].send_bytes);
      cluster_.adopt(static_cast<int>(r), buffers_[r].recv, buffers_[r].recv_bytes);
    }
    cluster_.batch_max = c.chunk;
    const OperatorCall made{
        algorithm, cluster_, reference::contract_named(c.operation), call, buffers};
    if (edits_.call) {
      edits_.call(c, made);
    } else {
      made.make();
    }
    cluster_.end();
  } catch (const gpu::DeviceError& error) {
    observation.status = RunStatus::failed;
    observation.reason = error.what();
    observation.symptom = outcome_of(cluster_.status()).second;
  }
  observation.fault_fired |= cluster_.fault_fired();
  observation.fault_changed |= cluster_.fault_changed();
  return observation.status == RunStatus::completed;
}

SimBackend::Batch SimBackend::batch_from(std::span<const Case> stages, std::size_t first) const {
  Batch batch{.first = first,
              .last = std::max(harness::end_of_stages_at_once(stages, first),
                               end_of_calls_in_flight(stages, first))};
  // Operators run alone.
  const auto* const begin = selected_.data() + first;
  const auto* const end = selected_.data() + batch.last;
  const auto* const op =
      std::find_if(begin, end, [](const auto& each) { return each.plan == nullptr; });
  if (op != end) batch.last = std::max(first + 1, spec::to_size(op - selected_.data()));
  return batch;
}

bool SimBackend::run_batch(const Batch& batch,
                           std::span<const Case> stages,
                           Observation& observation) {
  buffers_.clear();
  scalars_.clear();
  arriving_.clear();
  packed_.clear();
  for (std::size_t stage = batch.first; stage < batch.last; ++stage) {
    const SelectedAlgorithm& selected = selected_[stage];
    observation.path.emplace_back(selected.plan != nullptr ? selected.plan->name
                                                           : selected.op->name);
    fill_images(stages, stage, observation);
  }
  const gpu::Operator* const op = selected_[batch.first].op;
  const bool settled = op == nullptr ? run_plans(batch, stages, observation)
                                     : run_operator(*op, stages, batch.first, observation);
  unpack();
  if (!settled) return false;
  for (std::size_t stage = batch.first; edits_.result && stage < batch.last; ++stage) {
    edits_.result(stages, stage, observation);
  }
  return observation.status == RunStatus::completed;
}

bool SimBackend::choose_all(std::span<const Case> stages, Observation& observation) {
  selected_.clear();
  for (const Case& c : stages) {
    std::string why = why_never(c);
    if (why.empty()) {
      selected_.push_back(algorithms_.choose(c));
      if (selected_.back().plan != nullptr || selected_.back().op != nullptr) continue;
      why = algorithms_.why_none(c);
    }
    observation.status = RunStatus::refused;
    observation.reason = std::move(why);
    return false;
  }
  return true;
}

void SimBackend::run(std::span<const Case> stages, Observation& observation) {
  observation.clear();
  observation.stages.resize(stages.size());
  if (!choose_all(stages, observation)) return;
  for (std::size_t first = 0; first < stages.size();) {
    const Batch batch = batch_from(stages, first);
    if (!run_batch(batch, stages, observation)) return;
    first = batch.last;
  }
}

std::unique_ptr<harness::Backend> open_sim(const harness::BackendOptions& /*options*/) {
  return std::make_unique<SimBackend>(gpu::implementations());
}

}  // namespace rankcheck::cases
