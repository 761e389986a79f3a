#include "cases/commands/hardware_parts.hpp"

#include <algorithm>
#include <optional>

#include "harness/suite/suite_file.hpp"

#include "cases/hardware/speed.hpp"

namespace rankcheck::cases {

namespace {

using hardware::Phase;
using harness::run::Selection;

/// Cases of each unit in the parts before the suites.
constexpr int few_cases = 3;

/// Returns the backends that check a single device. NCCL's ranks share the device in this part.
std::vector<std::string> backends_of_device(const Selection& selection) {
  std::vector<std::string> backends{"cuda"};
  if (selects_backend(selection, "nccl")) backends.emplace_back("nccl");
  return backends;
}

}  // namespace

bool selects_backend(const Selection& selection, const std::string& backend) {
  const auto& wanted = selection.backends;
  return wanted.empty() || std::find(wanted.begin(), wanted.end(), backend) != wanted.end();
}

Selection selection_of_part(const hardware::PhaseRequest& request, const Selection& whole) {
  Selection part = whole;
  // A part alone need not show every known defect. The gate judges them over all parts.
  part.strict_known = std::nullopt;
  const int few = std::min(whole.cases.value_or(few_cases), few_cases);
  switch (request.phase) {
    case Phase::cuda:
      part.backends = {"cuda"};
      part.cases = few;
      break;
    case Phase::nccl:
      // This suite has no forced algorithms. Most forced algorithms refuse a single rank.
      part.suites = {"smoke"};
      part.backends = {"nccl"};
      part.devices = std::nullopt;
      part.ranks = {request.ranks, request.ranks};
      part.cases = few;
      break;
    case Phase::sanitizer:
      part.suites = {"smoke"};
      part.backends = {"cuda"};
      part.devices = std::nullopt;
      // The sanitizer makes everything many times slower.
      part.cases = 1;
      break;
    case Phase::device:
      part.suites = {"smoke"};
      part.backends = backends_of_device(whole);
      part.devices = std::nullopt;
      break;
    case Phase::soak:
      // The suites have checked the cases of the seed itself.
      part.seed = *whole.seed + 1;
      break;
    case Phase::suites:
    case Phase::speed:
      break;
  }
  return part;
}

std::vector<hardware::Target> targets_of(const Selection& selection) {
  std::vector<hardware::Target> chosen;
  for (const hardware::Target& each : hardware::targets()) {
    const bool is_selected =
        each.operation == nullptr || harness::matches_any(selection.operations, each.operation);
    if (is_selected) chosen.push_back(each);
  }
  return chosen;
}

}  // namespace rankcheck::cases
