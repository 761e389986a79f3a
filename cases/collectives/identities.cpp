#include "reference/spec/to_size.hpp"

#include "cases/collectives/composition.hpp"
#include "cases/collectives/properties.hpp"
#include "cases/families/collectives/case.hpp"

namespace rankcheck::cases {

namespace {

/// The pattern one_way has no reverse: odd ranks never send.
bool has_reverse(const spec::Contract& contract, const harness::Case& c) {
  return applies_out_of_place(contract, c) && collective(c).pattern != spec::Pattern::one_way;
}

}  // namespace

harness::Property equals_gather_then_broadcast() {
  return composes(
      "equals_gather_then_broadcast",
      "An all_gather is a gather followed by a broadcast.",
      [](const spec::Contract&, const harness::Case& c, std::vector<harness::Case>& stages) {
        harness::Case gather = stage_of(c, "gather");
        collective(gather).root =
            static_cast<int>(c.data_seed % static_cast<std::uint64_t>(group_size(c)));
        harness::Case broadcast = next_stage_of(gather, "broadcast");
        broadcast.count = c.count * group_size(c);
        stages = {c, gather, broadcast};
      });
}

harness::Property equals_reduce_then_broadcast() {
  return composes(
      "equals_reduce_then_broadcast",
      "An all_reduce is a reduce followed by a broadcast.",
      [](const spec::Contract&, const harness::Case& c, std::vector<harness::Case>& stages) {
        harness::Case reduce = stage_of(c, "reduce");
        collective(reduce).root =
            static_cast<int>(c.data_seed % static_cast<std::uint64_t>(group_size(c)));
        harness::Case broadcast = next_stage_of(reduce, "broadcast");
        collective(broadcast).op = spec::ReduceOp::none;
        stages = {c, reduce, broadcast};
      });
}

harness::Property equals_reduce_scatter_then_all_gather() {
  return composes(
      "equals_reduce_scatter_then_all_gather",
      "An all_reduce is a reduce_scatter followed by an all_gather.",
      [](const spec::Contract&, const harness::Case& c, std::vector<harness::Case>& stages) {
        harness::Case scatter = in_parts(stage_of(c, "reduce_scatter_v"));
        harness::Case gather = next_stage_of(scatter, "all_gather_v");
        collective(gather).op = spec::ReduceOp::none;
        stages = {c, scatter, gather};
      });
}

harness::Property is_an_involution() {
  return returns(
      "is_an_involution",
      "Two all_to_all calls in a row return the original data.",
      [](const spec::Contract&, const harness::Case& c, std::vector<harness::Case>& stages) {
        stages.assign(2, c);
        stages[1].input = harness::InputKind::previous;
      });
}

harness::Property returns_by_the_transpose() {
  return returns(
      "returns_by_the_transpose",
      "An all_to_all_v followed by one with transposed counts returns the data.",
      [](const spec::Contract&, const harness::Case& c, std::vector<harness::Case>& stages) {
        stages.assign(2, c);
        stages[1].input = harness::InputKind::previous;
        const auto n = spec::to_size(group_size(c));
        for (std::size_t i = 0; i < n * n; ++i) {
          stages[1].counts[i] = c.counts[(i % n) * n + i / n];
        }
      });
}

harness::Property equals_scatter_then_all_gather() {
  return composes(
      "equals_scatter_then_all_gather",
      "A broadcast is a scatter followed by an all_gather.",
      [](const spec::Contract&, const harness::Case& c, std::vector<harness::Case>& stages) {
        harness::Case scatter = in_parts(stage_of(c, "scatter_v"));
        stages = {c, scatter, next_stage_of(scatter, "all_gather_v")};
        collective(stages.back()).root = 0;
      });
}

harness::Property equals_reduce_then_scatter() {
  return composes(
      "equals_reduce_then_scatter",
      "A reduce_scatter is a reduce followed by a scatter.",
      [](const spec::Contract&, const harness::Case& c, std::vector<harness::Case>& stages) {
        harness::Case reduce = stage_of(c, "reduce");
        reduce.count = c.count * group_size(c);
        harness::Case scatter = next_stage_of(c, "scatter");
        collective(scatter).op = spec::ReduceOp::none;
        stages = {c, reduce, scatter};
      });
}

harness::Property returns_by_the_reverse() {
  harness::Property property = returns(
      "returns_by_the_reverse",
      "Sending along a pattern and back along its reverse returns the data.",
      [](const spec::Contract&, const harness::Case& c, std::vector<harness::Case>& stages) {
        stages.assign(2, c);
        stages[1].input = harness::InputKind::previous;
        collective(stages[1]).shift = -collective(c).shift;
      });
  property.applies = has_reverse;
  property.adapt = [](const spec::Contract& contract, harness::Case& c) {
    adapt_out_of_place(contract, c);
    if (!has_reverse(contract, c)) collective(c).pattern = spec::Pattern::pairs;
  };
  return property;
}

}  // namespace rankcheck::cases
