#include "harness/check/operation.hpp"

#include <algorithm>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "reference/spec/to_size.hpp"

#include "harness/case/image.hpp"

#include "cases/families/collectives/case.hpp"
#include "tests/harness/fake.hpp"
#include "tests/print.hpp"

namespace rankcheck::harness {
namespace {

using cases::collective;

using fake::FakeBackend;

/// Returns a legal case of three ranks.
Case legal(const std::string& operation = "all_reduce") {
  Case c;
  c.operation = operation;
  c.property = "completes";
  c.ranks = 3;
  collective(c).op = operation == "all_reduce" ? spec::ReduceOp::sum : spec::ReduceOp::none;
  c.count = 4;
  c.input = InputKind::exact;
  return c;
}

// --- which cases can be examined

struct Illegal {
  std::string name;
  std::string operation;
  std::function<void(Case& c)> change;
  std::string why;

  friend void PrintTo(const Illegal& each, std::ostream* out) { *out << each.name; }
};

class WhyInvalidTest : public testing::TestWithParam<Illegal> {};

TEST_P(WhyInvalidTest, NamesTheField) {
  Case c = legal(GetParam().operation);
  ASSERT_EQ(why_invalid(fake::catalogue(), c), "");
  GetParam().change(c);
  EXPECT_EQ(why_invalid(fake::catalogue(), c), GetParam().why);
}

std::vector<Illegal> illegal_calls() {
  const std::string reduce = "all_reduce";
  const std::string move = "broadcast";
  return {
      {"operation", move, [](Case& c) { c.operation = "x"; }, "operation: unknown name \"x\""},
      {"property",
       move,
       [](Case& c) { c.property = "x"; },
       "property: broadcast claims no property \"x\""},
      {"ranks", move, [](Case& c) { c.ranks = 0; }, "ranks: got 0, expected at least 1"},
      {"group_too_high",
       move,
       [](Case& c) {
         c.group = {0, 3};
       },
       "group: got 3, expected ranks in 0..2"},
      {"group_negative",
       move,
       [](Case& c) { c.group = {-1}; },
       "group: got -1, expected ranks in 0..2"},
      {"group_twice",
       move,
       [](Case& c) {
         c.group = {1, 1};
       },
       "group: rank 1 appears twice"},
      {"root",
       move,
       [](Case& c) {
         c.group = {2, 1};
         collective(c).root = 2;
       },
       "root: got 2, expected 0..1"},
      {"root_of_none",
       reduce,
       [](Case& c) { collective(c).root = 1; },
       "root: got 1, expected 0..0"},
      {"op_missing",
       reduce,
       [](Case& c) { collective(c).op = spec::ReduceOp::none; },
       R"(op: got none, expected one, as in {"op":"sum"})"},
      {"op_of_no_reduction",
       move,
       [](Case& c) { collective(c).op = spec::ReduceOp::sum; },
       "op: got sum, this operation does not reduce"},
      {"op_of_complex",
       reduce,
       [](Case& c) {
         c.type = spec::Type::complex64;
         collective(c).op = spec::ReduceOp::max;
       },
       "op: max is not defined for type complex64"},
      {"count", move, [](Case& c) { c.count = -1; }, "count: out of range, got -1"},
      {"counts",
       move,
       [](Case& c) { c.counts = {1}; },
       "counts: got a list of 1, expected 0 values"},
      {"gap", move, [](Case& c) { collective(c).gap = 1; }, "gap: only counts have gaps"},
      {"outer",
       move,
       [](Case& c) { collective(c).outer = 2; },
       "outer: not a size of this operation"},
      {"in_place",
       "send_recv",
       [](Case& c) { c.in_place = true; },
       "in_place: send_recv has no such call"},
  };
}

std::vector<Illegal> illegal_inputs() {
  const std::string reduce = "all_reduce";
  const std::string move = "broadcast";
  const std::string index_why = ", expected 0..281474976710656";
  return {
      {"input_of_integers",
       reduce,
       [](Case& c) {
         c.type = spec::Type::int32;
         c.input = InputKind::cancelling;
       },
       "input: cancelling is not defined for type int32 and op sum"},
      {"input_without_a_stage_before",
       reduce,
       [](Case& c) { c.input = InputKind::previous; },
       "input: previous is for the later stages of a property"},
      {"given_without_arrays",
       reduce,
       [](Case& c) { c.input = InputKind::given; },
       "input: given is for rankcheck evaluate, which reads the inputs from files"},
      {"scaled_general",
       reduce,
       [](Case& c) {
         c.input = InputKind::general;
         c.scale = 2;
       },
       "scale, added_seed: expected input exact"},
      {"added_coded",
       reduce,
       [](Case& c) {
         c.input = InputKind::coded;
         c.added_seed = 2;
       },
       "scale, added_seed: expected input exact"},
      {"scale", reduce, [](Case& c) { c.scale = 3; }, "scale: got 3, expected -2..2"},
      {"offset", move, [](Case& c) { c.offset = 4097; }, "offset: got 4097, expected 0..4096"},
      {"offset_negative", move, [](Case& c) { c.offset = -1; }, "offset: got -1, expected 0..4096"},
      {"fine_input",
       move,
       [](Case& c) { c.input = InputKind::fine; },
       "input: fine is for operations with arrays"},
      {"chunk", move, [](Case& c) { c.chunk = -1; }, "chunk: got -1, expected 0 or more"},
      {"late", move, [](Case& c) { c.late = -2; }, "late: got -2, expected -1..2"},
      {"late_beyond", move, [](Case& c) { c.late = 3; }, "late: got 3, expected -1..2"},
      {"late_beyond_group",
       move,
       [](Case& c) {
         c.group = {2, 1};
         c.late = 2;
       },
       "late: got 2, expected -1..1"},
      {"rotate", move, [](Case& c) { c.rotate = 3; }, "rotate: got 3, expected 0..2"},
      {"repeat_of_another_property",
       move,
       [](Case& c) { collective(c).repeat = 2; },
       "repeat: only the property repeats_with_other_data repeats calls"},
      {"repeat_never",
       move,
       [](Case& c) { collective(c).repeat = 0; },
       "repeat: got 0, expected 1..8"},
      {"first_index",
       move,
       [](Case& c) { collective(c).first_index = -1; },
       "first_index, index_stride: got -1" + index_why},
      {"index_stride",
       move,
       [](Case& c) { collective(c).index_stride = (std::int64_t{1} << 48) + 1; },
       "first_index, index_stride: got 281474976710657" + index_why},
  };
}

TEST(WhyInvalidStrideTest, NamesTheField) {
  Case c = legal("broadcast");
  collective(c).send_stride = 17;
  EXPECT_EQ(why_invalid(fake::catalogue(), c), "send_stride: got 17, expected 1..16");
  c = legal("barrier");
  c.count = 0;
  collective(c).recv_stride = 2;
  EXPECT_EQ(why_invalid(fake::catalogue(), c), "recv_stride: got 2, expected 1 for barrier");
}

INSTANTIATE_TEST_SUITE_P(Call,
                         WhyInvalidTest,
                         testing::ValuesIn(illegal_calls()),
                         tests::printed_name);
INSTANTIATE_TEST_SUITE_P(Input,
                         WhyInvalidTest,
                         testing::ValuesIn(illegal_inputs()),
                         tests::printed_name);

TEST(WhyInvalidTest, InPlaceTwoRanksGiveEachOtherTheSameNumber) {
  Case c = legal("all_to_all_v");
  c.count = 0;
  c.counts = {1, 2, 0, 2, 4, 5, 0, 5, 6};
  c.in_place = true;
  EXPECT_EQ(why_invalid(fake::catalogue(), c), "");
  c.counts[3] = 7;
  EXPECT_EQ(
      why_invalid(fake::catalogue(), c),
      "counts: got 2 and 7, expected as many elements from rank 0 to rank 1 as back in place");
  c.in_place = false;
  EXPECT_EQ(why_invalid(fake::catalogue(), c), "");
}

TEST(WhyInvalidTest, PropertiesMayHaveNothingToSay) {
  Property silent = fake::completes();
  silent.name = "silent";
  silent.applies = [](const spec::Contract& contract, const Case&) {
    return collective(contract).rooted;
  };
  const Catalogue catalogue = fake::catalogue({silent});
  Case c = legal();
  c.property = "silent";
  EXPECT_EQ(why_invalid(catalogue, c), "property: silent says nothing about this case");
  c = legal("broadcast");
  c.property = "silent";
  EXPECT_EQ(why_invalid(catalogue, c), "");
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
  using FakeBackend::FakeBackend;
  std::function<void(Observation& observation)> spoil = [](Observation&) {};

  void run(std::span<const Case> stages, Observation& observation) override {
    FakeBackend::run(stages, observation);
    spoil(observation);
  }
};

class ExaminerTest : public testing::Test {
 protected:
  Judgement examine(const Case& c) {
    Judgement judgement;
    Examiner(catalogue_, backend_).examine(c, judgement);
    return judgement;
  }

  Catalogue catalogue_ = fake::catalogue();
  SpoiledBackend backend_{catalogue_};
};

TEST_F(ExaminerTest, PassesWhatThePropertyPasses) {
  const Judgement judgement = examine(legal());
  EXPECT_EQ(judgement.verdict, Verdict::passed) << judgement.reason;
  EXPECT_EQ(judgement.compared_bytes, 12);
}

TEST_F(ExaminerTest, MapsEveryStatus) {
  const std::vector<std::pair<RunStatus, Verdict>> verdicts{
      {RunStatus::completed, Verdict::passed},
      {RunStatus::failed, Verdict::falsified},
      {RunStatus::hung, Verdict::hung},
      {RunStatus::crashed, Verdict::crashed},
      {RunStatus::refused, Verdict::skipped},
      {RunStatus::errored, Verdict::errored},
  };
  for (const auto& [status, verdict] : verdicts) {
    backend_.outcome = [ends = status](const Case&) { return ends; };
    const Judgement judgement = examine(legal());
    EXPECT_EQ(judgement.verdict, verdict);
    EXPECT_EQ(judgement.reason, status == RunStatus::completed ? "" : "planted");
  }
}

TEST_F(ExaminerTest, InvalidCasesAreErrorsAndNeverRun) {
  Case c = legal();
  collective(c).root = 1;
  const Judgement judgement = examine(c);
  EXPECT_EQ(judgement.verdict, Verdict::errored);
  EXPECT_EQ(judgement.reason, "root: got 1, expected 0..0");
  EXPECT_EQ(backend_.runs, 0);
}

TEST_F(ExaminerTest, CatchesClobberedMemory) {
  backend_.spoil = [](Observation& observation) {
    observation.stages[0].images[2].back() ^= std::byte{1};
  };
  const Judgement judgement = examine(legal());
  EXPECT_EQ(judgement.verdict, Verdict::falsified);
  EXPECT_EQ(judgement.reason,
            "rank 2: memory outside the buffers was written: 64 bytes past the end of recv");
}

TEST_F(ExaminerTest, MemberImagesAreThoseOfTheGroup) {
  Case c = legal();
  c.group = {2, 0};
  EXPECT_EQ(examine(c).verdict, Verdict::passed);
  backend_.spoil = [](Observation& observation) {
    std::swap(observation.stages[0].images[0], observation.stages[0].images[1]);
  };
  EXPECT_EQ(examine(c).verdict, Verdict::falsified);
}

TEST_F(ExaminerTest, CatchesAnotherPath) {
  Case c = legal();
  c.algorithm = "ring";
  backend_.spoil = [](Observation& observation) { observation.path[0] = "tree"; };
  const Judgement judgement = examine(c);
  EXPECT_EQ(judgement.verdict, Verdict::falsified);
  EXPECT_EQ(judgement.reason, "asked for algorithm ring, ran tree");
}

/// A wrong result is one whatever ran.
TEST_F(ExaminerTest, AnAlgorithmThatNobodySawShowsNothingUnlessItsResultIsWrong) {
  Case c = legal();
  c.algorithm = "ring";
  backend_.spoil = [](Observation& observation) { observation.path[0] = "ring: not seen to run"; };
  EXPECT_EQ(examine(c).verdict, Verdict::vacuous);
  EXPECT_EQ(examine(c).reason, "asked for algorithm ring: not seen to run");
  backend_.spoil = [](Observation& observation) {
    observation.path[0] = "ring: not seen to run";
    std::swap(observation.stages[0].images[0], observation.stages[0].images[1]);
  };
  EXPECT_EQ(examine(c).verdict, Verdict::falsified);
}

TEST_F(ExaminerTest, AWayOfTheAlgorithmIsNamedWhereTheCaseFails) {
  Case c = legal();
  c.algorithm = "ring";
  backend_.spoil = [](Observation& observation) { observation.path[0] = "ring: both ways"; };
  EXPECT_EQ(examine(c).verdict, Verdict::passed);
  backend_.spoil = [](Observation& observation) {
    observation.path[0] = "ring: both ways";
    std::swap(observation.stages[0].images[0], observation.stages[0].images[1]);
  };
  const Judgement judgement = examine(c);
  EXPECT_EQ(judgement.verdict, Verdict::falsified);
  EXPECT_TRUE(judgement.reason.ends_with("; stage 0 ran ring: both ways")) << judgement.reason;
  backend_.spoil = [](Observation& observation) { observation.path[0] = "ringing"; };
  EXPECT_EQ(examine(c).reason, "asked for algorithm ring, ran ringing");
}

TEST_F(ExaminerTest, AnyPathWillDoWhereNoneWasNamed) {
  backend_.spoil = [](Observation& observation) { observation.path[0] = "tree"; };
  EXPECT_EQ(examine(legal()).verdict, Verdict::passed);
}

TEST_F(ExaminerTest, FaultsThatDoNotFireProveNothing) {
  Case c = legal();
  c.fault = "lost:3";
  const Judgement judgement = examine(c);
  EXPECT_EQ(judgement.verdict, Verdict::vacuous);
  EXPECT_EQ(judgement.reason, "the fault lost:3 did not fire");
}

TEST_F(ExaminerTest, FaultsThatChangeNothingProveNothing) {
  Case c = legal();
  c.fault = "lost:3";
  backend_.spoil = [](Observation& observation) { observation.fault_fired = true; };
  const Judgement judgement = examine(c);
  EXPECT_EQ(judgement.verdict, Verdict::vacuous);
  EXPECT_EQ(judgement.reason, "the fault lost:3 fired and changed nothing");
}

TEST_F(ExaminerTest, FaultsThatChangeSomethingAreJudgedAsUsual) {
  Case c = legal();
  c.fault = "lost:3";
  backend_.spoil = [](Observation& observation) {
    observation.fault_fired = observation.fault_changed = true;
  };
  EXPECT_EQ(examine(c).verdict, Verdict::passed);
}

TEST_F(ExaminerTest, JudgementsStartAfresh) {
  Judgement judgement;
  judgement.fail(Verdict::hung, "before");
  judgement.compared_bytes = 99;
  Examiner(catalogue_, backend_).examine(legal(), judgement);
  EXPECT_EQ(judgement.verdict, Verdict::passed);
  EXPECT_EQ(judgement.compared_bytes, 12);
}

TEST_F(ExaminerTest, CatchesRanksThatDisagreeWhateverTheProperty) {
  backend_.spoil = [](Observation& observation) {
    Image& image = observation.stages[0].images[1];
    ImageLayout layout;
    lay_out(
        fake::catalogue().find("all_reduce")->contract, legal(), 1, ResultPlace::own_block, layout);
    image[spec::to_size(layout.recv) + 5] ^= std::byte{1};
  };
  const Judgement judgement = examine(legal());
  EXPECT_EQ(judgement.verdict, Verdict::falsified);
  EXPECT_EQ(judgement.reason, "differs from rank 0");
  ASSERT_EQ(judgement.wrong.size(), 1U);
  EXPECT_EQ(judgement.wrong[0].rank, 1);
  EXPECT_EQ(judgement.wrong[0].index, 1);
}

TEST_F(ExaminerTest, SaysThatAnElementWasNotWritten) {
  const Case c = legal();
  backend_.spoil = [&](Observation& observation) {
    const auto contract_of = [&](std::string_view operation) -> const spec::Contract& {
      return catalogue_.find(operation)->contract;
    };
    ImageLayout layout;
    Image before;
    prepare_stage(contract_of, {&c, 1}, 0, 1, ResultPlace::own_block, {}, layout, before);
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

/// Returns a case whose property runs it three times.
Case thrice(Catalogue& catalogue) {
  Property property = fake::completes();
  property.name = "runs_thrice";
  property.program = [](const spec::Contract&, const Case& c, std::vector<Case>& stages) {
    stages.assign(3, c);
  };
  catalogue = fake::catalogue({property});
  Case c = legal();
  c.property = "runs_thrice";
  return c;
}

TEST_F(ExaminerTest, CatchesClobberedMemoryInEveryStage) {
  const Case c = thrice(catalogue_);
  EXPECT_EQ(examine(c).verdict, Verdict::passed);
  for (std::size_t stage = 0; stage < 3; ++stage) {
    backend_.spoil = [stage](Observation& observation) {
      observation.stages[stage].images[2].back() ^= std::byte{1};
    };
    const Judgement judgement = examine(c);
    EXPECT_EQ(judgement.verdict, Verdict::falsified) << stage;
    EXPECT_EQ(judgement.symptom, Symptom::outside) << stage;
  }
}

TEST_F(ExaminerTest, CatchesRanksThatDisagreeInEveryStage) {
  const Case c = thrice(catalogue_);
  ImageLayout layout;
  lay_out(catalogue_.find("all_reduce")->contract, c, 1, ResultPlace::own_block, layout);
  for (std::size_t stage = 0; stage < 3; ++stage) {
    backend_.spoil = [&](Observation& observation) {
      observation.stages[stage].images[1][spec::to_size(layout.recv)] ^= std::byte{1};
    };
    const Judgement judgement = examine(c);
    EXPECT_EQ(judgement.verdict, Verdict::falsified) << stage;
    EXPECT_EQ(judgement.reason, "differs from rank 0") << stage;
  }
}

TEST_F(ExaminerTest, ARankThatNobodyLookedAtIsVacuous) {
  Property property = fake::completes();
  property.name = "forgets_rank_2";
  property.check = [](const Evidence& evidence, Judgement& judgement) {
    fake::completes().check(evidence, judgement);
    judgement.compared_ranks.resize(2);
  };
  catalogue_ = fake::catalogue({property});
  Case c = legal();
  c.property = "forgets_rank_2";
  const Judgement judgement = examine(c);
  EXPECT_EQ(judgement.verdict, Verdict::vacuous);
  EXPECT_EQ(judgement.reason, "nothing was compared of the output of rank 2");
}

TEST_F(ExaminerTest, OutputsThatNobodyLookedAtAreVacuousWhicheverRankHasThem) {
  Property property = fake::looks_away();
  property.name = "moves_the_root";
  property.program = [](const spec::Contract&, const Case& c, std::vector<Case>& stages) {
    stages.assign(2, c);
    collective(stages[1]).root = 1;
  };
  catalogue_ = fake::catalogue({property});
  Case c = legal("reduce");
  collective(c).op = spec::ReduceOp::sum;
  c.property = "moves_the_root";
  const Judgement judgement = examine(c);
  EXPECT_EQ(judgement.verdict, Verdict::vacuous);
  EXPECT_EQ(judgement.reason, "nothing was compared of any output");
}

TEST_F(ExaminerTest, AnOutputWithoutAUsefulBoundIsVacuous) {
  Property property = fake::completes();
  property.name = "sees_little";
  property.check = [](const Evidence& evidence, Judgement& judgement) {
    fake::completes().check(evidence, judgement);
    judgement.see(1, 0.01, "the sum");
    judgement.see(1, 0.1, "the mean");
  };
  catalogue_ = fake::catalogue({property});
  Case c = legal();
  c.property = "sees_little";
  const Judgement judgement = examine(c);
  EXPECT_EQ(judgement.verdict, Verdict::vacuous);
  EXPECT_EQ(judgement.reason, "no bound of the mean is under 10 % of its largest magnitude");
}

TEST_F(ExaminerTest, RanksWithoutOutputNeedNoComparison) {
  Case c = legal();
  c.count = 0;
  EXPECT_EQ(examine(c).verdict, Verdict::passed);
}

TEST_F(ExaminerTest, KeepsStagesAndObservation) {
  Examiner examiner(catalogue_, backend_);
  Judgement judgement;
  examiner.examine(legal(), judgement);
  ASSERT_EQ(examiner.stages().size(), 1U);
  EXPECT_EQ(examiner.stages()[0], legal());
  EXPECT_EQ(examiner.observation().stages[0].images.size(), 3U);
}

// --- comparisons of bits

std::vector<std::byte> bytes_of(const std::vector<std::uint8_t>& values) {
  std::vector<std::byte> bytes;
  for (const std::uint8_t value : values) bytes.push_back(std::byte{value});
  return bytes;
}

TEST(SameBitsTest, EqualElementsAreCounted) {
  const Case c = legal();
  const std::vector<std::byte> bytes(12);
  Judgement judgement;
  expect_same_bits(c, 0, 0, 3, bytes.data(), bytes.data(), "differs", judgement);
  EXPECT_EQ(judgement.verdict, Verdict::passed);
  EXPECT_EQ(judgement.compared_bytes, 12);
}

TEST(SameBitsTest, WrongElementsAreListed) {
  Case c = legal();
  c.type = spec::Type::f16;
  const auto expected = bytes_of({1, 2, 3, 4, 5, 6});
  const auto got = bytes_of({1, 2, 3, 0xab, 5, 6});
  Judgement judgement;
  expect_same_bits(c, 2, 10, 3, got.data(), expected.data(), "differs", judgement);
  EXPECT_EQ(judgement.verdict, Verdict::falsified);
  EXPECT_EQ(judgement.reason, "differs");
  EXPECT_EQ(judgement.wrong_count, 1);
  ASSERT_EQ(judgement.wrong.size(), 1U);
  EXPECT_EQ(judgement.wrong[0].rank, 2);
  EXPECT_EQ(judgement.wrong[0].index, 11);
  EXPECT_EQ(judgement.wrong[0].expected, "6.12e-05");
  EXPECT_EQ(judgement.wrong[0].got, "-0.05478");
  EXPECT_EQ(judgement.wrong[0].stage, 0U);
  EXPECT_TRUE(judgement.wrong[0].group.empty());
}

TEST(SameBitsTest, ValuesThatOnlyDifferInBitsHaveTheirBits) {
  Case c = legal();
  c.type = spec::Type::f32;
  const auto expected = bytes_of({1, 0, 0xc0, 0x7f});
  const auto got = bytes_of({2, 0, 0xc0, 0xff});
  Judgement judgement;
  expect_same_bits(c, 0, 0, 1, got.data(), expected.data(), "differs", judgement);
  ASSERT_EQ(judgement.wrong.size(), 1U);
  EXPECT_EQ(judgement.wrong[0].expected, "nan (0x7fc00001)");
  EXPECT_EQ(judgement.wrong[0].got, "nan (0xffc00002)");
}

TEST(SameBitsTest, LaterStagesNameTheirGroup) {
  Case c = legal();
  c.type = spec::Type::uint8;
  c.group = {2, 0};
  const auto expected = bytes_of({1});
  const auto got = bytes_of({255});
  Judgement judgement;
  expect_same_bits({c, 1}, 1, 4, 1, got.data(), expected.data(), "differs", judgement);
  ASSERT_EQ(judgement.wrong.size(), 1U);
  EXPECT_EQ(judgement.wrong[0].stage, 1U);
  EXPECT_EQ(judgement.wrong[0].group, (std::vector<int>{2, 0}));
  EXPECT_EQ(judgement.wrong[0].got, "255");
}

TEST(SameBitsTest, AllWrongElementsAreCountedButFewListed) {
  Case c = legal();
  c.type = spec::Type::uint8;
  const std::vector<std::byte> expected(20);
  const std::vector<std::byte> got(20, std::byte{1});
  Judgement judgement;
  expect_same_bits(c, 0, 0, 20, got.data(), expected.data(), "differs", judgement);
  EXPECT_EQ(judgement.wrong_count, 20);
  EXPECT_EQ(judgement.wrong.size(), wrong_elements_max);
}

TEST(SameBitsTest, ZeroesOfBothSignsDiffer) {
  Case c = legal();
  c.type = spec::Type::f16;
  const auto plus = bytes_of({0, 0});
  const auto minus = bytes_of({0, 0x80});
  Judgement judgement;
  expect_same_bits(c, 0, 0, 1, minus.data(), plus.data(), "differs", judgement);
  EXPECT_EQ(judgement.verdict, Verdict::falsified);
}

}  // namespace
}  // namespace rankcheck::harness
