#pragma once

#include <algorithm>

#include "harness/properties/exact_inputs.hpp"

namespace rankcheck::harness {

/// Reversing the order of the group leaves a reduction as it is and reverses the blocks of a
/// gather.
inline Property rank_permutation() {
  return {
      .name = "rank_permutation",
      .summary = "Reversing the group leaves a reduction unchanged and reverses gathered blocks.",
      .applies =
          [](const spec::Contract& contract, const Case& c) {
            const bool gathers = contract.in_place == spec::InPlace::send_within_recv &&
                                 contract.sizes == spec::Sizes::count;
            if (group_size(c) < 2) return false;
            return gathers || (contract.reduces && has_one_result(c));
          },
      .adapt = [](const spec::Contract&, Case& c) { use_exact_inputs(c); },
      .program =
          [](const spec::Contract&, const Case& c, std::vector<Case>& stages) {
            stages.assign(2, c);
            stages[1].group = members(c);
            std::reverse(stages[1].group.begin(), stages[1].group.end());
          },
      .check =
          [](const Evidence& evidence, Judgement& judgement) {
            const Case& c = evidence.stages[1];
            const std::int64_t bytes = spec::info(c.type).bytes;
            const bool reduces = c.op != spec::ReduceOp::none;
            for (int r = 0; r < group_size(c); ++r) {
              const BufferView plain = view(evidence, 0, r);
              const BufferView reversed = view(evidence, 1, r);
              const auto& blocks = reversed.layout.extents.recv;
              for (std::size_t b = 0; b < blocks.size(); ++b) {
                const std::size_t other = reduces ? b : blocks.size() - 1 - b;
                expect_same_bits(c,
                                 r,
                                 blocks[b].offset,
                                 blocks[b].count,
                                 reversed.recv() + blocks[b].offset * bytes,
                                 plain.recv() + plain.layout.extents.recv[other].offset * bytes,
                                 "the reversed group gives another result",
                                 judgement);
              }
            }
          },
  };
}

}  // namespace rankcheck::harness
