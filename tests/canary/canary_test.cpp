#include <algorithm>
#include <cstdint>
#include <map>
#include <ostream>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>

#include <gtest/gtest.h>

#include "gpu/device/sim/fault.hpp"

#include "harness/search/engine.hpp"

#include "cases/audit/call_edits.hpp"
#include "cases/audit/catalogue.hpp"
#include "cases/families/ptycho/case.hpp"
#include "cases/suites/catalogue.hpp"
#include "tests/print.hpp"

namespace rankcheck::cases::audit {

/// Prints a parameter for GoogleTest.
void PrintTo(const Bug& bug, std::ostream* out) {
  *out << bug.name;
}

namespace {

using harness::Verdict;

const harness::Catalogue& operations() {
  static const harness::Catalogue all = make_catalogue();
  return all;
}

/// Number of cases without the bug. Every bug is caught in far fewer cases.
constexpr int sound_cases = 100;

/// Returns the outcome of looking for a bug with its own property and the first seed. Several tests
/// ask about the same search, which is most of their work, so each bug is hunted once.
const Hunt& hunted(const Bug& bug) {
  static std::map<std::string_view, Hunt> all;
  const auto found = all.find(bug.name);
  if (found != all.end()) return found->second;
  return all.emplace(bug.name, hunt(operations(), bug, bug.found_by.property)).first->second;
}

/// Returns the outcome of the same search without the mistake. Many bugs of one operation then are
/// the same search, which is made once: all that a sound search depends on is in the key.
const Hunt& hunted_without_mistake(const Bug& bug) {
  const auto address = [](auto* function) { return reinterpret_cast<std::uintptr_t>(function); };
  const bool is_replaced = edits_calls(bug);
  // A correct algorithm takes the place of the bug's own plan, unless a fault hits that plan.
  // A sound operator call also runs as an InterceptedCall, in the stages that the bug would hit.
  const auto key = std::tuple(bug.target.operation,
                              bug.target.algorithm,
                              bug.found_by.property,
                              bug.without.find("stride") != std::string_view::npos,
                              bug.count,
                              bug.count > 0 ? bug.type : spec::Type(),
                              bug.count > 0 ? bug.ranks_max : 0,
                              address(bug.plan),
                              bug.plan != nullptr && bug.fault.empty(),
                              is_replaced,
                              is_replaced ? bug.planted_in : "",
                              is_replaced ? address(bug.hits) : 0);
  static std::map<std::remove_const_t<decltype(key)>, Hunt> all;
  const auto found = all.find(key);
  if (found != all.end()) return found->second;
  return all
      .emplace(
          key,
          hunt(operations(), bug, bug.found_by.property, {.cases = sound_cases, .sound = true}))
      .first->second;
}

class CanaryTest : public testing::TestWithParam<Bug> {};

TEST_P(CanaryTest, PassesWithoutTheBug) {
  const Hunt& found = hunted_without_mistake(GetParam());
  EXPECT_EQ(found.finding.verdict, Verdict::passed) << found.finding.reason;
}

TEST_P(CanaryTest, IsCaughtAndShrinks) {
  const Hunt& found = hunted(GetParam());
  EXPECT_EQ(why_not_caught(GetParam(), found), "");
  if (found.finding.minimal) {
    RecordProperty("minimal", harness::to_text(*found.finding.minimal));
  }
}

/// With the fields that the bug needs switched off, the same search finds nothing.
TEST_P(CanaryTest, NeedsTheFieldsThatItNames) {
  if (GetParam().without.empty()) return;
  const Hunt found =
      hunt(operations(), GetParam(), GetParam().found_by.property, {.without = true});
  EXPECT_EQ(why_not_needed(GetParam(), found), "");
}

TEST_P(CanaryTest, ReplaysFromTheTextOfItsMinimalCase) {
  const Hunt& found = hunted(GetParam());
  ASSERT_TRUE(found.finding.minimal);
  const std::string text = harness::to_text(*found.finding.minimal);
  const harness::Case c = harness::case_from_text(text);
  EXPECT_EQ(c, *found.finding.minimal);
  Planted backend(GetParam());
  harness::Examiner examiner(operations(), backend);
  // A bug that needs a count of its own is never flaky, and each replay takes long.
  const int replays = GetParam().count > 0 ? 1 : 5;
  EXPECT_EQ(replay(examiner, c, {.replays = replays}).verdict, GetParam().found_by.verdict) << text;
}

INSTANTIATE_TEST_SUITE_P(Planted, CanaryTest, testing::ValuesIn(catalogue()), tests::printed_name);

/// A bug that only one seed finds is luck. These bugs are small and found in a few cases.
TEST(SeedsTest, CatchTheBugsOfListsAndAxes) {
  for (const Bug& bug : catalogue()) {
    if (!bug.target.operation.ends_with("_list") && !bug.target.operation.ends_with("_axis"))
      continue;
    for (const std::uint64_t seed : {2, 4, 22}) {
      const Hunt found = hunt(operations(), bug, bug.found_by.property, {.seed = seed});
      EXPECT_EQ(why_not_caught(bug, found), "") << bug.name << ", seed " << seed;
    }
  }
}

/// The tail of one element is the least that can be lost.
TEST(LargeTest, ShrinksToTheLeastCountBeyondALimit) {
  const auto all = catalogue();
  const auto bug = std::find_if(all.begin(), all.end(), [](const Bug& each) {
    return each.name == "tail_behind_64_kib_lost";
  });
  ASSERT_NE(bug, all.end());
  for (const std::uint64_t seed : {1, 2, 3}) {
    const Hunt found =
        seed == 1 ? hunted(*bug) : hunt(operations(), *bug, bug->found_by.property, {.seed = seed});
    ASSERT_EQ(why_not_caught(*bug, found), "") << seed;
    const harness::Case& c = *found.finding.minimal;
    const std::int64_t bytes = spec::info(c.type).bytes;
    EXPECT_EQ(c.count, (std::int64_t{64} << 10) / bytes + 1) << harness::to_text(c);
  }
}

/// Whether the property's own check found the bug. The checks of every case do not count: those of
/// memory, of the backend's faults and of the ranks' agreement.
bool is_caught_by_own_check(const Bug& bug, const Hunt& found) {
  if (!why_not_caught(bug, found).empty()) return false;
  if (operations().find(bug.target.operation)->contract.synchronises) return true;
  if (bug.found_by.property == "ranks_agree_bitwise") return true;
  const std::string& reason = found.finding.reason;
  return reason != "differs from rank 0" && !reason.starts_with("rank ");
}

TEST(CatalogueTest, EveryPropertyCatchesABugByItsOwnCheck) {
  std::set<std::string_view> caught;
  for (const Bug& bug : catalogue()) {
    if (caught.contains(bug.found_by.property)) continue;
    if (is_caught_by_own_check(bug, hunted(bug))) caught.insert(bug.found_by.property);
  }
  for (const harness::Operation& operation : operations().operations()) {
    for (const harness::Property& property : operation.properties) {
      EXPECT_TRUE(caught.contains(property.name)) << property.name;
    }
  }
}

TEST(CatalogueTest, PlantsABugInEveryOperationAndEveryFaultOfTheSimulator) {
  using gpu::sim::Fault;
  std::set<std::string_view> spoiled;
  std::set<Fault::Kind> planted;
  for (const Bug& bug : catalogue()) {
    spoiled.insert(bug.planted_in.empty() ? bug.target.operation : bug.planted_in);
    if (const auto fault = gpu::sim::parse_fault(bug.fault)) planted.insert(fault->kind);
  }
  for (const harness::Operation& operation : operations().operations()) {
    EXPECT_TRUE(spoiled.contains(operation.contract.name)) << operation.contract.name;
  }
  for (const Fault::Kind kind : {Fault::Kind::flip,
                                 Fault::Kind::lost,
                                 Fault::Kind::duplicate,
                                 Fault::Kind::late,
                                 Fault::Kind::dead_rank,
                                 Fault::Kind::stale,
                                 Fault::Kind::overrun}) {
    EXPECT_TRUE(planted.contains(kind)) << gpu::sim::to_text({.kind = kind});
  }
}

TEST(CatalogueTest, PlantsEveryVerdictOfAFailingSubject) {
  std::set<Verdict> verdicts;
  for (const Bug& bug : catalogue()) verdicts.insert(bug.found_by.verdict);
  EXPECT_EQ(
      verdicts,
      (std::set<Verdict>{Verdict::falsified, Verdict::flaky, Verdict::hung, Verdict::crashed}));
}

TEST(CatalogueTest, HasWordsForEveryBugAndNamesThatDiffer) {
  std::set<std::string_view> names;
  for (const Bug& bug : catalogue()) {
    EXPECT_TRUE(names.insert(bug.name).second) << bug.name;
    EXPECT_FALSE(bug.summary.empty()) << bug.name;
    EXPECT_FALSE(bug.found_by.says.empty()) << bug.name;
  }
}

TEST(WhyNotCaughtTest, NamesWhatIsWrong) {
  const Bug bug = catalogue().front();
  const Hunt caught = hunted(bug);
  const auto expect_why = [&](const Hunt& found, const std::string& why) {
    EXPECT_NE(why_not_caught(bug, found).find(why), std::string::npos) << why;
  };
  expect_why(hunt(operations(), bug, bug.found_by.property, {.sound = true}), "got passed");
  Hunt found = caught;
  found.had_effect = false;
  expect_why(found, "changed nothing");
  found = caught;
  found.finding.minimal->count = 5;
  expect_why(found, "at most");
  found = caught;
  found.finding.minimal->part = PtychoCase{.scene = {.rows = 1, .cols = 5}};
  expect_why(found, "got 5 pixels, expected at most 4");
  found = caught;
  found.finding.reason = "no reason";
  expect_why(found, "expected to read");
}

}  // namespace
}  // namespace rankcheck::cases::audit
