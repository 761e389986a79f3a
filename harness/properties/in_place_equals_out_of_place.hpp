#pragma once

#include "harness/properties/exact_inputs.hpp"

namespace rankcheck::harness {

/// A call in place and the same call out of place leave the same bits. They may combine in another
/// order, so reductions are compared only if the order makes no difference.
inline Property in_place_equals_out_of_place() {
  return {
      .name = "in_place_equals_out_of_place",
      .summary = "A call in place gives the same bits as a call out of place.",
      .applies = [](const spec::Contract&,
                    const Case& c) { return c.in_place && has_one_result(c); },
      .adapt =
          [](const spec::Contract&, Case& c) {
            c.in_place = true;
            use_exact_inputs(c);
          },
      .program =
          [](const spec::Contract&, const Case& c, std::vector<Case>& stages) {
            stages.assign(2, c);
            stages[0].in_place = false;
          },
      .check =
          [](const Evidence& evidence, Judgement& judgement) {
            for (int r = 0; r < group_size(evidence.stages[0]); ++r) {
              expect_same_output(
                  evidence, 0, 1, r, "in place differs from out of place", judgement);
            }
          },
  };
}

}  // namespace rankcheck::harness
