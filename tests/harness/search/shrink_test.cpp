#include "harness/search/shrink.hpp"

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "reference/spec/to_size.hpp"

#include "harness/search/generator.hpp"

#include "cases/families/collectives/case.hpp"
#include "tests/harness/fake.hpp"
#include "tests/harness/text.hpp"

namespace rankcheck::harness {
namespace {

using cases::collective;

using Fails = std::function<bool(const Case&)>;

struct ShrinkTest : testing::Test {
  Catalogue catalogue = fake::catalogue();

  [[nodiscard]] std::vector<Case> candidates_of(const Case& c) const {
    std::vector<Case> candidates{Case{}};
    shrinks(catalogue, c, candidates);
    return candidates;
  }
  void expect_candidate(const Case& c, const Case& expected) const {
    const std::vector<Case> all = candidates_of(c);
    EXPECT_NE(std::find(all.begin(), all.end(), expected), all.end());
  }

  /// Takes the first failing candidate again and again until no candidate fails.
  Case shrink(Case c, const Fails& fails) const {
    EXPECT_TRUE(fails(c)) << to_text(c);
    for (;;) {
      const std::vector<Case> candidates = candidates_of(c);
      const auto found = std::find_if(candidates.begin(), candidates.end(), fails);
      if (found == candidates.end()) return c;
      c = *found;
    }
  }

  /// Returns the text of the case to which `n` failing generated cases shrink. Expects that all of
  /// them shrink to the same case.
  std::string minimal(const std::string& operation, const Fails& fails, int n = 10) const {
    const fake::FakeBackend backend;
    Generator generator(catalogue, backend, fake::unit(operation), 1);
    std::string text;
    Case c;
    for (std::uint64_t word = 0; n > 0 && word < 5000; ++word) {
      EXPECT_TRUE(generator.next(word, static_cast<int>(word % 101), c));
      if (!fails(c)) continue;
      Case small = shrink(c, fails);
      small.algorithm = small.property = "";
      const std::string each = to_text(small);
      if (text.empty()) text = each;
      EXPECT_EQ(text, each) << "from " << to_text(c);
      --n;
    }
    EXPECT_EQ(n, 0) << "too few cases fail";
    return text;
  }

  /// Expects that what fails so shrinks to a case with these fields, as JSON.
  void expect_minimal(const std::string& operation,
                      const std::string& fields,
                      const Fails& fails) const {
    SCOPED_TRACE(fields);
    EXPECT_TRUE(has(minimal(operation, fails), fields));
  }
};

TEST_F(ShrinkTest, TheRootStaysTheSameRankWhereOthersGo) {
  const Case c = case_from_text(
      R"({"operation":"broadcast","property":"completes","ranks":4,"root":2,"count":1})");
  Case smaller = c;
  smaller.ranks = 3;
  collective(smaller).root = 1;
  expect_candidate(c, smaller);
}

TEST_F(ShrinkTest, CandidatesAreLegalAndSimplerAndOfTheSameSubject) {
  const fake::FakeBackend backend;
  for (const Operation& operation : catalogue.operations()) {
    Generator generator(catalogue, backend, fake::unit(std::string(operation.contract.name)), 1);
    Case c;
    for (std::uint64_t word = 0; word < 40; ++word) {
      ASSERT_TRUE(generator.next(word, 50, c));
      c.fault = "lost";
      for (const Case& candidate : candidates_of(c)) {
        ASSERT_EQ(why_invalid(catalogue, candidate), "") << to_text(candidate);
        ASSERT_TRUE(is_simpler(candidate, c)) << to_text(candidate) << " from " << to_text(c);
        ASSERT_FALSE(is_simpler(c, candidate));
        Case subject = candidate;
        subject.operation = c.operation;
        subject.algorithm = c.algorithm;
        subject.backend = c.backend;
        subject.property = c.property;
        subject.fault = c.fault;
        ASSERT_EQ(subject, candidate);
      }
    }
  }
}

TEST_F(ShrinkTest, TheSimplestCaseAndOneOfAnUnknownOperationHaveNoCandidates) {
  for (const char* text : {R"({"operation":"all_reduce","property":"completes","ranks":1,)"
                           R"("op":"sum","input":"coded"})",
                           R"({"operation":"unheard_of","ranks":1,"count":9})"}) {
    EXPECT_TRUE(candidates_of(case_from_text(text)).empty()) << text;
  }
}

TEST_F(ShrinkTest, WhateverFailsShrinksToTheSimplestCase) {
  const auto always = [](const Case&) { return true; };
  EXPECT_EQ(minimal("all_reduce", always),
            R"({"operation":"all_reduce","backend":"fake","property":"","ranks":1,"type":"f32",)"
            R"("op":"sum","input":"coded"})");
}

TEST_F(ShrinkTest, FindsThreeRanksAndOneElement) {
  const Case c = shrink(
      case_from_text(R"({"operation":"all_reduce","property":"completes",)"
                     R"("backend":"fake","ranks":7,"count":38,"type":"f16","op":"max",)"
                     R"("group":[6,1,4,3,0],"schedule":"pct:77","offset":3})"),
      [](const Case& each) { return group_size(each) >= 3 && each.count % group_size(each) != 0; });
  EXPECT_EQ(c.ranks, 3);
  EXPECT_TRUE(c.group.empty());
  EXPECT_EQ(c.count, 1);
  EXPECT_EQ(c.schedule, "in_order");
}

TEST_F(ShrinkTest, FindsTheSmallestValueOfAField) {
  using C = const Case&;
  expect_minimal("all_reduce", R"("count":37,)", [](C c) { return c.count >= 37; });
  expect_minimal("reduce", R"("ranks":2,"root":1)", [](C c) { return collective(c).root != 0; });
  expect_minimal(
      "send_recv", R"("shift":-1)", [](C c) { return c.ranks > 2 && collective(c).shift < 0; });
  expect_minimal("all_reduce", R"("type":"f64","op":"sum")", [](C c) {
    return spec::info(c.type).bytes == 8;
  });
  expect_minimal("all_reduce", R"("schedule":"pct:5")", [](C c) {
    return c.schedule.starts_with("pct:") && std::stoi(c.schedule.substr(4)) >= 5;
  });
}

TEST_F(ShrinkTest, FindsTheSmallestProperSubsetAndTheSmallestDisorder) {
  expect_minimal("all_reduce", R"("ranks":2,"group":[0])", [](const Case& c) {
    return group_size(c) < c.ranks;
  });
  expect_minimal("all_reduce", R"("ranks":2,"group":[1,0])", [](const Case& c) {
    return !std::is_sorted(c.group.begin(), c.group.end());
  });
}

/// Also the fewest arrays of a list. A rank goes with its row and its column.
TEST_F(ShrinkTest, FindsTheFewestCounts) {
  expect_minimal("gather_v", R"("ranks":2,"counts":[1,0])", [](const Case& c) {
    return std::adjacent_find(c.counts.begin(), c.counts.end(), std::not_equal_to<>()) !=
           c.counts.end();
  });
  expect_minimal("all_reduce_list", R"("ranks":1,"counts":[2,0])", [](const Case& c) {
    return c.counts.size() >= 2 && *std::max_element(c.counts.begin(), c.counts.end()) >= 2;
  });
  expect_minimal("all_to_all_v", R"("ranks":1,"counts":[3])", [](const Case& c) {
    const auto n = spec::to_size(group_size(c));
    for (std::size_t r = 0; r < n; ++r) {
      if (c.counts[r * n + r] >= 3) return true;
    }
    return false;
  });
}

TEST_F(ShrinkTest, TriesOtherDataInSmallerCases) {
  expect_minimal("all_reduce", R"("ranks":2,"count":1,)", [](const Case& c) {
    if (c.ranks < 2) return false;
    return c.data_seed == 5 ? c.count >= 1 : c.data_seed > 1000 && c.count >= 20;
  });
}

TEST_F(ShrinkTest, TakesTheLastElementAlone) {
  const std::string text = minimal("all_reduce", [](const Case& c) {
    return collective(c).first_index <= 16 && collective(c).first_index + c.count > 16;
  });
  EXPECT_TRUE(has(text, "\"count\":1,", "\"first_index\":16"));
}

/// The members of the world that takes the place of a group stay on their hosts.
TEST_F(ShrinkTest, AGroupLeavesItsHostsToTheWorld) {
  const Case c =
      case_from_text(R"({"operation":"broadcast","property":"completes","ranks":3,"group":[0,2,1],)"
                     R"("hosts":[0,0,1],"count":1})");
  Case world = c;
  world.group.clear();
  world.hosts = {0, 1, 0};
  expect_candidate(c, world);
}

TEST_F(ShrinkTest, CountsInPlaceStayTheSameBothWays) {
  expect_minimal("all_to_all_v", R"("ranks":2,"counts":[0,2,2,0])", [](const Case& c) {
    return c.in_place && group_size(c) > 1 && c.counts[1] >= 2;
  });
}

}  // namespace
}  // namespace rankcheck::harness
