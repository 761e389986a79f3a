#include "harness/check/operation.hpp"

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "reference/spec/to_size.hpp"

#include "harness/case/image.hpp"

#include "cases/families/collectives/case.hpp"
#include "tests/harness/fake.hpp"
#include "tests/harness/text.hpp"

namespace rankcheck::harness {
namespace {

using cases::collective;

using fake::FakeBackend;

/// Returns a legal case of three ranks, with these fields besides, as JSON.
Case legal(const std::string& operation = "all_reduce", const std::string& fields = "") {
  nlohmann::json all{{"operation", operation},
                     {"property", "completes"},
                     {"ranks", 3},
                     {"op", operation == "all_reduce" ? "sum" : "none"},
                     {"count", operation == "barrier" ? 0 : 4},
                     {"input", "exact"}};
  all.update(nlohmann::json::parse('{' + fields + '}'));
  return case_from_json(all);
}

// --- which cases can be examined

/// Fields that make a case illegal, as JSON.
struct Illegal {
  const char* operation;
  std::string fields;
  std::string why;
};

void expect_invalid(const std::vector<Illegal>& rows) {
  const Catalogue catalogue = fake::catalogue();
  for (const Illegal& row : rows) {
    EXPECT_EQ(why_invalid(catalogue, legal(row.operation)), "") << row.operation;
    EXPECT_EQ(why_invalid(catalogue, legal(row.operation, row.fields)), row.why) << row.fields;
  }
}

constexpr const char* reduce = "all_reduce";
constexpr const char* move = "broadcast";

TEST(WhyInvalidTest, NamesTheFieldOfTheCall) {
  expect_invalid({
      {move, R"("property":"x")", "property: broadcast claims no property \"x\""},
      {move, R"("ranks":0)", "ranks: got 0, expected at least 1"},
      {move, R"("group":[0,3])", "group: got 3, expected ranks in 0..2"},
      {move, R"("group":[-1])", "group: got -1, expected ranks in 0..2"},
      {move, R"("group":[1,1])", "group: rank 1 appears twice"},
      {move, R"("group":[2,1],"root":2)", "root: got 2, expected 0..1"},
      {reduce, R"("root":1)", "root: got 1, expected 0..0"},
      {move, R"("outer":2)", "outer: not a size of this operation"},
      {"send_recv", R"("in_place":true)", "in_place: send_recv has no such call"},
      {move, R"("send_stride":17)", "send_stride: got 17, expected 1..16"},
      {"barrier", R"("recv_stride":2)", "recv_stride: got 2, expected 1 for barrier"},
      {move, R"("offset":4097)", "offset: got 4097, expected 0..4096"},
      {move, R"("offset":-1)", "offset: got -1, expected 0..4096"},
      {move, R"("chunk":-1)", "chunk: got -1, expected 0 or more"},
      {move, R"("late":-2)", "late: got -2, expected -1..2"},
      {move, R"("late":3)", "late: got 3, expected -1..2"},
      {move, R"("group":[2,1],"late":2)", "late: got 2, expected -1..1"},
      {move, R"("repeat":2)", "repeat: only the property repeats_with_other_data repeats calls"},
      {move, R"("repeat":0)", "repeat: got 0, expected 1..8"},
  });
}

TEST(WhyInvalidTest, NamesTheFieldOfTheInput) {
  const std::string scale_why = "scale, added_seed: expected input exact";
  const std::string index_why = ", expected 0..281474976710656";
  expect_invalid({
      {reduce,
       R"("type":"int32","input":"cancelling")",
       "input: cancelling is not defined for type int32 and op sum"},
      {reduce, R"("input":"previous")", "input: previous is for the later stages of a property"},
      {reduce,
       R"("input":"given")",
       "input: given is for rankcheck evaluate, which reads the inputs from files"},
      {move, R"("input":"fine")", "input: fine is for operations with arrays"},
      {reduce, R"("input":"general","scale":2)", scale_why},
      {reduce, R"("input":"coded","added_seed":2)", scale_why},
      {reduce, R"("scale":3)", "scale: got 3, expected -2..2"},
      {move, R"("rotate":3)", "rotate: got 3, expected 0..2"},
      {move, R"("first_index":-1)", "first_index, index_stride: got -1" + index_why},
      {move,
       R"("index_stride":281474976710657)",
       "first_index, index_stride: got 281474976710657" + index_why},
  });
}

TEST(WhyInvalidTest, AnOperationMustBeKnown) {
  Case c = legal();
  c.operation = "x";
  EXPECT_EQ(why_invalid(fake::catalogue(), c), "operation: unknown name \"x\"");
}

TEST(WhyInvalidTest, InPlaceTwoRanksGiveEachOtherTheSameNumber) {
  const auto why = [](const std::string& counts, const std::string& in_place) {
    return why_invalid(
        fake::catalogue(),
        legal("all_to_all_v", R"("count":0,"counts":)" + counts + R"(,"in_place":)" + in_place));
  };
  EXPECT_EQ(why("[1,2,0,2,4,5,0,5,6]", "true"), "");
  EXPECT_EQ(
      why("[1,2,0,7,4,5,0,5,6]", "true"),
      "counts: got 2 and 7, expected as many elements from rank 0 to rank 1 as back in place");
  EXPECT_EQ(why("[1,2,0,7,4,5,0,5,6]", "false"), "");
}

TEST(WhyInvalidTest, PropertiesMayHaveNothingToSay) {
  Property silent = fake::completes("silent");
  silent.applies = [](const spec::Contract& contract, const Case&) {
    return collective(contract).rooted;
  };
  const Catalogue catalogue = fake::catalogue({silent});
  EXPECT_EQ(why_invalid(catalogue, legal("all_reduce", R"("property":"silent")")),
            "property: silent says nothing about this case");
  EXPECT_EQ(why_invalid(catalogue, legal("broadcast", R"("property":"silent")")), "");
}

TEST(CatalogueTest, FindsByName) {
  const Catalogue catalogue = fake::catalogue();
  EXPECT_EQ(catalogue.find("reduce")->contract.name, "reduce");
  EXPECT_EQ(catalogue.find("reduces"), nullptr);
  EXPECT_EQ(catalogue.find_property("reduce", "looks_away")->name, "looks_away");
  EXPECT_EQ(catalogue.find_property("reduce", "x"), nullptr);
  EXPECT_EQ(catalogue.find_property("x", "looks_away"), nullptr);
}

// --- how a run is judged

/// Ends runs as FakeBackend does, and then changes the results.
class SpoiledBackend : public FakeBackend {
 public:
  std::function<void(Observation& observation)> spoil = [](Observation&) {};

  void run(std::span<const Case> stages, Observation& observation) override {
    FakeBackend::run(stages, observation);
    spoil(observation);
  }
};

void swap_images_of_two(Observation& observation) {
  std::swap(observation.stages[0].images[0], observation.stages[0].images[1]);
}

class ExaminerTest : public testing::Test {
 protected:
  Judgement examine(const Case& c) {
    Judgement judgement;
    Examiner(catalogue_, backend_).examine(c, judgement);
    return judgement;
  }
  std::string outcome(const Case& c) { return outcome_of(examine(c)); }

  /// Lets the backend say that this ran, perhaps with a wrong result.
  void say_path(const std::string& path, bool is_right = true) {
    backend_.spoil = [=](Observation& observation) {
      observation.path[0] = path;
      if (!is_right) swap_images_of_two(observation);
    };
  }

  /// Gives the catalogue one more property. Returns a case of it.
  Case case_of(const Property& property, const std::string& operation = "all_reduce") {
    catalogue_ = fake::catalogue({property});
    Case c = legal(operation);
    c.property = property.name;
    return c;
  }

  /// Returns a case whose property runs it three times.
  Case thrice() {
    Property property = fake::completes("runs_thrice");
    property.program = [](const spec::Contract&, const Case& c, std::vector<Case>& stages) {
      stages.assign(3, c);
    };
    return case_of(property);
  }

  /// The buffers of rank 1 of the legal case.
  [[nodiscard]] ImageLayout layout_of_rank_1() const {
    ImageLayout layout;
    lay_out(catalogue_.find("all_reduce")->contract, legal(), 1, ResultPlace::own_block, layout);
    return layout;
  }

  Catalogue catalogue_ = fake::catalogue();
  SpoiledBackend backend_;
  const Case by_ring_ = legal("all_reduce", R"("algorithm":"ring")");
  const Case with_fault_ = legal("all_reduce", R"("fault":"lost:3")");
};

TEST_F(ExaminerTest, MapsEveryStatus) {
  const std::vector<std::pair<RunStatus, std::string>> outcomes{
      {RunStatus::completed, "passed"},
      {RunStatus::failed, "falsified: planted"},
      {RunStatus::hung, "hung: planted"},
      {RunStatus::crashed, "crashed: planted"},
      {RunStatus::refused, "skipped: planted"},
      {RunStatus::errored, "errored: planted"},
  };
  for (const auto& [status, expected] : outcomes) {
    backend_.outcome = [ends = status](const Case&) { return ends; };
    EXPECT_EQ(outcome(legal()), expected);
  }
}

TEST_F(ExaminerTest, InvalidCasesAreErrorsAndNeverRun) {
  EXPECT_EQ(outcome(legal("all_reduce", R"("root":1)")), "errored: root: got 1, expected 0..0");
  EXPECT_EQ(backend_.runs, 0);
}

TEST_F(ExaminerTest, MemberImagesAreThoseOfTheGroup) {
  const Case c = legal("all_reduce", R"("group":[2,0])");
  EXPECT_EQ(outcome(c), "passed");
  backend_.spoil = swap_images_of_two;
  EXPECT_EQ(examine(c).verdict, Verdict::falsified);
}

TEST_F(ExaminerTest, CatchesAnotherPath) {
  say_path("tree");
  EXPECT_EQ(outcome(by_ring_), "falsified: asked for algorithm ring, ran tree");
  EXPECT_EQ(outcome(legal()), "passed") << "no algorithm was named";
}

/// A wrong result is one whatever ran.
TEST_F(ExaminerTest, AnAlgorithmThatNobodySawShowsNothingUnlessItsResultIsWrong) {
  say_path("ring: not seen to run");
  EXPECT_EQ(outcome(by_ring_), "vacuous: asked for algorithm ring: not seen to run");
  say_path("ring: not seen to run", false);
  EXPECT_EQ(examine(by_ring_).verdict, Verdict::falsified);
}

TEST_F(ExaminerTest, AWayOfTheAlgorithmIsNamedWhereTheCaseFails) {
  say_path("ring: both ways");
  EXPECT_EQ(outcome(by_ring_), "passed");
  say_path("ring: both ways", false);
  EXPECT_TRUE(begins(outcome(by_ring_), "falsified: "));
  EXPECT_TRUE(ends(outcome(by_ring_), "; stage 0 ran ring: both ways"));
  say_path("ringing");
  EXPECT_EQ(outcome(by_ring_), "falsified: asked for algorithm ring, ran ringing");
}

TEST_F(ExaminerTest, FaultsThatDoNotFireOrChangeNothingProveNothing) {
  EXPECT_EQ(outcome(with_fault_), "vacuous: the fault lost:3 did not fire");
  backend_.spoil = [](Observation& observation) { observation.fault_fired = true; };
  EXPECT_EQ(outcome(with_fault_), "vacuous: the fault lost:3 fired and changed nothing");
  backend_.spoil = [](Observation& observation) {
    observation.fault_fired = observation.fault_changed = true;
  };
  EXPECT_EQ(outcome(with_fault_), "passed");
}

TEST_F(ExaminerTest, PassesWhatThePropertyPassesWhateverTheJudgementHeld) {
  Judgement judgement;
  judgement.fail(Verdict::hung, "before");
  judgement.compared_bytes = 99;
  Examiner(catalogue_, backend_).examine(legal(), judgement);
  EXPECT_EQ(outcome_of(judgement), "passed");
  EXPECT_EQ(judgement.compared_bytes, 12);
}

TEST_F(ExaminerTest, SaysThatAnElementWasNotWritten) {
  const Case c = legal();
  backend_.spoil = [&](Observation& observation) {
    const auto place = ResultPlace::own_block;
    ImageLayout layout;
    Image before;
    prepare_stage(reference::contract_named, {&c, 1}, 0, 1, place, {}, layout, before);
    const auto element = layout.recv + std::int64_t{2} * spec::info(c.type).bytes;
    std::copy_n(before.begin() + element,
                spec::info(c.type).bytes,
                observation.stages[0].images[1].begin() + element);
  };
  const Judgement judgement = examine(c);
  EXPECT_EQ(judgement.verdict, Verdict::falsified);
  ASSERT_EQ(judgement.wrong.size(), 1U);
  EXPECT_EQ(judgement.wrong[0].index, 2);
  EXPECT_EQ(judgement.wrong[0].decoded, "not written");
}

/// Whatever the property says.
TEST_F(ExaminerTest, CatchesClobberedMemoryAndRanksThatDisagreeInEveryStage) {
  const Case c = thrice();
  EXPECT_EQ(outcome(c), "passed");
  for (std::size_t stage = 0; stage < 3; ++stage) {
    SCOPED_TRACE(stage);
    backend_.spoil = [stage](Observation& observation) {
      observation.stages[stage].images[2].back() ^= std::byte{1};
    };
    const Judgement clobbered = examine(c);
    EXPECT_EQ(outcome_of(clobbered),
              "falsified: rank 2: memory outside the buffers was written: 64 bytes past the end of "
              "recv");
    EXPECT_EQ(clobbered.symptom, Symptom::outside);
    backend_.spoil = [&](Observation& observation) {
      const std::int64_t byte_of_element_1 = layout_of_rank_1().recv + 5;
      observation.stages[stage].images[1][spec::to_size(byte_of_element_1)] ^= std::byte{1};
    };
    const Judgement differing = examine(c);
    EXPECT_EQ(outcome_of(differing), "falsified: differs from rank 0");
    ASSERT_EQ(differing.wrong.size(), 1U);
    EXPECT_EQ(differing.wrong[0].rank, 1);
    EXPECT_EQ(differing.wrong[0].index, 1);
  }
}

TEST_F(ExaminerTest, ARankThatNobodyLookedAtIsVacuous) {
  Property property = fake::completes("forgets_rank_2");
  property.check = [](const Evidence& evidence, Judgement& judgement) {
    fake::completes().check(evidence, judgement);
    judgement.compared_ranks.resize(2);
  };
  EXPECT_EQ(outcome(case_of(property)), "vacuous: nothing was compared of the output of rank 2");
}

TEST_F(ExaminerTest, OutputsThatNobodyLookedAtAreVacuousWhicheverRankHasThem) {
  Property property = fake::looks_away();
  property.name = "moves_the_root";
  property.program = [](const spec::Contract&, const Case& c, std::vector<Case>& stages) {
    stages.assign(2, c);
    collective(stages[1]).root = 1;
  };
  Case c = case_of(property, "reduce");
  collective(c).op = spec::ReduceOp::sum;
  EXPECT_EQ(outcome(c), "vacuous: nothing was compared of any output");
}

TEST_F(ExaminerTest, AnOutputWithoutAUsefulBoundIsVacuous) {
  Property property = fake::completes("sees_little");
  property.check = [](const Evidence& evidence, Judgement& judgement) {
    fake::completes().check(evidence, judgement);
    judgement.see(1, 0.01, "the sum");
    judgement.see(1, 0.1, "the mean");
  };
  EXPECT_EQ(outcome(case_of(property)),
            "vacuous: no bound of the mean is under 10 % of its largest magnitude");
}

TEST_F(ExaminerTest, RanksWithoutOutputNeedNoComparison) {
  EXPECT_EQ(outcome(legal("all_reduce", R"("count":0)")), "passed");
}

TEST_F(ExaminerTest, KeepsStagesAndObservation) {
  Examiner examiner(catalogue_, backend_);
  Judgement judgement;
  examiner.examine(legal(), judgement);
  ASSERT_EQ(examiner.stages().size(), 1U);
  EXPECT_EQ(examiner.stages()[0], legal());
  EXPECT_EQ(examiner.observation().stages.at(0).images.size(), 3U);
}

// --- comparisons of bits

/// Compares elements of this type, which are bytes, with others.
Judgement compare_bits(const std::string& fields,
                       const std::vector<int>& expected,
                       const std::vector<int>& got,
                       std::size_t stage = 0) {
  const auto bytes_of = [](const std::vector<int>& values) {
    std::vector<std::byte> bytes;
    for (const int value : values) bytes.push_back(static_cast<std::byte>(value));
    return bytes;
  };
  const Case c = legal("all_reduce", fields);
  const auto count = std::ssize(got) / spec::info(c.type).bytes;
  Judgement judgement;
  expect_same_bits({c, stage},
                   1,
                   10,
                   count,
                   bytes_of(got).data(),
                   bytes_of(expected).data(),
                   "differs",
                   judgement);
  return judgement;
}

constexpr const char* of_bytes = R"("type":"uint8")";

TEST(SameBitsTest, EqualElementsAreCounted) {
  const std::vector<int> three(12);
  const Judgement judgement = compare_bits(R"("type":"f32")", three, three);
  EXPECT_EQ(judgement.verdict, Verdict::passed);
  EXPECT_EQ(judgement.compared_bytes, 12);
}

TEST(SameBitsTest, WrongElementsAreListed) {
  const Judgement judgement =
      compare_bits(R"("type":"f16")", {1, 2, 3, 4, 5, 6}, {1, 2, 3, 0xab, 5, 6});
  EXPECT_EQ(outcome_of(judgement), "falsified: differs");
  EXPECT_EQ(judgement.wrong_count, 1);
  ASSERT_EQ(judgement.wrong.size(), 1U);
  EXPECT_EQ(judgement.wrong[0].rank, 1);
  EXPECT_EQ(judgement.wrong[0].index, 11);
  EXPECT_EQ(judgement.wrong[0].expected, "6.12e-05");
  EXPECT_EQ(judgement.wrong[0].got, "-0.05478");
  EXPECT_EQ(judgement.wrong[0].stage, 0U);
  EXPECT_TRUE(judgement.wrong[0].group.empty());
}

TEST(SameBitsTest, ValuesThatOnlyDifferInBitsHaveTheirBits) {
  const Judgement judgement =
      compare_bits(R"("type":"f32")", {1, 0, 0xc0, 0x7f}, {2, 0, 0xc0, 0xff});
  ASSERT_EQ(judgement.wrong.size(), 1U);
  EXPECT_EQ(judgement.wrong[0].expected, "nan (0x7fc00001)");
  EXPECT_EQ(judgement.wrong[0].got, "nan (0xffc00002)");
}

TEST(SameBitsTest, LaterStagesNameTheirGroup) {
  const Judgement judgement =
      compare_bits(std::string(of_bytes) + R"(,"group":[2,0])", {1}, {255}, 1);
  ASSERT_EQ(judgement.wrong.size(), 1U);
  EXPECT_EQ(judgement.wrong[0].stage, 1U);
  EXPECT_EQ(judgement.wrong[0].group, (std::vector<int>{2, 0}));
  EXPECT_EQ(judgement.wrong[0].got, "255");
}

TEST(SameBitsTest, AllWrongElementsAreCountedButFewListed) {
  const Judgement judgement =
      compare_bits(of_bytes, std::vector<int>(20, 0), std::vector<int>(20, 1));
  EXPECT_EQ(judgement.wrong_count, 20);
  EXPECT_EQ(judgement.wrong.size(), wrong_elements_max);
}

TEST(SameBitsTest, ZeroesOfBothSignsDiffer) {
  EXPECT_EQ(compare_bits(R"("type":"f16")", {0, 0}, {0, 0x80}).verdict, Verdict::falsified);
}

}  // namespace
}  // namespace rankcheck::harness
