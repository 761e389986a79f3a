#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string_view>
#include <vector>

#include "cases/ptycho/comparisons.hpp"
#include "cases/ptycho/properties.hpp"
#include "cases/ptycho/stage.hpp"

namespace rankcheck::cases {

namespace {

using harness::Case;
using harness::Evidence;
using harness::Judgement;
using spec::Array;

/// Plans three stages: the case; the case with only its first positions, on the same ranks; the
/// case with all positions in reverse order.
void plan_apart(const spec::Contract&, const Case& c, std::vector<Case>& stages) {
  stages.assign(3, c);
  ptycho(stages[2]).symmetry = Symmetry::reversed;
  const std::int64_t positions = std::accumulate(c.counts.begin(), c.counts.end(), std::int64_t{0});
  const std::int64_t most = std::max(positions - 1, std::int64_t{1});
  std::int64_t kept = 1 + static_cast<std::int64_t>(c.data_seed % static_cast<std::uint64_t>(most));
  for (std::int64_t& count : stages[1].counts) {
    count = std::min(count, kept);
    kept -= count;
  }
}

/// Returns the value that the same position has in the plain stage.
ExpectedValue as_in(const OperatorStage& plain,
                    const OperatorStage& other,
                    Array array,
                    std::size_t i) {
  const TransformedValue source = transform(ptycho(other.c).symmetry,
                                            ptycho(other.c).scene,
                                            other.in.positions,
                                            array,
                                            static_cast<std::int64_t>(i));
  const std::size_t from = source.terms.front().index;
  return {.value = plain.got[array].values[from],
          .bound = plain.expected[array].errors[from] + other.expected[array].errors[i]};
}

template <Match match>
void check_apart(const Evidence& evidence, Judgement& judgement) {
  const OperatorStage plain = read_stage(evidence, 0);
  const auto compare_with_plain = [&](std::size_t stage, std::string_view what) {
    const OperatorStage other = read_stage(evidence, stage);
    compare_outputs(other, what, judgement, [&](Array array, std::size_t i) {
      ExpectedValue expected = as_in(plain, other, array, i);
      if (match == Match::exact) expected.bound = 0;
      return expected;
    });
  };
  compare_with_plain(1, "depends on the other positions");
  compare_with_plain(2, "depends on the order of the positions");
}

}  // namespace

template <Match match>
harness::Property takes_each_position_alone() {
  return {
      .name = "takes_each_position_alone",
      .summary =
          "A position's result does not depend on the order or the number of the other positions.",
      .program = plan_apart,
      .check = check_apart<match>,
  };
}

template harness::Property takes_each_position_alone<Match::exact>();
template harness::Property takes_each_position_alone<Match::bounded>();

}  // namespace rankcheck::cases
