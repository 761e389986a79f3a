#pragma once

#include "harness/check/operation.hpp"

/// Properties that compare bits, for operations of every family.
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

/// Every rank ends with the same bits, if the contract says so.
inline Property ranks_agree_bitwise() {
  return {
      .name = "ranks_agree_bitwise",
      .summary = "Every rank ends with the same bits as rank 0.",
      .applies = [](const spec::Contract& contract,
                    const Case& c) { return contract.ranks_agree && group_size(c) > 1; },
      .adapt = nullptr,
      .program = [](const spec::Contract&,
                    const Case& c,
                    std::vector<Case>& stages) { stages.assign(1, c); },
      .check = [](const Evidence& evidence,
                  Judgement& judgement) { expect_ranks_agree(evidence, 0, judgement); },
  };
}

}  // namespace rankcheck::harness
