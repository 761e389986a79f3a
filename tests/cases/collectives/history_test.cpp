#include <algorithm>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "gpu/collectives/registry.hpp"

#include "harness/base/random_source.hpp"
#include "harness/check/call_history.hpp"
#include "harness/check/operation.hpp"
#include "harness/search/engine.hpp"
#include "harness/search/generator.hpp"
#include "harness/search/shrink.hpp"

#include "cases/backends/sim.hpp"
#include "cases/families/collectives/case.hpp"
#include "tests/cases/collectives/spoiled.hpp"
#include "tests/harness/text.hpp"

namespace rankcheck::cases {
namespace {

using harness::Case;
using harness::case_from_text;
using harness::has;
using harness::to_text;

class HistoryTest : public testing::Test {
 protected:
  static Case with_earlier(const std::string& earlier) {
    return case_from_text(
        R"({"operation":"all_reduce","property":"is_independent_of_history","ranks":3,)"
        R"("count":2,"op":"sum","earlier":)" +
        earlier + "}");
  }
  /// What is wrong with these earlier calls, whether it is noticed when they are read or later.
  [[nodiscard]] std::string why_invalid(const std::string& earlier) const {
    try {
      return harness::why_invalid(catalogue_, with_earlier(earlier));
    } catch (const harness::BadInput& bad) {
      return bad.what();
    }
  }

  /// Cases of this operation by the algorithm "direct".
  [[nodiscard]] std::vector<Case> drawn(
      const std::string& operation,
      int n,
      const SimBackend& backend = SimBackend(gpu::implementations())) const {
    harness::Unit unit;
    unit.operation = operation;
    unit.algorithm = "direct";
    unit.backend = "sim";
    unit.property = "is_independent_of_history";
    harness::Generator generator(catalogue_, backend, unit, 1);
    harness::RandomSource words(1);
    std::vector<Case> all(static_cast<std::size_t>(n));
    int size = 0;
    for (Case& c : all) EXPECT_TRUE(generator.next(words.next(), size++ % 101, c));
    return all;
  }

  /// Takes the first failing candidate again and again until no candidate fails.
  [[nodiscard]] Case shrunk(Case c, const std::function<bool(const Case&)>& fails) const {
    for (;;) {
      std::vector<Case> candidates;
      harness::shrinks(catalogue_, c, candidates);
      const auto found = std::ranges::find_if(candidates, fails);
      if (found == candidates.end()) return c;
      c = *found;
    }
  }

  const harness::Catalogue& catalogue_ = all_operations();
};

TEST_F(HistoryTest, CallsAreWrittenAsTheyAreRead) {
  const std::string text =
      R"([{"operation":"barrier","type":"f32"},)"
      R"({"operation":"gather","group":[2,0],"root":1,"count":1,"type":"int8"}])";
  const Case c = with_earlier(text);
  EXPECT_TRUE(has(to_text(c), ",\"earlier\":" + text + "}"));
  EXPECT_EQ(case_from_text(to_text(c)), c);
  EXPECT_EQ(harness::why_invalid(catalogue_, c), "");
  EXPECT_EQ(c.earlier[1].ranks, 3);
}

TEST_F(HistoryTest, BadCallsAreNamed) {
  EXPECT_EQ(why_invalid("7"), "case: earlier: expected a list of calls");
  EXPECT_EQ(why_invalid("[7]"), "case: earlier: call 0: case: got 7, expected a JSON object");
  EXPECT_EQ(why_invalid(R"([{"operation":"barrier","ranks":3}])"),
            "case: earlier: call 0: ranks: is that of the case, expected no value");
  EXPECT_EQ(why_invalid(R"([{"operation":"barrier"},{"operation":"broadcst"}])"),
            R"(earlier: call 1: operation: unknown name "broadcst"; did you mean broadcast?)");
  EXPECT_EQ(why_invalid(R"([{"operation":"pad"}])"),
            "earlier: call 0: operation: pad is of another family than all_reduce");
  EXPECT_EQ(why_invalid(R"([{"operation":"barrier","group":[3]}])"),
            "earlier: call 0: group: got 3, expected ranks in 0..2");
  EXPECT_EQ(why_invalid(R"([{"operation":"barrier","earlier":[{"operation":"barrier"}]}])"),
            "earlier: call 0: earlier: expected none in an earlier call");
  std::string many = R"({"operation":"barrier"})";
  for (int i = 0; i < 64; ++i) many += R"(,{"operation":"barrier"})";
  EXPECT_EQ(why_invalid("[" + many + "]"), "earlier: got 65 calls, expected at most 64");
  Case c = with_earlier(R"([{"operation":"barrier","overlaps":true}])");
  EXPECT_EQ(harness::why_invalid(catalogue_, c), "");
  c.overlaps = true;
  EXPECT_EQ(harness::why_invalid(catalogue_, c), "overlaps: expected true in earlier calls only");
  c.overlaps = false;
  c.frees = true;
  EXPECT_EQ(harness::why_invalid(catalogue_, c), "frees: expected true in earlier calls only");
  EXPECT_EQ(why_invalid(R"([{"operation":"barrier","frees":true}])"), "");
  EXPECT_EQ(why_invalid(R"([{"operation":"barrier","overlaps":true},)"
                        R"({"operation":"barrier","frees":true}])"),
            "earlier: call 1: frees: expected false while calls overlap");
  c.frees = false;
  c.property = "agrees_with_reference";
  EXPECT_EQ(harness::why_invalid(catalogue_, c),
            "earlier: the property agrees_with_reference has no earlier calls");
}

TEST_F(HistoryTest, CallsAreOfAllOperationsAndOfSmallerGroups) {
  std::set<std::string> operations;
  std::set<std::size_t> numbers;
  bool has_group = false;
  bool has_same_shape = false;
  for (const Case& c : drawn("all_gather", 300)) {
    EXPECT_EQ(harness::why_invalid(catalogue_, c), "") << to_text(c);
    numbers.insert(c.earlier.size());
    for (const Case& call : c.earlier) {
      operations.insert(call.operation);
      has_group |= group_size(call) < group_size(c);
      has_same_shape |= call.operation == c.operation && call.count == c.count &&
                        call.group == c.group && call.data_seed != c.data_seed;
    }
  }
  EXPECT_GE(operations.size(), 20U);
  EXPECT_TRUE(operations.contains("barrier"));
  EXPECT_TRUE(has_group && has_same_shape);
  EXPECT_LE(numbers.size() > 0 ? *numbers.rbegin() : 0, 15U);
  EXPECT_GE(numbers.size(), 8U);
}

/// Communicators can be freed, except that of the whole world.
class FreeingBackend : public SimBackend {
 public:
  FreeingBackend() : SimBackend(gpu::implementations()), traits_(SimBackend::traits()) {
    traits_.frees_groups = true;
  }
  [[nodiscard]] const harness::BackendTraits& traits() const override { return traits_; }
  [[nodiscard]] std::string why_refused(const Case& c) const override {
    if (c.frees && c.group.empty()) return "frees: not that of the world";
    Case other = c;
    other.frees = false;
    return SimBackend::why_refused(other);
  }

 private:
  harness::BackendTraits traits_;
};

TEST_F(HistoryTest, SomeCasesFreeCommunicatorsAndInOthersCallsOverlap) {
  std::size_t frees = 0;
  std::size_t overlaps = 0;
  for (const Case& c : drawn("all_gather", 300, FreeingBackend())) {
    EXPECT_EQ(harness::why_invalid(catalogue_, c), "") << to_text(c);
    const auto of_case = std::ranges::count(c.earlier, true, &Case::frees);
    const auto under_way = std::ranges::count(c.earlier, true, &Case::overlaps);
    EXPECT_TRUE(of_case == 0 || under_way == 0) << to_text(c);
    frees += of_case > 0 ? 1 : 0;
    overlaps += under_way > 0 ? 1 : 0;
  }
  EXPECT_GT(frees, 10U);
  EXPECT_GT(overlaps, 10U);
}

/// An all_reduce on several ranks is wrong if a call with root 1 came before since the start.
class ForgetfulBackend : public SimBackend {
 public:
  ForgetfulBackend() : SimBackend(gpu::implementations()) {}

  void run(std::span<const Case> stages, harness::Observation& observation) override {
    SimBackend::run(stages, observation);
    for (std::size_t s = 0; s < stages.size(); ++s) {
      if (stages[s].operation == "all_reduce" && had_root_ && group_size(stages[s]) > 1) {
        harness::ImageLayout layout;
        lay_out(contract_of(stages[s]), stages[s], 0, harness::ResultPlace::own_block, layout);
        harness::Image& image = observation.stages[s].images[0];
        if (layout.recv_size > 0) image[static_cast<std::size_t>(layout.recv)] ^= std::byte{0x40};
      }
      had_root_ = had_root_ || collective(stages[s]).root == 1;
    }
  }
  void restart(int /*ranks*/) override { had_root_ = false; }

 private:
  bool had_root_ = false;
};

TEST_F(HistoryTest, AFailureThatNeedsEarlierCasesGetsTheirCalls) {
  ForgetfulBackend backend;
  harness::CallHistory history;
  harness::RunLimits limits;
  limits.history = &history;
  harness::Unit unit;
  unit.operation = "broadcast";
  unit.algorithm = "binomial";
  unit.backend = "sim";
  unit.property = "agrees_with_reference";
  unit.cases = 20;
  unit.require_all_cells = false;
  EXPECT_EQ(run_unit(catalogue_, backend, unit, limits).verdict, harness::Verdict::passed);
  unit.operation = "all_reduce";
  unit.algorithm = "direct";
  const harness::Finding finding = run_unit(catalogue_, backend, unit, limits);
  EXPECT_EQ(finding.verdict, harness::Verdict::falsified) << finding.reason;
  EXPECT_EQ(finding.replays_failed, finding.replays);
  Case minimal = finding.minimal.value();
  ASSERT_EQ(minimal.earlier.size(), 1U);
  minimal.earlier[0].algorithm.clear();
  EXPECT_EQ(to_text(minimal),
            R"({"operation":"all_reduce","algorithm":"direct","backend":"sim",)"
            R"("property":"is_independent_of_history","ranks":2,"count":1,"type":"f32","op":"sum",)"
            R"("input":"coded","earlier":[{"operation":"broadcast","root":1,"type":"f32",)"
            R"("input":"coded"}]})");
  EXPECT_EQ(finding.original->property, "agrees_with_reference");
}

/// Only the second call before a call matters, and only its root.
TEST_F(HistoryTest, ShrinksToTheCallsThatMatter) {
  const auto fails = [](const Case& c) {
    return std::ranges::any_of(c.earlier, [](const Case& call) {
      return call.operation == "broadcast" && group_size(call) > 1 && collective(call).root == 1;
    });
  };
  int shrunk_cases = 0;
  for (const Case& c : drawn("all_reduce", 300)) {
    if (!fails(c) || shrunk_cases == 3) continue;
    ++shrunk_cases;
    Case small = shrunk(c, fails);
    small.earlier[0].algorithm.clear();
    EXPECT_EQ(to_text(small),
              R"({"operation":"all_reduce","algorithm":"direct","backend":"sim",)"
              R"("property":"is_independent_of_history","ranks":2,"type":"f32","op":"sum",)"
              R"("input":"coded","earlier":[{"operation":"broadcast","root":1,"type":"f32",)"
              R"("input":"coded"}]})");
  }
  EXPECT_EQ(shrunk_cases, 3);
}

/// Any operation with elements matters, and that it overlaps.
TEST_F(HistoryTest, ShrinksOtherOperationsToBroadcast) {
  const auto fails = [](const Case& c) {
    return std::ranges::any_of(
        c.earlier, [](const Case& call) { return call.overlaps && harness::longest(call) > 0; });
  };
  std::set<std::string> operations;
  for (Case c : drawn("all_reduce", 100)) {
    for (Case& call : c.earlier) call.overlaps = true;
    if (!fails(c)) continue;
    for (const Case& call : c.earlier) operations.insert(call.operation);
    Case small = shrunk(c, fails);
    small.earlier[0].algorithm.clear();
    EXPECT_EQ(to_text(small),
              R"({"operation":"all_reduce","algorithm":"direct","backend":"sim",)"
              R"("property":"is_independent_of_history","ranks":1,"type":"f32","op":"sum",)"
              R"("input":"coded","earlier":[{"operation":"broadcast","count":1,"type":"f32",)"
              R"("overlaps":true,"input":"coded"}]})");
  }
  EXPECT_GE(operations.size(), 15U);
}

TEST_F(HistoryTest, CandidatesAreValidAndOfOneWorld) {
  std::vector<Case> candidates;
  for (const Case& c : drawn("scatter", 40)) {
    harness::shrinks(catalogue_, c, candidates);
    for (const Case& each : candidates) {
      ASSERT_TRUE(harness::is_simpler(each, c));
      for (const Case& call : each.earlier) {
        ASSERT_EQ(call.ranks, each.ranks);
        ASSERT_EQ(call.hosts, each.hosts);
      }
    }
  }
}

}  // namespace
}  // namespace rankcheck::cases
