#pragma once

#include "harness/check/operation.hpp"

namespace rankcheck::harness {

/// Two runs of one call leave the same bits.
inline Property is_deterministic() {
  return {
      .name = "is_deterministic",
      .summary = "Two runs of one call give the same bits.",
      .applies = nullptr,
      .adapt = nullptr,
      .program = [](const spec::Contract&,
                    const Case& c,
                    std::vector<Case>& stages) { stages.assign(2, c); },
      .check =
          [](const Evidence& evidence, Judgement& judgement) {
            for (int r = 0; r < group_size(evidence.stages[0]); ++r) {
              expect_same_output(
                  evidence, 1, r, "the second run differs from the first", judgement);
            }
          },
  };
}

}  // namespace rankcheck::harness
