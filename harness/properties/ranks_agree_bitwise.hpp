#pragma once

#include "harness/check/operation.hpp"

namespace rankcheck::harness {

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
