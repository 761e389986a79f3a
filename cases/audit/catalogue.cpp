#include "cases/audit/catalogue.hpp"

#include <algorithm>
#include <numeric>
#include <string>

#include <fmt/format.h>

#include "reference/spec/to_size.hpp"

#include "harness/run/memory.hpp"

#include "cases/audit/call_edits.hpp"
#include "cases/audit/plan_edits.hpp"
#include "cases/audit/result_edits.hpp"
#include "cases/families/collectives/case.hpp"
#include "cases/families/ptycho/case.hpp"

namespace rankcheck::cases::audit {

namespace {

using harness::Case;
using harness::Observation;

/// Whether the bug's own algorithm is itself the mistake. It is not if it exists only for a fault
/// to hit it.
bool is_wrong_algorithm(const Bug& bug) {
  return bug.plan != nullptr && bug.fault.empty();
}

/// Returns the algorithms of gpu/, plus the bug's own algorithm if it has one. If `sound`, a
/// correct algorithm takes the place of one that is itself the mistake.
std::vector<gpu::Implementation> implementations_with(const Bug& bug, bool sound) {
  std::vector<gpu::Implementation> all = gpu::implementations();
  if (bug.plan == nullptr) return all;
  const auto real = std::find_if(all.begin(), all.end(), [&](const auto& each) {
    return each.operation == bug.target.operation;
  });
  all.push_back({bug.target.operation,
                 {.name = bug.target.algorithm,
                  .summary = bug.summary,
                  .refuses = gpu::plan::refuses_in_place,
                  .plan = sound && is_wrong_algorithm(bug) ? real->algorithm.plan : bug.plan}});
  return all;
}

bool same(const gpu::plan::Plan& a, const gpu::plan::Plan& b) {
  const auto same_steps = [&](const gpu::plan::Step& x, const gpu::plan::Step& y) {
    return x.kind == y.kind && x.finish == y.finish && x.event.id == y.event.id &&
           x.destination == y.destination && std::ranges::equal(a.sources_of(x), b.sources_of(y));
  };
  return a.divisors == b.divisors &&
         std::ranges::equal(a.steps, b.steps, [&](const auto& x, const auto& y) {
           return std::ranges::equal(x, y, same_steps);
         });
}

/// Returns the recv buffers of the call's ranks.
std::vector<harness::Image> results_of(const OperatorCall& call) {
  const auto bytes = spec::to_size(spec::info(call.call.type).bytes);
  std::vector<harness::Image> results;
  for (int rank = 0; rank < call.call.ranks; ++rank) {
    const spec::Extents extents = extents_of(call.contract, call.call, rank);
    const std::byte* const recv = call.buffers[spec::to_size(rank)].recv;
    results.emplace_back(recv, recv + spec::to_size(extents.recv_size) * bytes);
  }
  return results;
}

/// Returns the finding's reason and the descriptions of its wrong elements as one text.
std::string words_of(const harness::Finding& finding) {
  std::string text = finding.reason;
  for (const harness::WrongElement& each : finding.wrong) text += "\n" + each.decoded;
  return text;
}

}  // namespace

std::vector<Bug> catalogue() {
  std::vector<Bug> all;
  add_bugs_in_plans(all);
  add_bugs_in_values(all);
  add_bugs_in_results(all);
  add_bugs_in_machines(all);
  add_bugs_in_lists(all);
  add_bugs_along_axis(all);
  add_bugs_in_calls(all);
  add_bugs_in_histories(all);
  add_published_bugs(all);
  add_host_bugs(all);
  add_stride_bugs(all);
  add_bugs_in_sums(all);
  add_bugs_in_operators(all);
  add_bugs_in_modes(all);
  add_bugs_in_spectra(all);
  add_bugs_in_slices(all);
  add_bugs_in_partitions(all);
  add_bugs_in_halos(all);
  add_bugs_in_pie(all);
  add_bugs_in_difference_maps(all);
  add_bugs_in_steps(all);
  return all;
}

Planted::Planted(const Bug& bug, bool sound)
    : bug_(bug),
      sound_(sound),
      implementations_(implementations_with(bug, sound)),
      sim_(implementations_,
           {.plan = [this](const Case& c, gpu::plan::Plan& plan) { edit_plan(c, plan); },
            .result = [this](std::span<const Case> stages,
                             std::size_t stage,
                             Observation& observation) { edit_result(stages, stage, observation); },
            .call = [this](const Case& c, const OperatorCall& call) { replace_call(c, call); },
            .groups = [this](std::span<const Case> stages,
                             gpu::plan::Plan& merged) { edit_groups(stages, merged); }}),
      traits_(sim_.traits()) {
  traits_.has_strides = bug.without.find("stride") != std::string_view::npos;
}

bool Planted::is_hit(const Case& c) const {
  const bool is_planted_in = bug_.planted_in.empty() ? c.operation == bug_.target.operation &&
                                                           c.algorithm == bug_.target.algorithm
                                                     : c.operation == bug_.planted_in;
  return is_planted_in && (bug_.hits == nullptr || bug_.hits(c));
}

void Planted::edit_plan(const Case& c, gpu::plan::Plan& plan) {
  if (sound_ || !edits_plans(bug_) || !is_hit(c)) return;
  const gpu::plan::Plan before = plan;
  apply(bug_, c, plan);
  had_effect_ |= !same(before, plan);
}

void Planted::edit_groups(std::span<const Case> stages, gpu::plan::Plan& merged) {
  const bool history = !merged.order.empty();
  const auto edit = history                             ? bug_.edit_history
                    : is_repeated(stages[0], stages[1]) ? bug_.edit_calls
                                                        : bug_.edit_groups;
  if (sound_ || edit == nullptr || !is_hit(history ? stages.back() : stages.front())) return;
  const gpu::plan::Plan before = merged;
  edit(stages, merged);
  had_effect_ |= !same(before, merged);
}

void Planted::edit_result(std::span<const Case> stages,
                          std::size_t stage,
                          Observation& observation) {
  if (sound_ || !edits_results(bug_) || !is_hit(stages[stage])) return;
  const std::vector<harness::StageOutcome> before = observation.stages;
  const std::string path = observation.path[stage];
  apply(bug_, {stages, stage, observation, runs_, kept_});
  had_effect_ |= before != observation.stages || path != observation.path[stage] ||
                 observation.status != harness::RunStatus::completed;
}

void Planted::replace_call(const Case& c, const OperatorCall& call) {
  if (!edits_calls(bug_) || !is_hit(c)) return call.make();
  InterceptedCall intercepted(call, replaced_calls_++);
  if (sound_) return intercepted.run();
  if (!watches_) return audit::run(bug_, intercepted);
  const std::vector<harness::Image> before = results_of(call);
  call.make();
  const std::vector<harness::Image> right = results_of(call);
  for (std::size_t r = 0; r < before.size(); ++r) {
    std::copy(before[r].begin(), before[r].end(), call.buffers[r].recv);
  }
  audit::run(bug_, intercepted);
  had_effect_ |= results_of(call) != right;
}

void Planted::restart(int /*ranks*/) {
  kept_.clear();
  replaced_calls_ = 0;
}

void Planted::run(std::span<const Case> stages, Observation& observation) {
  had_effect_ = false;
  stages_.assign(stages.begin(), stages.end());
  for (Case& c : stages_) {
    if (!sound_ && is_hit(c)) c.fault = bug_.fault;
  }
  sim_.run(stages_, observation);
  ++runs_;
  had_effect_ |= observation.fault_changed || is_wrong_algorithm(bug_);
}

std::int64_t elements_of(const Case& c) {
  return std::accumulate(c.counts.begin(), c.counts.end(), c.count);
}

Hunt hunt(const harness::Catalogue& catalogue,
          const Bug& bug,
          std::string_view property,
          const HuntOptions& options) {
  Planted backend(bug, options.sound);
  harness::Unit unit;
  unit.operation = bug.target.operation;
  unit.algorithm = bug.target.algorithm;
  unit.backend = backend.traits().name;
  unit.property = property;
  unit.cases = options.sound ? options.cases : std::max(options.cases, bug.cases_min);
  unit.require_all_cells = false;
  if (bug.count > 0) {
    unit.cases = 1;
    unit.types = {bug.type};
    unit.ranks_min = unit.ranks_max = bug.ranks_max;
    unit.count = bug.count;
  }
  if (options.without) unit.fixed = bug.without;
  // A planted bug may keep one more copy of the images, to change the result.
  const std::int64_t memory_bytes =
      harness::run::available_memory() / (harness::image_copies + 1) * harness::image_copies;
  // What a bug shrinks to must not depend on how fast this machine is. A case with a count of its
  // own is the smallest already, and each replay takes long.
  const harness::RunLimits limits{.seed = options.seed,
                                  .shrink_s = bug.count > 0 ? 0.0 : 600.0,
                                  .replays = bug.count > 0 ? 1 : 5,
                                  .memory_bytes = memory_bytes};
  Hunt result{.finding = run_unit(catalogue, backend, unit, limits)};
  if (result.finding.minimal) {
    harness::Examiner examiner(catalogue, backend);
    harness::Judgement judgement;
    backend.watch();
    // Replays several times: a bug may appear in some runs only.
    for (int i = 0; i < result.finding.replays && !result.had_effect; ++i) {
      backend.restart(0);
      examiner.examine(*result.finding.minimal, judgement);
      result.had_effect = backend.had_effect();
    }
  }
  return result;
}

std::string why_not_needed(const Bug& bug, const Hunt& without) {
  const harness::Finding& finding = without.finding;
  if (finding.verdict == harness::Verdict::passed) return {};
  return fmt::format("got {} in {} cases, expected passed with {}: {}",
                     name(finding.verdict),
                     finding.cases,
                     bug.without,
                     finding.reason);
}

std::string why_not_caught(const Bug& bug, const Hunt& hunt) {
  const harness::Finding& finding = hunt.finding;
  if (finding.verdict != bug.found_by.verdict) {
    return fmt::format("got {} in {} cases, expected {}: {}",
                       name(finding.verdict),
                       finding.cases,
                       name(bug.found_by.verdict),
                       finding.reason);
  }
  const Case& c = *finding.minimal;
  if (!hunt.had_effect) return "the mistake changed nothing in the minimal case";
  if (group_size(c) > bug.ranks_max || elements_of(c) > bug.elements_max) {
    return fmt::format("got {} ranks and {} elements, expected at most {} and {}",
                       group_size(c),
                       elements_of(c),
                       bug.ranks_max,
                       bug.elements_max);
  }
  const spec::Scene scene = c.part.family() == PtychoCase::family ? ptycho(c).scene : spec::Scene{};
  if (const std::int64_t pixels = std::int64_t{scene.rows} * scene.cols; pixels > bug.pixels_max) {
    return fmt::format("got {} pixels, expected at most {}", pixels, bug.pixels_max);
  }
  if (constexpr std::size_t earlier_max = 2; c.earlier.size() > earlier_max) {
    return fmt::format("got {} earlier calls, expected at most {}", c.earlier.size(), earlier_max);
  }
  const std::string words = words_of(finding);
  if (words.find(bug.found_by.says) == std::string::npos) {
    return fmt::format("expected to read \"{}\", got: {}", bug.found_by.says, words);
  }
  return {};
}

}  // namespace rankcheck::cases::audit
