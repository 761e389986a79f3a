#pragma once

#include <algorithm>

#include "cases/collectives/exact_inputs.hpp"
#include "cases/families/collectives/case.hpp"

namespace rankcheck::cases {

/// One call on the whole equals two calls: one on the front half and one on the back half of every
/// block.
inline harness::Property splits() {
  return {
      .name = "splits",
      .summary = "A call on a whole buffer equals two calls on its parts.",
      .applies = [](const spec::Contract&, const harness::Case& c) { return has_one_result(c); },
      .adapt = [](const spec::Contract&, harness::Case& c) { use_exact_inputs(c); },
      .program =
          [](const spec::Contract&, const harness::Case& c, std::vector<harness::Case>& stages) {
            stages.assign(3, c);
            std::int64_t longest = std::max<std::int64_t>(1, c.count);
            for (const std::int64_t count : c.counts) longest = std::max(longest, count);
            const std::int64_t cut = (longest + 1) / 2;
            for (harness::Case& stage : stages) collective(stage).index_stride = longest;
            collective(stages[2]).first_index = cut;
            const auto front = [&](std::int64_t count) { return std::min(count, cut); };
            stages[1].count = front(c.count);
            stages[2].count = c.count - front(c.count);
            for (std::size_t i = 0; i < c.counts.size(); ++i) {
              stages[1].counts[i] = front(c.counts[i]);
              stages[2].counts[i] = c.counts[i] - front(c.counts[i]);
            }
          },
      .check =
          [](const harness::Evidence& evidence, harness::Judgement& judgement) {
            const harness::Case& c = evidence.stages[0];
            const std::int64_t bytes = spec::info(c.type).bytes;
            for (int r = 0; r < harness::group_size(c); ++r) {
              const harness::BufferView whole = view(evidence, 0, r);
              const harness::BufferView front = view(evidence, 1, r);
              const harness::BufferView back = view(evidence, 2, r);
              const auto& blocks = whole.layout.extents.recv;
              for (std::size_t b = 0; b < blocks.size(); ++b) {
                const spec::Block& first = front.layout.extents.recv[b];
                const spec::Block& second = back.layout.extents.recv[b];
                const std::byte* at = whole.recv() + blocks[b].offset * bytes;
                harness::expect_same_bits(c,
                                          r,
                                          blocks[b].offset,
                                          first.count,
                                          at,
                                          front.recv() + first.offset * bytes,
                                          "the whole differs from its front part",
                                          judgement);
                harness::expect_same_bits(c,
                                          r,
                                          blocks[b].offset + first.count,
                                          second.count,
                                          at + first.count * bytes,
                                          back.recv() + second.offset * bytes,
                                          "the whole differs from its back part",
                                          judgement);
              }
            }
          },
  };
}

}  // namespace rankcheck::cases
