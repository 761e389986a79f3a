#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reference/spec/to_size.hpp"

#include "harness/backend/stages.hpp"

#include "cases/collectives/exact_inputs.hpp"
#include "cases/collectives/properties.hpp"

/// Properties that compare a call with the same call made in another way.
namespace rankcheck::cases {

std::vector<int> drawn_order(const harness::Case& c) {
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

harness::Property in_place_equals_out_of_place() {
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

harness::Property rank_permutation() {
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

harness::Property splits() {
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
            constexpr std::array<std::string_view, 2> whats{"the whole differs from its front part",
                                                            "the whole differs from its back part"};
            for (int r = 0; r < harness::group_size(c); ++r) {
              const harness::BufferView whole = view(evidence, 0, r);
              const std::array parts{view(evidence, 1, r), view(evidence, 2, r)};
              const auto& blocks = whole.layout.extents.recv;
              for (std::size_t b = 0; b < blocks.size(); ++b) {
                std::int64_t at = blocks[b].offset;
                for (std::size_t p = 0; p < parts.size(); ++p) {
                  const spec::Block& part = parts[p].layout.extents.recv[b];
                  harness::expect_same_bits(c,
                                            r,
                                            at,
                                            part.count,
                                            whole.recv() + at * bytes,
                                            parts[p].recv() + part.offset * bytes,
                                            whats[p],
                                            judgement);
                  at += part.count;
                }
              }
            }
          },
  };
}

void expect_ranks_separated(const harness::Evidence& evidence, harness::Judgement& judgement) {
  for (std::size_t s = 0; s < evidence.stages.size(); ++s) {
    if (!evidence.catalogue.find(evidence.stages[s].operation)->contract.synchronises) continue;
    const auto& stamps = evidence.observation.stages[s].stamps;
    for (std::size_t leaving = 0; leaving < stamps.size(); ++leaving) {
      for (std::size_t entering = 0; entering < stamps.size(); ++entering) {
        if (stamps[leaving].left >= stamps[entering].entered) continue;
        judgement.fail(harness::Verdict::falsified,
                       "round " + std::to_string(s) + ": rank " + std::to_string(leaving) +
                           " left before rank " + std::to_string(entering) + " entered",
                       harness::Symptom::stamps);
        return;
      }
    }
  }
}

harness::Property is_independent_of_history() {
  return {
      .name = harness::history_property,
      .summary = "A call after other calls agrees with the reference, and so do they.",
      .applies = nullptr,
      .adapt = nullptr,
      .program =
          [](const spec::Contract&, const harness::Case& c, std::vector<harness::Case>& stages) {
            stages = c.earlier;
            stages.push_back(c);
            stages.back().earlier.clear();
          },
      .check =
          [](const harness::Evidence& evidence, harness::Judgement& judgement) {
            expect_reference_in_every_stage(evidence, judgement);
            expect_ranks_separated(evidence, judgement);
          },
      .has_earlier = true,
  };
}

harness::Property separates_ranks() {
  return {
      .name = "separates_ranks",
      .summary = "In three calls in a row, no rank leaves before every rank has entered.",
      .applies =
          [](const spec::Contract& contract, const harness::Case& c) {
            return contract.synchronises && harness::group_size(c) > 1;
          },
      .adapt = nullptr,
      .program = [](const spec::Contract&,
                    const harness::Case& c,
                    std::vector<harness::Case>& stages) { stages.assign(3, c); },
      .check = expect_ranks_separated,
  };
}

}  // namespace rankcheck::cases
