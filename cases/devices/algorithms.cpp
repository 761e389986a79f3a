#include "cases/devices/algorithms.hpp"

#include "reference/registry.hpp"

#include "harness/backend/preference.hpp"
#include "harness/case/hosts.hpp"
#include "harness/check/operation.hpp"

#include "cases/families/collectives/case.hpp"
#include "cases/families/ptycho/case.hpp"

namespace rankcheck::cases {

using harness::Case;

gpu::plan::Options options_of(const Case& c) {
  return {.in_place = c.in_place, .chunk = c.chunk, .hosts = harness::hosts_of_members(c)};
}

std::vector<harness::AlgorithmInfo> Algorithms::infos() const {
  std::vector<harness::AlgorithmInfo> all;
  const auto append = [&](const auto& implementations) {
    for (const auto& each : implementations) {
      all.push_back({std::string(each.operation),
                     std::string(each.algorithm.name),
                     std::string(each.algorithm.summary)});
    }
  };
  append(plans);
  append(operators);
  return all;
}

SelectedAlgorithm Algorithms::choose(const Case& c) const {
  // If the case names no algorithm, the preferred one depends on the case.
  const auto prefers = [&](const auto* chosen, const auto& each) {
    if (each.operation != c.operation) return false;
    if (!c.algorithm.empty() && each.algorithm.name != c.algorithm) return false;
    return chosen == nullptr ||
           harness::preference(c, each.algorithm.name) > harness::preference(c, chosen->name);
  };
  SelectedAlgorithm selected;
  const spec::Contract* const contract = reference::find_contract(c.operation);
  if (contract == nullptr) return selected;
  if (spec::family(*contract) == spec::CollectiveTraits::family) {
    const spec::Call call = collective_call(c);
    const gpu::plan::Options options = options_of(c);
    for (const gpu::Implementation& each : plans) {
      if (!prefers(selected.plan, each)) continue;
      if (why_refused(each.algorithm, call, options).empty()) selected.plan = &each.algorithm;
    }
    return selected;
  }
  const spec::OperatorCall call = operator_call(c);
  for (const gpu::OperatorImplementation& each : operators) {
    if (!prefers(selected.op, each)) continue;
    // A case that does not name an algorithm may run without batches.
    const std::int64_t batch = c.algorithm.empty() ? 0 : c.chunk;
    if (why_refused(each.algorithm, call, batch).empty()) selected.op = &each.algorithm;
  }
  return selected;
}

std::string Algorithms::why_none(const Case& c) const {
  if (const SelectedAlgorithm selected = choose(c);
      selected.plan != nullptr || selected.op != nullptr)
    return {};
  for (const gpu::Implementation& each : plans) {
    if (each.operation == c.operation && each.algorithm.name == c.algorithm) {
      return std::string(why_refused(each.algorithm, collective_call(c), options_of(c)));
    }
  }
  for (const gpu::OperatorImplementation& each : operators) {
    if (each.operation == c.operation && each.algorithm.name == c.algorithm) {
      return std::string(why_refused(each.algorithm, operator_call(c), c.chunk));
    }
  }
  if (c.algorithm.empty()) return "no algorithm supports this call";
  std::vector<std::string> names;
  for (const harness::AlgorithmInfo& each : infos()) {
    if (each.operation == c.operation) names.push_back(each.name);
  }
  return harness::why_no_algorithm(c, names);
}

}  // namespace rankcheck::cases
