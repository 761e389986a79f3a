#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reference/collectives/all_reduce/contract.hpp"
#include "reference/collectives/all_reduce_list/contract.hpp"
#include "reference/collectives/all_to_all_v/contract.hpp"
#include "reference/collectives/barrier/contract.hpp"
#include "reference/collectives/broadcast/contract.hpp"
#include "reference/collectives/gather_v/contract.hpp"
#include "reference/collectives/reduce/contract.hpp"
#include "reference/collectives/reduce_scatter/contract.hpp"
#include "reference/collectives/send_recv/contract.hpp"
#include "reference/registry.hpp"

#include "harness/backend/backend.hpp"
#include "harness/backend/capabilities.hpp"
#include "harness/backend/stage_images.hpp"
#include "harness/check/finding.hpp"
#include "harness/check/operation.hpp"

#include "tests/harness/sample.hpp"

namespace rankcheck::harness::fake {

/// A property that holds if the backend completes. It counts one byte for every element of an
/// output. Tests change what else it does under another name.
inline Property completes(std::string_view name = "completes") {
  return {
      .name = name,
      .summary = "The run completes.",
      .program = [](const spec::Contract&,
                    const Case& c,
                    std::vector<Case>& stages) { stages.push_back(c); },
      .check =
          [](const Evidence& evidence, Judgement& judgement) {
            for (int r = 0; r < group_size(evidence.stages[0]); ++r) {
              for (const spec::Block& block : view(evidence, 0, r).layout.extents.recv) {
                judgement.count(r, block.count);
              }
            }
          },
  };
}

/// A property that never compares anything.
inline Property looks_away() {
  Property property = completes("looks_away");
  property.check = [](const Evidence&, Judgement&) {};
  return property;
}

/// Returns real contracts of every shape with the properties above, and with `more` properties.
inline Catalogue catalogue(const std::vector<Property>& more = {}) {
  std::vector<Operation> operations;
  for (const spec::Contract& contract : {reference::all_reduce::contract(),
                                         reference::all_reduce_list::contract(),
                                         reference::all_to_all_v::contract(),
                                         reference::barrier::contract(),
                                         reference::broadcast::contract(),
                                         reference::gather_v::contract(),
                                         reference::reduce::contract(),
                                         reference::reduce_scatter::contract(),
                                         reference::send_recv::contract()}) {
    std::vector<Property> properties{completes(), looks_away()};
    properties.insert(properties.end(), more.begin(), more.end());
    operations.push_back({contract, std::move(properties)});
  }
  return Catalogue(std::move(operations));
}

/// A backend that leaves zeros and ends every run as it is told.
class FakeBackend : public Backend {
 public:
  /// Returns the status of a case's run.
  std::function<RunStatus(const Case& c)> outcome = [](const Case&) {
    return RunStatus::completed;
  };
  /// Returns the symptom of a failing run.
  std::function<Symptom(const Case& c)> symptom = [](const Case&) { return Symptom::value; };
  /// Returns the reason why a case is refused; empty if it is accepted.
  std::function<std::string(const Case& c)> refusal = [](const Case&) { return std::string(); };
  /// What the backend declares that it takes, for every operation.
  std::optional<Capabilities> declared;
  int runs = 0;
  /// Restarts with the ranks of one case, and with all ranks.
  int restarts = 0;
  int renewals = 0;
  bool is_hurried = false;
  /// The value that close() returns.
  std::optional<BackendFailure> failure;

  FakeBackend() {
    traits_.name = "fake";
    traits_.ranks_max = 8;
    traits_.has_schedules = true;
  }

  [[nodiscard]] BackendTraits& traits() { return traits_; }
  [[nodiscard]] const BackendTraits& traits() const override { return traits_; }
  [[nodiscard]] std::vector<AlgorithmInfo> algorithms() const override { return {}; }
  [[nodiscard]] std::string why_refused(const Case& c) const override { return refusal(c); }
  [[nodiscard]] const Capabilities* capabilities(std::string_view,
                                                 std::string_view) const override {
    return declared ? &*declared : nullptr;
  }
  void restart(int ranks) override { ++(ranks > 0 ? restarts : renewals); }
  void hurry(bool is) override { is_hurried = is; }
  std::optional<BackendFailure> close() override { return failure; }

  void run(std::span<const Case> stages, Observation& observation) override {
    ++runs;
    observation = {};
    observation.status = outcome(stages[0]);
    if (observation.status != RunStatus::completed) observation.reason = "planted";
    const bool is_from_before =
        observation.status == RunStatus::crashed && symptom(stages[0]) == Symptom::from_before;
    if (observation.status == RunStatus::failed || is_from_before) {
      observation.symptom = symptom(stages[0]);
    }
    observation.stages.resize(stages.size());
    const Hosting all{.contract_of = reference::contract_named,
                      .result_place = traits_.result_place};
    ImageLayout layout;
    for (std::size_t k = 0; k < stages.size(); ++k) {
      observation.path.push_back(stages[k].algorithm);
      prepare_members(all, stages, k, layout, observation, [&](const HostedMember& member) {
        const std::int64_t bytes = spec::info(stages[k].type).bytes;
        for (const spec::Block& block : layout.extents.recv) {
          const auto begin = member.image.begin() + layout.recv + block.offset * bytes;
          std::fill_n(begin, block.count * bytes, std::byte{});
        }
      });
    }
  }

 private:
  BackendTraits traits_;
};

/// Returns a unit of `operation` on the fake backend.
inline Unit unit(const std::string& operation, int cases = 200) {
  Unit unit = unit_named(operation + "/direct/fake/completes");
  unit.cases = cases;
  return unit;
}

}  // namespace rankcheck::harness::fake
