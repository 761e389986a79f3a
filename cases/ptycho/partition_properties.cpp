#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include <fmt/format.h>

#include "reference/spec/to_size.hpp"

#include "harness/properties/same_bits.hpp"

#include "cases/ptycho/properties.hpp"
#include "cases/ptycho/stage.hpp"

namespace rankcheck::cases {

namespace {

using harness::Case;
using harness::Evidence;
using harness::Judgement;
using harness::Verdict;
using spec::Array;

using Stages = std::vector<Case>;

/// Returns the number of positions that each rank got. Fails the judgement if an owner is not a
/// rank.
std::vector<std::int64_t> shares_of(const OperatorStage& stage, Judgement& judgement) {
  std::vector<std::int64_t> shares(stage.c.counts.size(), 0);
  const auto& owners = stage.got[Array::owners].values;
  judgement.count_all(harness::group_size(stage.c),
                      static_cast<std::int64_t>(owners.size()) * spec::info(stage.c.type).bytes);
  for (std::size_t i = 0; i < owners.size(); ++i) {
    const double owner = owners[i].real();
    if (owner >= 0 && owner < static_cast<double>(shares.size()) && owner == std::floor(owner)) {
      ++shares[static_cast<std::size_t>(owner)];
      continue;
    }
    judgement.fail(Verdict::falsified, fmt::format("position {} belongs to rank {:.9g}", i, owner));
  }
  return shares;
}

harness::Property covers() {
  return {
      .name = "covers_every_position",
      .summary =
          "Every position belongs to exactly one of the ranks, and a single rank gets all "
          "positions.",
      .program = plan_once,
      .check =
          [](const Evidence& evidence, Judgement& judgement) {
            static_cast<void>(shares_of(read_stage(evidence, 0), judgement));
          },
  };
}

harness::Property is_balanced() {
  return {
      .name = "is_balanced",
      .summary = "The ranks' numbers of positions differ by at most 1.",
      .program = plan_once,
      .check =
          [](const Evidence& evidence, Judgement& judgement) {
            const auto shares = shares_of(read_stage(evidence, 0), judgement);
            const auto [least, most] = std::minmax_element(shares.begin(), shares.end());
            if (*most - *least <= 1) return;
            judgement.fail(
                Verdict::falsified,
                fmt::format("shares of {} to {} positions: expected to differ by at most 1",
                            *least,
                            *most));
          },
  };
}

harness::Property is_invariant_under_translation() {
  return {
      .name = "is_invariant_under_translation",
      .summary = "Moving the whole scan, also to negative coordinates, does not change the owners.",
      .program =
          [](const spec::Contract&, const Case& c, Stages& stages) {
            stages.assign(2, c);
            const int distance = 1 + static_cast<int>(c.data_seed % 600);
            ptycho(stages[1]).moved = c.data_seed % 2 == 0 ? distance : -distance;
          },
      .check =
          [](const Evidence& evidence, Judgement& judgement) {
            for (int r = 0; r < harness::group_size(evidence.stages[0]); ++r) {
              expect_same_output(evidence, 1, r, "moving the scan changes owners", judgement);
            }
          },
  };
}

/// Compares the arrays that fuse returned with the arrays that redistribute got.
void check_round_trip(const Evidence& evidence, Judgement& judgement) {
  const std::size_t last = evidence.stages.size() - 1;
  const Case& c = evidence.stages[last];
  const std::int64_t bytes = spec::info(c.type).bytes;
  for (int r = 0; r < harness::group_size(c); ++r) {
    const harness::BufferView before = view(evidence, last - 1, r);
    const harness::BufferView after = view(evidence, last, r);
    for (const spec::Block& got : after.layout.extents.recv) {
      for (const spec::Block& sent : before.layout.extents.send) {
        if (sent.array != got.array) continue;
        expect_same_bits({c, last},
                         r,
                         got.offset,
                         got.count,
                         after.recv() + got.offset * bytes,
                         before.send() + sent.offset * bytes,
                         "fused data differ from what was redistributed",
                         judgement);
      }
    }
  }
}

}  // namespace

harness::Property inverts_redistribute() {
  return {
      .name = "inverts_redistribute",
      .summary = "Positions and frames that are sent to a partition's owners come back unchanged.",
      .adapt = [](const spec::Contract&, Case& c) { c.input = harness::InputKind::general; },
      .program =
          [](const spec::Contract&, const Case& c, Stages& stages) {
            constexpr std::array kinds{"partition_quadrants",
                                       "partition_stripes",
                                       "partition_equal_stripes",
                                       "partition_grid",
                                       "partition_compact",
                                       "partition_interlaced",
                                       "partition_random",
                                       "partition_consecutive"};
            stages.assign(3, c);
            for (Case& stage : stages) ptycho(stage).chained = true;
            for (std::size_t s = 0; s < 2; ++s) stages[s].algorithm.clear();
            stages[0].operation = kinds[c.data_seed % kinds.size()];
            stages[1].operation = "redistribute";
            // Partitions accept only general inputs. Old cases, which were drawn before this
            // property chose its inputs, have others.
            for (Case& stage : stages) stage.input = harness::InputKind::general;
          },
      .check = check_round_trip,
  };
}

std::vector<harness::Property> partition_properties() {
  return {
      operator_agrees_with_reference(),
      harness::is_deterministic(),
      harness::ranks_agree_bitwise(),
      is_independent_of_partition(),
      covers(),
      is_invariant_under_translation(),
  };
}

std::vector<harness::Property> equal_partition_properties() {
  auto properties = partition_properties();
  properties.push_back(is_balanced());
  return properties;
}

}  // namespace rankcheck::cases
