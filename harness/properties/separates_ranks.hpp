#pragma once

#include <algorithm>

#include "harness/operation.hpp"

namespace rankcheck::harness {

/// No rank leaves a call before every rank has entered it, for several calls in a row.
inline Property separates_ranks() {
  return {
      .name = "separates_ranks",
      .summary = "In three calls in a row, no rank leaves before every rank has entered.",
      .applies = [](const spec::Contract& contract,
                    const Case& c) { return contract.synchronises && group_size(c) > 1; },
      .adapt = nullptr,
      .program = [](const spec::Contract&,
                    const Case& c,
                    std::vector<Case>& stages) { stages.assign(3, c); },
      .check =
          [](const Evidence& evidence, Judgement& judgement) {
            for (std::size_t s = 0; s < evidence.stages.size(); ++s) {
              const auto& stamps = evidence.observation.stages[s].stamps;
              for (std::size_t leaving = 0; leaving < stamps.size(); ++leaving) {
                for (std::size_t entering = 0; entering < stamps.size(); ++entering) {
                  if (stamps[leaving].left >= stamps[entering].entered) continue;
                  judgement.fail(Verdict::falsified,
                                 "round " + std::to_string(s) + ": rank " +
                                     std::to_string(leaving) + " left before rank " +
                                     std::to_string(entering) + " entered",
                                 Symptom::stamps);
                  return;
                }
              }
            }
          },
  };
}

}  // namespace rankcheck::harness
