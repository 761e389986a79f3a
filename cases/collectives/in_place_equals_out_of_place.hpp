#pragma once

#include "cases/collectives/exact_inputs.hpp"

namespace rankcheck::cases {

/// A call in place and the same call out of place leave the same bits. They may combine in another
/// order, so reductions are compared only if the order makes no difference.
inline harness::Property in_place_equals_out_of_place() {
  return {
      .name = "in_place_equals_out_of_place",
      .summary = "A call in place gives the same bits as a call out of place.",
      .applies = [](const spec::Contract&,
                    const harness::Case& c) { return c.in_place && has_one_result(c); },
      .adapt =
          [](const spec::Contract&, harness::Case& c) {
            c.in_place = true;
            use_exact_inputs(c);
          },
      .program =
          [](const spec::Contract&, const harness::Case& c, std::vector<harness::Case>& stages) {
            stages.assign(2, c);
            stages[0].in_place = false;
          },
      .check =
          [](const harness::Evidence& evidence, harness::Judgement& judgement) {
            for (int r = 0; r < harness::group_size(evidence.stages[0]); ++r) {
              harness::expect_same_output(
                  evidence, 1, r, "in place differs from out of place", judgement);
            }
          },
  };
}

}  // namespace rankcheck::cases
