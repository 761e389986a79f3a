#pragma once

#include "harness/operation.hpp"

namespace rankcheck::harness {

/// Every rank ends with the same bits, where the contract says so.
inline Property ranks_agree_bitwise() {
  return {
      .name = "ranks_agree_bitwise",
      .summary = "Every rank ends with the bits of rank 0.",
      .applies = [](const spec::Contract& contract,
                    const Case& c) { return contract.ranks_agree && group_size(c) > 1; },
      .adapt = nullptr,
      .program = [](const spec::Contract&,
                    const Case& c,
                    std::vector<Case>& stages) { stages.assign(1, c); },
      .check =
          [](const Evidence& evidence, Judgement& judgement) {
            const Case& c = evidence.stages[0];
            const std::int64_t bytes = spec::info(c.type).bytes;
            const BufferView first = view(evidence, 0, 0);
            for (int r = 1; r < group_size(c); ++r) {
              const BufferView other = view(evidence, 0, r);
              for (const spec::Block& block : other.layout.extents.recv) {
                expect_same_bits(c,
                                 r,
                                 block.offset,
                                 block.count,
                                 other.recv() + block.offset * bytes,
                                 first.recv() + block.offset * bytes,
                                 "differs from rank 0",
                                 judgement);
              }
            }
          },
  };
}

}  // namespace rankcheck::harness
