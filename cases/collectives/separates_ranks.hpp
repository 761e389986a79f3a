#pragma once

#include <cstddef>
#include <string>

#include "harness/check/operation.hpp"

namespace rankcheck::cases {

/// Fails the judgement if a rank of a stage left before every rank of the stage had entered.
inline void expect_ranks_separated(const harness::Evidence& evidence,
                                   harness::Judgement& judgement) {
  for (std::size_t s = 0; s < evidence.stages.size(); ++s) {
    const auto& stamps = evidence.observation.stages[s].stamps;
    for (std::size_t leaving = 0; leaving < stamps.size(); ++leaving) {
      for (std::size_t entering = 0; entering < stamps.size(); ++entering) {
        if (stamps[leaving].left >= stamps[entering].entered) continue;
        judgement.fail(harness::Verdict::falsified,
                       "round " + std::to_string(s) + ": rank " + std::to_string(leaving) +
                           " left before rank " + std::to_string(entering) + " entered",
                       harness::Symptom::stamps);
        return;
      }
    }
  }
}

/// No rank leaves a call before every rank has entered it, for several calls in a row.
inline harness::Property separates_ranks() {
  return {
      .name = "separates_ranks",
      .summary = "In three calls in a row, no rank leaves before every rank has entered.",
      .applies =
          [](const spec::Contract& contract, const harness::Case& c) {
            return contract.synchronises && harness::group_size(c) > 1;
          },
      .adapt = nullptr,
      .program = [](const spec::Contract&,
                    const harness::Case& c,
                    std::vector<harness::Case>& stages) { stages.assign(3, c); },
      .check = expect_ranks_separated,
  };
}

}  // namespace rankcheck::cases
