#include <algorithm>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "harness/case/family.hpp"
#include "harness/case/input.hpp"
#include "harness/check/operation.hpp"
#include "harness/search/generator.hpp"

#include "cases/backends/mpi.hpp"
#include "cases/families/collectives/case.hpp"
#include "cases/families/collectives/inputs.hpp"
#include "cases/suites/catalogue.hpp"

/// What the real worker takes and refuses, and calls that no suite makes.
namespace rankcheck::cases {
namespace {

using harness::Case;
using spec::ReduceOp;
using spec::Type;

constexpr int world = 5;

struct Element {
  Type type;
  ReduceOp op;
};

std::vector<Element> elements(const spec::Contract& contract) {
  if (collective(contract).sizes == spec::Sizes::none) return {{Type::f32, ReduceOp::none}};
  if (!collective(contract).reduces)
    return {{Type::uint8, ReduceOp::none}, {Type::complex128, ReduceOp::none}};
  return {{Type::int8, ReduceOp::prod},         {Type::uint64, ReduceOp::max},
          {Type::f16, ReduceOp::sum},           {Type::bf16, ReduceOp::min},
          {Type::f32, ReduceOp::avg},           {Type::f64, ReduceOp::premul_sum},
          {Type::int32, ReduceOp::avg},         {Type::f16, ReduceOp::premul_sum},
          {Type::complex64, ReduceOp::sum},     {Type::int64, ReduceOp::premul_sum},
          {Type::int8, ReduceOp::band},         {Type::uint32, ReduceOp::bor},
          {Type::int64, ReduceOp::bxor},        {Type::int32, ReduceOp::land},
          {Type::uint8, ReduceOp::lor},         {Type::complex64, ReduceOp::maxloc},
          {Type::complex128, ReduceOp::minloc}, {Type::int32, ReduceOp::compose},
          {Type::int64, ReduceOp::compose},     {Type::uint64, ReduceOp::lxor}};
}

Case make_case(const harness::Operation& operation,
               const std::vector<int>& group,
               Element element) {
  const spec::Contract& contract = operation.contract;
  Case c;
  c.property = operation.properties.front().name;
  c.operation = contract.name;
  c.backend = "mpi";
  c.ranks = group.empty() ? world : 1 + *std::max_element(group.begin(), group.end());
  c.group = group;
  c.type = element.type;
  collective(c).op = element.op;
  const int n = harness::group_size(c);
  // Odd and even: the seed decides which of two communicators is looked at.
  c.data_seed = static_cast<std::uint64_t>(n);
  if (collective(contract).rooted) collective(c).root = n - 1;
  if (collective(contract).sizes == spec::Sizes::count) c.count = 37;
  const bool axis = collective(contract).sizes == spec::Sizes::lengths_along_axis;
  if (axis) {
    collective(c).outer = 3;
    collective(c).inner = 2;
  }
  const int blocks = axis || collective(contract).sizes == spec::Sizes::counts_per_rank ? n
                     : collective(contract).sizes == spec::Sizes::counts_per_pair       ? n * n
                     : collective(contract).sizes == spec::Sizes::counts_per_array      ? 4
                                                                                        : 0;
  for (int b = 0; b < blocks; ++b) c.counts.push_back((b * 5 + 3) % 11);
  c.offset = 1;
  if (may_overflow(c)) c.input = harness::InputKind::exact;
  // A row of each rank is what a narrow type can add up.
  if (may_overflow(c)) std::fill(c.counts.begin(), c.counts.end(), 1);
  return c;
}

class CallsTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    const harness::BackendEntry entry = mpi_backend();
    if (entry.why_unavailable().empty()) backend = entry.open({.ranks_max = world});
  }
  static void TearDownTestSuite() { backend.reset(); }
  void SetUp() override {
    if (!backend) GTEST_SKIP() << mpi_backend().why_unavailable();
  }

  /// Returns for each case of the operation the number of algorithms that take it. Goes from
  /// algorithm to algorithm, because ranks start anew for each one that the environment chooses.
  static std::vector<int> takers(const harness::Operation& operation, std::vector<Case> cases) {
    std::vector<int> taken(cases.size());
    for (const harness::AlgorithmInfo& each : backend->algorithms()) {
      if (each.operation != operation.contract.name) continue;
      // Ranks would start anew for each operation.
      if (each.name.starts_with("over_") || each.name == "c_types") continue;
      for (std::size_t i = 0; i < cases.size(); ++i) {
        cases[i].algorithm = each.name;
        taken[i] += backend->why_refused(cases[i]).empty() ? 1 : 0;
      }
    }
    return taken;
  }

  void examine(const Case& c) {
    // A barrier of one rank separates nothing.
    if (harness::group_size(c) == 1 && c.operation == "barrier") return;
    harness::Judgement judgement;
    examiner_.examine(c, judgement);
    EXPECT_EQ(judgement.verdict, harness::Verdict::passed)
        << judgement.reason << "\n  " << harness::to_text(c);
  }

  /// Returns the name of the algorithm that a call gets which names none.
  [[nodiscard]] static std::string plain_algorithm(const harness::Operation& operation) {
    for (const harness::AlgorithmInfo& each : backend->algorithms()) {
      if (each.operation == operation.contract.name) return each.name;
    }
    return {};
  }

  /// Returns the operations that MPI performs.
  [[nodiscard]] std::vector<harness::Operation> calls() const {
    std::vector<harness::Operation> all;
    for (const harness::Operation& each : catalogue_.operations()) {
      if (family(each.contract) == "collectives") all.push_back(each);
    }
    return all;
  }

  static std::unique_ptr<harness::Backend> backend;
  harness::Catalogue catalogue_ = make_catalogue();
  harness::Examiner examiner_{catalogue_, *backend};
};

std::unique_ptr<harness::Backend> CallsTest::backend;

/// The suites smoke and ci judge such calls with every algorithm, and leave out those that are
/// refused.
TEST_F(CallsTest, AreTakenByTwoAlgorithmsOrMore) {
  for (const harness::Operation& operation : calls()) {
    const std::vector<Element> all = elements(operation.contract);
    std::vector<Case> cases;
    for (const std::vector<int>& group : {std::vector{3}, {4, 1}, {2, 4, 0}, {4, 3, 2, 1}}) {
      cases.push_back(make_case(operation, group, all.front()));
    }
    for (const Element element : all) {
      for (const std::vector<int>& group : {std::vector<int>{}, {0}, {0, 1}}) {
        cases.push_back(make_case(operation, group, element));
      }
      if (operation.contract.in_place == spec::InPlace::none) continue;
      Case& c = cases.emplace_back(make_case(operation, {}, element));
      c.in_place = true;
      harness::family_of(operation.contract).settle(operation.contract, c);
    }
    EXPECT_GE(std::ranges::min(takers(operation, cases)), 2) << operation.contract.name;
  }
}

/// Cases of other calls without elements are drawn. A reduction along an axis needs rows, which may
/// have no element.
TEST_F(CallsTest, TakeRowsWithoutElements) {
  Case c = make_case(*catalogue_.find("reduce_axis"), {}, {Type::f32, ReduceOp::max});
  collective(c).inner = 0;
  c.algorithm = plain_algorithm(*catalogue_.find("reduce_axis"));
  harness::Observation observation;
  backend->run(std::span(&c, 1), observation);
  EXPECT_EQ(observation.status, harness::RunStatus::completed) << observation.reason;
}

TEST_F(CallsTest, RefuseChunksUnlessTheirAlgorithmHasThem) {
  for (const harness::Operation& operation : calls()) {
    Case c = make_case(operation, {}, elements(operation.contract).back());
    c.chunk = 3;
    c.algorithm = plain_algorithm(operation);
    EXPECT_NE(backend->why_refused(c), "") << operation.contract.name;
  }
}

TEST_F(CallsTest, RefuseIntegersThatMayOverflow) {
  Case c;
  c.operation = "all_reduce";
  c.algorithm = "blocking";
  c.type = Type::uint8;
  collective(c).op = ReduceOp::sum;
  EXPECT_NE(backend->why_refused(c), "");
  c.input = harness::InputKind::exact;
  EXPECT_EQ(backend->why_refused(c), "");
}

TEST_F(CallsTest, RefuseBytesThatAnIntDoesNotHold) {
  Case c;
  c.operation = "all_to_all_v";
  c.ranks = 2;
  c.type = Type::f64;
  for (const std::string_view algorithm : {"typed", "typed_nonblocking"}) {
    c.algorithm = algorithm;
    c.counts = {1 << 25, 1 << 25, 1 << 25, 1 << 25};
    EXPECT_EQ(backend->why_refused(c), "");
    collective(c).send_stride = 4;
    EXPECT_EQ(backend->why_refused(c), "count: a buffer has more bytes than an int holds");
    collective(c).send_stride = 1;
    c.counts = {1, 1 << 28, 1, 1};
    EXPECT_EQ(backend->why_refused(c), "count: a buffer has more bytes than an int holds");
    c.algorithm = "blocking";
    EXPECT_EQ(backend->why_refused(c), "");
  }
}

TEST_F(CallsTest, RefuseASecondCallOfMoreThanAGibibyte) {
  Case c;
  c.operation = "all_gather";
  c.ranks = 2;
  c.type = Type::f64;
  for (const std::string_view algorithm : {"persistent", "two_communicators"}) {
    const auto& all = backend->algorithms();
    const bool is_offered = std::any_of(all.begin(), all.end(), [&](const auto& each) {
      return each.operation == c.operation && each.name == algorithm;
    });
    if (!is_offered) continue;
    c.algorithm = algorithm;
    c.count = 1 << 26;
    EXPECT_EQ(backend->why_refused(c), "");
    collective(c).recv_stride = 2;
    EXPECT_EQ(backend->why_refused(c), "count: a call of more than 1 GiB has no second one");
    collective(c).recv_stride = 1;
    c.count = (1 << 26) + 1;
    EXPECT_EQ(backend->why_refused(c), "count: a call of more than 1 GiB has no second one");
  }
}

TEST_F(CallsTest, AgreeWithTheReferenceInCsOwnTypes) {
  for (const std::string_view name : {"all_reduce", "reduce", "reduce_scatter"}) {
    for (const Element each : {Element{Type::int8, ReduceOp::max},
                               {Type::uint8, ReduceOp::min},
                               {Type::int32, ReduceOp::avg},
                               {Type::uint32, ReduceOp::bor},
                               {Type::int64, ReduceOp::compose},
                               {Type::uint64, ReduceOp::bxor}}) {
      Case c = make_case(*catalogue_.find(name), {}, each);
      c.algorithm = "c_types";
      examine(c);
    }
  }
}

TEST_F(CallsTest, RefuseTypesThatHaveOneNameOnly) {
  Case c;
  c.operation = "all_reduce";
  c.algorithm = "c_types";
  collective(c).op = ReduceOp::max;
  for (const auto& [type, taken] : {std::pair{Type::uint64, true},
                                    {Type::int8, true},
                                    {Type::f32, false},
                                    {Type::bf16, false}}) {
    c.type = type;
    EXPECT_EQ(backend->why_refused(c), taken ? "" : "type: MPI has no second name for it");
  }
}

TEST_F(CallsTest, TakeEmptyBlocksWithGaps) {
  Case c;
  c.operation = "all_gather_v";
  c.property = "agrees_with_reference";
  c.ranks = 2;
  c.counts = {0, 0};
  collective(c).gap = 1;
  for (const harness::AlgorithmInfo& each : backend->algorithms()) {
    if (each.operation != c.operation) continue;
    c.algorithm = each.name;
    harness::Observation observation;
    backend->run(std::span(&c, 1), observation);
    EXPECT_EQ(observation.status, harness::RunStatus::completed) << observation.reason;
  }
}

/// The generator asks the backend what a unit must cover. This test states the expected answers.
TEST_F(CallsTest, AreRequiredInEveryWayThatTheContractHas) {
  for (const harness::Operation& operation : calls()) {
    const spec::Contract& contract = operation.contract;
    const bool has_data = collective(contract).sizes != spec::Sizes::none;
    const bool is_uneven = !make_case(operation, {}, {Type::f32, ReduceOp::none}).counts.empty();
    std::set<std::string_view> expected{"sub_group", "reordered_group", "late"};
    if (contract.name != "barrier") expected.insert("one_rank");
    if (collective(contract).rooted) expected.insert("other_root");
    if (contract.in_place != spec::InPlace::none) expected.insert("in_place");
    if (has_data) expected.insert({"offset", "large_block"});
    // MPI's own reductions take no derived types.
    if (may_be_strided(contract) && !collective(contract).reduces) expected.insert("strided");
    // A reduction along an axis needs rows.
    if (has_data && contract.name != "reduce_axis") expected.insert("zero_count");
    // MPI_Reduce_scatter takes no displacements.
    if (is_uneven) expected.insert("empty_part");
    const bool axis = collective(contract).sizes == spec::Sizes::lengths_along_axis;
    if (is_uneven && !axis && contract.name != "reduce_scatter_v") expected.insert("gap");
    const harness::Unit unit{.operation = std::string(contract.name),
                             .algorithm = plain_algorithm(operation),
                             .backend = "mpi",
                             .property = std::string(operation.properties.front().name),
                             .types = {},
                             .pinned = {}};
    const harness::Generator generator(catalogue_, *backend, unit, 1);
    std::set<std::string_view> found;
    for (const harness::SiteCell& each : generator.sites()) {
      if (!harness::is_site(each.site.name)) continue;
      found.insert(std::string_view(each.site.name).substr(std::string_view("site/").size()));
    }
    EXPECT_EQ(found, expected) << contract.name;
  }
}

TEST_F(CallsTest, ForceEveryAlgorithmThatOpenMpiOffers) {
  const std::string version = mpi_backend().describe({}).at("mpi");
  if (!version.starts_with("Open MPI")) GTEST_SKIP() << "another library: " << version;
  for (const harness::Operation& operation : calls()) {
    const std::string name(operation.contract.name);
    const bool is_one_call = plain_algorithm(operation) == "blocking";
    const bool has_variable =
        is_one_call && name != "gather_v" && name != "scatter_v" && name != "send_recv";
    // Open MPI 4.1 has variables for these nonblocking collectives.
    const bool has_nonblocking =
        name == "all_gather" || name == "all_reduce" || name == "broadcast" || name == "reduce";
    int forced = 0;
    int nonblocking = 0;
    for (const harness::AlgorithmInfo& each : backend->algorithms()) {
      if (each.operation != name) continue;
      forced += each.name.starts_with("tuned_") ? 1 : 0;
      nonblocking += each.name.starts_with("libnbc_") ? 1 : 0;
    }
    EXPECT_EQ(forced > 1, has_variable)
        << name << ": set Operation::tuning, or name it above if coll/tuned has no variable for it";
    EXPECT_EQ(nonblocking > 1, has_nonblocking) << name;
  }
}

}  // namespace
}  // namespace rankcheck::cases
