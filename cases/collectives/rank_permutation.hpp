#pragma once

#include <algorithm>
#include <numeric>
#include <utility>

#include "reference/spec/to_size.hpp"

#include "cases/collectives/exact_inputs.hpp"
#include "cases/families/collectives/case.hpp"

namespace rankcheck::cases {

/// An order of n > 1 group ranks other than 0 … n-1, drawn from the case's data_seed. A third of
/// the orders are reversals, a third are rotations, and a third are random.
inline std::vector<int> drawn_order(const harness::Case& c) {
  const auto n = spec::to_size(harness::group_size(c));
  constexpr std::uint64_t stream = std::uint64_t{1} << 33;
  const harness::CounterHash hash(c.data_seed, stream);
  std::vector<int> order(n);
  std::iota(order.begin(), order.end(), 0);
  if (hash(0) % 3 == 0) {
    std::reverse(order.begin(), order.end());
    return order;
  }
  if (hash(0) % 3 == 1) {
    for (std::size_t i = n - 1; i > 0; --i) std::swap(order[i], order[hash(i) % (i + 1)]);
    if (!std::is_sorted(order.begin(), order.end())) return order;
  }
  const auto middle = static_cast<std::ptrdiff_t>(1 + hash(n) % (n - 1));
  std::rotate(order.begin(), order.begin() + middle, order.end());
  return order;
}

/// Another order of the group leaves a reduction that commutes unchanged and reorders the blocks of
/// a gather.
inline harness::Property rank_permutation() {
  return {
      .name = "rank_permutation",
      .summary = "Reordering the group leaves a reduction unchanged and reorders gathered blocks.",
      .applies =
          [](const spec::Contract& contract, const harness::Case& c) {
            const bool gathers = contract.in_place == spec::InPlace::send_within_recv &&
                                 collective(contract).sizes == spec::Sizes::count;
            if (harness::group_size(c) < 2) return false;
            return gathers || (collective(contract).reduces && has_one_result(c) &&
                               spec::commutes(collective(c).op));
          },
      .adapt = [](const spec::Contract&, harness::Case& c) { use_exact_inputs(c); },
      .program =
          [](const spec::Contract&, const harness::Case& c, std::vector<harness::Case>& stages) {
            stages.assign(2, c);
            const std::vector<int> plain = harness::members(c);
            std::vector<int>& group = stages[1].group;
            group.clear();
            for (const int at : drawn_order(c)) group.push_back(plain[spec::to_size(at)]);
          },
      .check =
          [](const harness::Evidence& evidence, harness::Judgement& judgement) {
            const harness::Case& c = evidence.stages[1];
            const std::int64_t bytes = spec::info(c.type).bytes;
            const bool reduces = collective(c).op != spec::ReduceOp::none;
            const std::vector<int> order = drawn_order(c);
            for (int r = 0; r < harness::group_size(c); ++r) {
              const harness::BufferView plain = view(evidence, 0, r);
              const harness::BufferView reordered = view(evidence, 1, r);
              const auto& blocks = reordered.layout.extents.recv;
              for (std::size_t b = 0; b < blocks.size(); ++b) {
                const std::size_t other = reduces ? b : spec::to_size(order[b]);
                harness::expect_same_bits(
                    {c, 1},
                    r,
                    blocks[b].offset,
                    blocks[b].count,
                    reordered.recv() + blocks[b].offset * bytes,
                    plain.recv() + plain.layout.extents.recv[other].offset * bytes,
                    "the reordered group gives another result",
                    judgement);
              }
            }
          },
  };
}

}  // namespace rankcheck::cases
