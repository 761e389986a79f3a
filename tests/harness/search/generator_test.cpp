#include "harness/search/generator.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "reference/collectives/all_gather/contract.hpp"
#include "reference/collectives/all_to_all/contract.hpp"
#include "reference/spec/to_size.hpp"

#include "harness/backend/call_classes.hpp"
#include "harness/case/image.hpp"

#include "cases/families/collectives/case.hpp"
#include "tests/harness/search/engine_fixture.hpp"

namespace rankcheck::harness {
namespace {

using cases::collective;

std::vector<Case> generate(const Catalogue& catalogue,
                           const Backend& backend,
                           const Unit& unit,
                           int cases,
                           std::uint64_t seed = 1) {
  Generator generator(catalogue, backend, unit, seed);
  RandomSource words(seed);
  std::vector<Case> all(spec::to_size(cases));
  int size = 0;
  for (Case& c : all) {
    EXPECT_TRUE(generator.next(words.next(), size++ % 101, c));
    generator.cover(c, longest(c) > 0);
  }
  return all;
}

using Names = std::set<std::string>;

struct GeneratorTest : EngineTest {
  [[nodiscard]] std::vector<Case> cases(const Unit& of, int n) const {
    return generate(catalogue, backend, of, n);
  }
  [[nodiscard]] std::vector<Case> cases(const std::string& operation, int n) const {
    return cases(fake::unit(operation), n);
  }

  /// Expects that so many cases of an operation cover every cell.
  void expect_all_covered(const Operation& operation, int enough) const {
    const std::string name(operation.contract.name);
    Generator generator(catalogue, backend, fake::unit(name), 1);
    RandomSource words(1);
    Case c;
    for (int i = 0; i < enough; ++i) {
      ASSERT_TRUE(generator.next(words.next(), i, c));
      generator.cover(c, longest(c) > 0 || operation.contract.synchronises);
    }
    for (const SiteCell& each : generator.sites()) {
      EXPECT_GT(each.covered, 0) << name << " " << each.site.name;
    }
    for (const Cell& each : generator.cells()) {
      EXPECT_GT(each.covered, 0) << name << " " << each.name();
    }
  }

  [[nodiscard]] Generator generator() const { return {catalogue, backend, unit, 1}; }
  /// The call classes of a unit whose names begin so.
  [[nodiscard]] Names sites(const Unit& of, std::string_view beginning) const {
    Names names;
    const Generator generator(catalogue, backend, of, 1);
    for (const SiteCell& each : generator.sites()) {
      if (each.site.name.starts_with(beginning)) names.insert(each.site.name);
    }
    return names;
  }
};

using Predicate = std::function<bool(const Case&)>;

/// Expects that some case is of each class. The classes have names.
void expect_some(const std::vector<Case>& cases,
                 const std::vector<std::pair<std::string, Predicate>>& classes) {
  for (const auto& [what, is] : classes) {
    EXPECT_TRUE(std::any_of(cases.begin(), cases.end(), is)) << "no case with " << what;
  }
}

bool is_identity(const Case& c) {
  return static_cast<int>(c.group.size()) == c.ranks &&
         std::is_sorted(c.group.begin(), c.group.end());
}

TEST_F(GeneratorTest, EveryCaseIsLegal) {
  for (const Operation& operation : catalogue.operations()) {
    for (const Case& c : cases(std::string(operation.contract.name), 500)) {
      ASSERT_EQ(why_invalid(catalogue, c), "") << to_text(c);
      ASSERT_FALSE(is_identity(c)) << to_text(c);
    }
  }
}

TEST_F(GeneratorTest, CasesStayShort) {
  for (const Case& c : cases("all_reduce", 500)) EXPECT_LT(to_text(c).size(), 330U) << to_text(c);
}

TEST_F(GeneratorTest, EveryNumberOfRanksAndEveryRootOccurs) {
  std::set<std::pair<int, int>> roots;
  for (const Case& c : cases("broadcast", 3000)) {
    if (c.group.empty()) roots.insert({c.ranks, collective(c).root});
  }
  EXPECT_EQ(roots.size(), 8U * 9U / 2U);
}

TEST_F(GeneratorTest, EveryClassOfGroupOccurs) {
  const auto size = [](const Case& c) { return static_cast<int>(c.group.size()); };
  const auto sorted = [](const Case& c) { return std::is_sorted(c.group.begin(), c.group.end()); };
  expect_some(
      cases("all_reduce", 1000),
      {{"the whole world", [&](const Case& c) { return size(c) == 0 && c.ranks > 1; }},
       {"a single member", [&](const Case& c) { return size(c) == 1 && c.ranks > 1; }},
       {"members in order", [&](const Case& c) { return size(c) > 1 && sorted(c); }},
       {"members out of order", [&](const Case& c) { return !sorted(c); }},
       {"the world reordered", [&](const Case& c) { return size(c) == c.ranks && !sorted(c); }}});
}

TEST_F(GeneratorTest, EveryClassOfCountOccurs) {
  const auto all = cases("reduce_scatter", 1000);
  std::set<std::int64_t> counts;
  std::set<std::int64_t> counts_of_seven;
  for (const Case& c : all) {
    counts.insert(c.count);
    if (group_size(c) == 7) counts_of_seven.insert(c.count);
  }
  for (const int count : {0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 37}) {
    EXPECT_TRUE(counts.contains(count)) << count;
  }
  for (const int count : {6, 7, 8}) EXPECT_TRUE(counts_of_seven.contains(count)) << count;
  EXPECT_GT(*counts.rbegin(), 1000);
  const auto large =
      std::count_if(all.begin(), all.end(), [](const Case& c) { return c.count > 100; });
  EXPECT_LT(large, 100);
}

std::int64_t block_bytes(const Case& c) {
  return longest(c) * spec::info(c.type).bytes;
}

/// A case of too many bytes for its limit gets fewer members.
TEST_F(GeneratorTest, EveryStratumOccursOnSeveralRanks) {
  const auto moves = [](const spec::Contract& contract) {
    return Operation{contract, {fake::completes()}};
  };
  const Catalogue operations({moves(reference::all_gather::contract()),
                              moves(reference::all_to_all::contract()),
                              moves(reference::broadcast::contract()),
                              moves(reference::all_reduce::contract()),
                              moves(reference::reduce_scatter::contract())});
  const fake::FakeBackend every_call;
  for (const Operation& operation : operations.operations()) {
    std::array<int, strata.size()> met{};
    Generator generator(
        operations, every_call, fake::unit(std::string(operation.contract.name)), 1);
    RandomSource words(1);
    Case c;
    for (int i = 0; i < 400'000 && std::count(met.begin(), met.end(), 0) > 0; ++i) {
      ASSERT_TRUE(generator.next(words.next(), i % 101, c));
      generator.cover(c, true);
      if (block_bytes(c) < strata.front().bytes - 16) continue;
      ASSERT_LE(bytes_of_images(operation.contract, c), strata.back().images_max);
      for (std::size_t k = 0; k < strata.size() && group_size(c) > 1; ++k) {
        met.at(k) +=
            block_bytes(c) >= strata.at(k).bytes - 16 && block_bytes(c) < 2 * strata.at(k).bytes;
      }
    }
    for (std::size_t k = 0; k < strata.size(); ++k) {
      EXPECT_GT(met.at(k), 0) << operation.contract.name << " " << strata.at(k).bytes;
    }
  }
}

TEST_F(GeneratorTest, MostCasesAreSmall) {
  for (const std::string operation : {"reduce_scatter", "gather_v", "all_reduce_list"}) {
    const auto all = cases(operation, 40'000);
    const auto large = [&](std::int64_t limit) {
      return std::count_if(
          all.begin(), all.end(), [&](const Case& c) { return block_bytes(c) >= limit; });
    };
    EXPECT_GT(large(std::int64_t{64} << 10), 5) << operation;
    EXPECT_LT(large(std::int64_t{64} << 10), 40'000 / 512) << operation;
    EXPECT_GT(large(std::int64_t{256} << 10), 0) << operation;
  }
}

TEST_F(GeneratorTest, AUnitsCountIsThatOfItsCases) {
  unit = fake::unit("broadcast");
  unit.count = 123'456;
  backend.traits().has_delays = backend.traits().has_arrivals = true;
  for (const Case& c : cases(unit, 20)) {
    EXPECT_EQ(c.count, 123'456);
    EXPECT_TRUE(c.in_place && c.group.empty() && c.chunk == 0 && c.offset == 0) << to_text(c);
    EXPECT_TRUE(c.late == -1 && !c.pending) << to_text(c);
  }
}

TEST_F(GeneratorTest, AUnitWithACountHasTheFirstTypeThatIsTaken) {
  unit = fake::unit("broadcast");
  unit.count = 70'000;
  unit.types = {spec::Type::int8, spec::Type::f64, spec::Type::int32};
  backend.refusal = [](const Case& c) { return c.type == spec::Type::int8 ? "no" : ""; };
  for (const Case& c : cases(unit, 10)) EXPECT_EQ(c.type, spec::Type::f64);
}

TEST_F(GeneratorTest, EveryShapeOfCountsOccurs) {
  const auto times = [](const Case& c, std::int64_t count) {
    return std::count(c.counts.begin(), c.counts.end(), count);
  };
  const auto is_equal = [&](const Case& c) {
    return times(c, c.counts[0]) == std::ssize(c.counts);
  };
  const auto is_increasing = [](const Case& c) {
    return std::is_sorted(c.counts.begin(), c.counts.end());
  };
  const auto has_one_above = [](const Case& c, std::int64_t limit) {
    const auto is_above = [&](std::int64_t n) { return n > limit; };
    return std::count_if(c.counts.begin(), c.counts.end(), is_above) == 1;
  };
  const auto is_long = [](const Case& c) { return c.counts.size() > 2; };
  for (const std::string operation : {"gather_v", "all_to_all_v"}) {
    SCOPED_TRACE(operation);
    expect_some(
        cases(operation, 1000),
        {{"equal", [&](const Case& c) { return is_long(c) && is_equal(c) && c.counts[0] > 0; }},
         {"one empty", [&](const Case& c) { return is_long(c) && times(c, 0) == 1; }},
         {"all empty", [&](const Case& c) { return times(c, 0) == std::ssize(c.counts); }},
         {"increasing",
          [&](const Case& c) { return is_long(c) && !is_equal(c) && is_increasing(c); }},
         {"one huge",
          [&](const Case& c) { return is_long(c) && has_one_above(c, 1) && has_one_above(c, 15); }},
         {"a gap", [](const Case& c) { return collective(c).gap > 0; }}});
  }
}

TEST_F(GeneratorTest, EverySiteOccurs) {
  expect_some(cases("all_reduce", 500),
              {{"in place", [](const Case& c) { return c.in_place; }},
               {"out of place", [](const Case& c) { return !c.in_place; }},
               {"an offset", [](const Case& c) { return c.offset == 15; }},
               {"no offset", [](const Case& c) { return c.offset == 0; }},
               {"a chunk", [](const Case& c) { return c.chunk == 1; }},
               {"in_order", [](const Case& c) { return c.schedule == "in_order"; }},
               {"random", [](const Case& c) { return c.schedule.starts_with("random:"); }},
               {"pct", [](const Case& c) { return c.schedule.starts_with("pct:"); }}});
}

TEST_F(GeneratorTest, EveryPatternOccurs) {
  using spec::Pattern;
  std::set<Pattern> patterns;
  const auto all = cases("send_recv", 200);
  for (const Case& c : all) patterns.insert(collective(c).pattern);
  EXPECT_EQ(patterns,
            (std::set<Pattern>{Pattern::ring, Pattern::pairs, Pattern::self, Pattern::one_way}));
  expect_some(all,
              {{"a shift back", [](const Case& c) { return collective(c).shift < 0; }},
               {"no shift", [](const Case& c) { return collective(c).shift == 0; }}});
}

TEST_F(GeneratorTest, EveryKindOfInputOccurs) {
  std::set<InputKind> kinds;
  for (const Case& c : cases("all_reduce", 1000)) kinds.insert(c.input);
  EXPECT_EQ(kinds.size(), 8U);
}

TEST_F(GeneratorTest, OneTurnCoversEveryCellWithData) {
  std::set<std::pair<spec::Type, spec::ReduceOp>> cells;
  for (const Case& c : cases("all_reduce", 104)) {
    EXPECT_GT(c.count, 0);
    cells.insert({c.type, collective(c).op});
  }
  // 10 real types with 6 ops, 6 of them integers with 6 more, 2 complex types with 3 ops, and
  // compose of 2 types.
  EXPECT_EQ(cells.size(), 104U);
}

TEST_F(GeneratorTest, EveryNumberOfRanksIsACellUnlessItIsLarge) {
  unit.ranks_min = 3;
  unit.ranks_max = 6;
  EXPECT_EQ(sites(unit, "ranks/"), (Names{"ranks/3", "ranks/4", "ranks/5", "ranks/6"}));
  unit.ranks_min = 17;
  unit.ranks_max = backend.traits().ranks_max = 64;
  EXPECT_EQ(sites(unit, "ranks/"), Names{});
}

TEST_F(GeneratorTest, InputsAreCellsWhereTheyMeanSomething) {
  const auto inputs = [&](const std::string& operation, const std::vector<spec::Type>& types) {
    unit.operation = operation;
    unit.types = types;
    return sites(unit, "input/");
  };
  using spec::Type;
  EXPECT_EQ(inputs("broadcast", {Type::int32, Type::int8}), Names{"input/int32/wide"});
  EXPECT_EQ(inputs("broadcast", {Type::f8e4m3}), Names{"input/f8e4m3/special"});
  EXPECT_EQ(inputs("all_reduce", {Type::complex64}),
            (Names{"input/f32/special", "input/f32/wide"}));
  EXPECT_EQ(inputs("barrier", {}), Names{});
}

TEST_F(GeneratorTest, InputsThatThePropertyReplacesAreNoCells) {
  Property property = fake::completes("wants_exact");
  property.adapt = [](const spec::Contract&, Case& c) { c.input = InputKind::exact; };
  use(property);
  EXPECT_EQ(sites(unit, "input/"), Names{});
}

/// The units of smoke have as few as 70 cases. Units of reductions have as few as 110.
TEST_F(GeneratorTest, TheCasesOfSmokeCoverEveryCell) {
  for (const Operation& operation : catalogue.operations()) {
    expect_all_covered(operation, collective(operation.contract).reduces ? 110 : 70);
  }
}

TEST_F(GeneratorTest, TheSameSeedGivesTheSameCasesAndAnotherSeedGivesOthers) {
  EXPECT_EQ(cases("all_to_all_v", 200), cases("all_to_all_v", 200));
  EXPECT_NE(generate(catalogue, backend, unit, 20, 1), generate(catalogue, backend, unit, 20, 2));
}

TEST_F(GeneratorTest, StaysWithinTheUnit) {
  unit.ranks_min = 3;
  unit.ranks_max = 5;
  unit.types = {spec::Type::f16, spec::Type::int8};
  for (const Case& c : cases(unit, 200)) {
    EXPECT_TRUE(c.ranks >= 3 && c.ranks <= 5) << to_text(c);
    EXPECT_TRUE(c.type == spec::Type::f16 || c.type == spec::Type::int8) << to_text(c);
  }
}

TEST_F(GeneratorTest, DoesWithoutWhatTheBackendRefuses) {
  backend.refusal = [](const Case& c) {
    return c.in_place || !c.group.empty() || c.ranks == 4 || c.type == spec::Type::bf16 ? "no" : "";
  };
  for (const Case& c : cases(unit, 200)) EXPECT_EQ(backend.why_refused(c), "") << to_text(c);
  EXPECT_EQ(generator().cells().size(), 98U);
  EXPECT_GT(generator().refused(), 0);
}

TEST_F(GeneratorTest, DrawsInsideWhatTheBackendDeclares) {
  backend.declared.emplace("all_reduce", true, nlohmann::json::parse(R"({
      "type":["int32","f64"],"op":["sum","max"],"in_place":"any","group":"sorted",
      "ranks":{"min":2,"max":5},"empty":false})"));
  int outside = 0;
  backend.refusal = [&](const Case& c) {
    std::string why = backend.declared->why_refused(c);
    outside += why.empty() ? 0 : 1;
    return why;
  };
  EXPECT_EQ(generator().cells().size(), 4U);
  const std::vector<std::string> refused = generator().refused_cells();
  for (const char* cell : {"f32/sum", "int32/prod", "site/chunked", "site/offset", "site/random"}) {
    EXPECT_EQ(std::count(refused.begin(), refused.end(), cell), 1) << cell;
  }
  outside = 0;
  const auto all = cases(unit, 300);
  for (const Case& c : all) EXPECT_EQ(backend.declared->why_refused(c), "") << to_text(c);
  expect_some(all,
              {{"a group", [](const Case& c) { return group_size(c) < c.ranks; }},
               {"its output in place", [](const Case& c) { return c.in_place; }}});
  // Only groups with too few members are drawn in vain.
  EXPECT_LT(outside, 300);
}

TEST_F(GeneratorTest, AsksTheBackendAboutEveryStage) {
  Property property = fake::completes("rotates_at_last");
  property.program = [](const spec::Contract&, const Case& c, std::vector<Case>& stages) {
    stages.assign(2, c);
    stages[1].rotate = 1;
  };
  use(property);
  backend.refusal = [](const Case& c) { return c.rotate == 1 ? "no" : ""; };
  EXPECT_TRUE(generator().cells().empty());
  EXPECT_GT(generator().refused(), 0);
}

TEST_F(GeneratorTest, ASingleChunkIsNotChunked) {
  const auto sites = call_classes(catalogue.find("broadcast")->contract, backend.traits(), 1, 1);
  const auto chunked = std::find_if(sites.begin(), sites.end(), [](const CallClass& each) {
    return each.name == "site/chunked";
  });
  ASSERT_NE(chunked, sites.end());
  Case c;
  c.count = 4;
  for (c.chunk = 0; c.chunk < 7; ++c.chunk) {
    EXPECT_EQ(chunked->has(c), c.chunk > 0 && c.chunk < 4) << c.chunk;
  }
}

TEST_F(GeneratorTest, HasNoCellsWhereEverythingIsRefused) {
  backend.refusal = [](const Case&) { return "never"; };
  Case c;
  EXPECT_TRUE(generator().cells().empty());
  EXPECT_FALSE(generator().next(1, 50, c));
  EXPECT_GT(generator().refused(), 0);
}

TEST_F(GeneratorTest, AsksSeldomAboutWhatAllCasesHave) {
  int asked = 0;
  const auto refuse = [&](const char* why) {
    asked = 0;
    backend.refusal = [&asked, why](const Case&) {
      ++asked;
      return why;
    };
  };
  refuse("algorithm: not on this machine");
  const Generator of_algorithm = generator();
  EXPECT_TRUE(of_algorithm.cells().empty());
  EXPECT_GT(of_algorithm.refused_cells().size(), 92U);
  EXPECT_LT(asked, 200);
  refuse("hosts: one process is on one host");
  unit.hosts = {0, 0, 1, 1};
  EXPECT_TRUE(generator().cells().empty());
  EXPECT_LT(asked, 200);
}

TEST_F(GeneratorTest, AsksSeldomForACellThatIsRefused) {
  std::map<std::pair<spec::Type, spec::ReduceOp>, int> asked;
  backend.refusal = [&](const Case& c) {
    const spec::ReduceOp op = collective(c).op;
    if (op == spec::ReduceOp::sum) return "";
    ++asked[{c.type, op}];
    return "op: only sums";
  };
  EXPECT_FALSE(generator().cells().empty());
  EXPECT_GT(asked.size(), 50U);
  for (const auto& [cell, times] : asked) EXPECT_EQ(times, 8);
}

TEST_F(GeneratorTest, ChangesOnlyTheFieldsThatARefusalNames) {
  Case refused;
  int mended = 0;
  backend.refusal = [&](const Case& c) {
    if (refused.offset > 0) {
      refused.offset = 0;
      EXPECT_EQ(to_text(c), to_text(refused));
      // Repairs that come before the right one would change these.
      mended += c.chunk > 0 || collective(c).gap > 0 ? 1 : 0;
    }
    refused = c;
    return c.offset > 0 ? "offset: only aligned buffers" : "";
  };
  static_cast<void>(cases(unit, 100));
  EXPECT_GT(mended, 0);
}

TEST_F(GeneratorTest, MakesCountsEqualForAnAlgorithmThatTakesNoOthers) {
  unit.operation = "gather_v";
  std::vector<std::int64_t> refused;
  int mended = 0;
  backend.refusal = [&](const Case& c) {
    const bool is_even = std::ranges::count(c.counts, c.counts[0]) == std::ssize(c.counts);
    if (!refused.empty() && is_even) mended += c.counts[0] == std::ranges::max(refused) ? 1 : 0;
    refused = is_even ? std::vector<std::int64_t>() : c.counts;
    return is_even ? "" : "counts: only equal ones";
  };
  static_cast<void>(cases(unit, 100));
  EXPECT_GT(mended, 10);
}

TEST_F(GeneratorTest, FindsTheFewRanksThatAnAlgorithmTakes) {
  backend.refusal = [](const Case& c) { return c.ranks == 2 ? "" : "algorithm: for two ranks"; };
  EXPECT_EQ(generator().cells().size(), 104U);
}

TEST_F(GeneratorTest, CasesThatTheBackendRefusesOrHasNoRanksForAreCases) {
  Unit large = unit;
  large.ranks_min = 20;
  large.ranks_max = 30;
  EXPECT_TRUE(Generator::has_cases(catalogue, backend, large));
  backend.refusal = [](const Case&) { return "never"; };
  EXPECT_TRUE(Generator::has_cases(catalogue, backend, unit));
}

TEST_F(GeneratorTest, CasesThatThePropertyExcludesAreNone) {
  Property property = fake::completes("never_applies");
  property.applies = [](const spec::Contract&, const Case&) { return false; };
  use(property);
  backend.refusal = [](const Case&) { return "never"; };
  EXPECT_FALSE(Generator::has_cases(catalogue, backend, unit));
}

TEST_F(GeneratorTest, NamesNoScheduleWhereTheBackendHasNone) {
  backend.traits().has_schedules = false;
  for (const Case& c : cases("all_reduce", 200)) EXPECT_EQ(c.schedule, "in_order");
}

TEST_F(GeneratorTest, DrawsLateRanksAndPendingInputsWhereTheBackendHasThem) {
  const Predicate is_late = [](const Case& c) { return c.late >= 0; };
  const Predicate is_pending = [](const Case& c) { return c.pending; };
  for (const Case& c : cases("all_reduce", 200)) EXPECT_FALSE(is_late(c) || is_pending(c));
  backend.traits().has_streams = true;
  expect_some(cases("all_reduce", 200),
              {{"pending inputs", is_pending}, {"ready inputs", std::not_fn(is_pending)}});
  backend.traits().has_streams = false;
  backend.traits().has_delays = backend.traits().has_arrivals = true;
  const std::vector<Case> timed = cases("all_reduce", 200);
  expect_some(timed, {{"a late rank", is_late}, {"pending inputs", is_pending}});
  for (const Case& c : timed) EXPECT_LT(c.late, group_size(c));
  backend.traits().has_streams = true;
  for (const Case& c : cases("barrier", 50)) EXPECT_FALSE(c.pending);
}

TEST_F(GeneratorTest, DrawsStridesWhereTheBackendHasThem) {
  const auto strided = [](const Case& c) { return is_strided(cases::collective(c)); };
  const std::vector<Case> usual = cases("broadcast", 200);
  for (const Case& c : usual) EXPECT_FALSE(strided(c));
  backend.traits().has_strides = true;
  std::vector<Case> drawn = cases("broadcast", 200);
  expect_some(drawn, {{"strides", strided}, {"dense buffers", std::not_fn(strided)}});
  for (Case& c : drawn) cases::collective(c).send_stride = cases::collective(c).recv_stride = 1;
  EXPECT_EQ(drawn, usual);
  for (const Case& c : cases("barrier", 100)) EXPECT_FALSE(strided(c));
}

TEST_F(GeneratorTest, HostsLateRanksAndLargeBlocksAreCells) {
  const auto names = [&](const std::string& operation) {
    return sites(fake::unit(operation), "site/");
  };
  EXPECT_TRUE(names("broadcast").contains("site/large_block"));
  EXPECT_FALSE(names("barrier").contains("site/large_block"));
  for (const bool has_them : {false, true}) {
    backend.traits().draws_hosts = has_them;
    backend.traits().has_delays = backend.traits().has_arrivals = has_them;
    for (const char* site : {"site/several_hosts", "site/late", "site/pending"}) {
      EXPECT_EQ(names("broadcast").contains(site), has_them) << site;
    }
  }
  EXPECT_FALSE(names("barrier").contains("site/pending"));
}

TEST_F(GeneratorTest, BlocksOfTheUnitAreCells) {
  Unit unit = fake::unit("broadcast");
  EXPECT_FALSE(sites(unit, "site/").contains("site/block_of_64_kib"));
  unit.blocks = {1 << 16, 1 << 20};
  const auto names = sites(unit, "site/block");
  EXPECT_EQ(names, (std::set<std::string>{"site/block_of_64_kib", "site/block_of_1_mib"}));
  Generator generator(catalogue, backend, unit, 1);
  RandomSource words(1);
  std::set<std::int64_t> met;
  Case c;
  for (int i = 0; i < 60; ++i) {
    ASSERT_TRUE(generator.next(words.next(), i, c));
    generator.cover(c, true);
    for (const std::int64_t bytes : unit.blocks) {
      if (block_bytes(c) >= bytes - 16 && block_bytes(c) < 4 * bytes) met.insert(bytes);
    }
  }
  EXPECT_EQ(met.size(), 2U);
}

TEST_F(GeneratorTest, HostsOfTheUnitAreACell) {
  unit.hosts = {0, 0, 1, 1};
  unit.ranks_min = unit.ranks_max = 4;
  EXPECT_TRUE(sites(unit, "site/").contains("site/several_hosts"));
}

/// Few cases are drawn so by chance.
TEST_F(GeneratorTest, FewCasesCoverHostsLateRanksAndLargeBlocks) {
  backend.traits().draws_hosts = backend.traits().has_strides = true;
  backend.traits().has_delays = backend.traits().has_arrivals = true;
  expect_all_covered(*catalogue.find("all_to_all_v"), 70);
}

TEST_F(GeneratorTest, CellsThatTheBackendRefusesAreNotOffered) {
  backend.traits().draws_hosts = true;
  backend.refusal = [](const Case& c) { return c.hosts.empty() ? "" : "hosts: there is one"; };
  const std::vector<std::string> refused = generator().refused_cells();
  EXPECT_EQ(std::count(refused.begin(), refused.end(), "site/several_hosts"), 1);
}

TEST_F(GeneratorTest, GivesFixedFieldsTheirValues) {
  unit.fixed = R"({"in_place":true,"op":"max"})";
  for (const Case& c : cases(unit, 100)) {
    EXPECT_TRUE(c.in_place);
    EXPECT_EQ(cases::collective(c).op, spec::ReduceOp::max);
  }
}

TEST_F(GeneratorTest, DrawsNoChunksWhereTheBackendHasNone) {
  std::int64_t refused = 0;
  backend.refusal = [&](const Case& c) {
    refused += c.chunk > 0 ? 1 : 0;
    return c.chunk > 0 ? "no" : "";
  };
  Generator generator(catalogue, backend, unit, 1);
  for (const SiteCell& each : generator.sites()) EXPECT_NE(each.site.name, "site/chunked");
  refused = 0;
  Case c;
  int scheduled = 0;
  for (std::uint64_t word = 0; word < 200; ++word) {
    ASSERT_TRUE(generator.next(word, 50, c));
    scheduled += c.schedule == "in_order" ? 0 : 1;
  }
  EXPECT_EQ(refused, 0);
  EXPECT_GT(scheduled, 50);
}

TEST_F(GeneratorTest, AdaptsCasesForTheProperty) {
  Property property = fake::completes("wants_f32");
  property.applies = [](const spec::Contract&, const Case& c) { return c.type == spec::Type::f32; };
  property.adapt = [](const spec::Contract&, Case& c) { c.chunk = 7; };
  use(property);
  EXPECT_EQ(generator().cells().size(), 6U);
  Case c;
  ASSERT_TRUE(generator().next(1, 50, c));
  EXPECT_EQ(c.chunk, 7);
}

TEST(RandomSourceTest, LogBetweenStaysInItsBounds) {
  RandomSource random(1);
  std::set<std::int64_t> seen;
  for (int i = 0; i < 1000; ++i) seen.insert(random.log_between(3, 9));
  EXPECT_EQ(seen, (std::set<std::int64_t>{3, 4, 5, 6, 7, 8, 9}));
}

TEST(RandomSourceTest, AreTheSameOnEveryMachine) {
  // The first output of SplitMix64 from state 0, as published.
  EXPECT_EQ(RandomSource(0).next(), 0xe220a8397b1dcdafU);
}

}  // namespace
}  // namespace rankcheck::harness
