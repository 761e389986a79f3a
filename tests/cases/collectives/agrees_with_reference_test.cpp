#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "reference/spec/to_size.hpp"

#include "harness/case/family.hpp"

#include "cases/collectives/properties.hpp"
#include "cases/families/collectives/case.hpp"
#include "tests/cases/collectives/spoiled.hpp"

namespace rankcheck::cases {
namespace {

using harness::Case;
using harness::Judgement;
using harness::Observation;
using harness::Verdict;

/// Returns the address of element `index` in the output of group rank `rank`.
std::byte* output(std::span<const Case> stages,
                  Observation& observation,
                  int rank,
                  std::int64_t index) {
  const std::int64_t at =
      layout_of(stages[0], rank).recv + index * spec::info(stages[0].type).bytes;
  return observation.stages[0].images[spec::to_size(rank)].data() + at;
}

float load(const std::byte* at) {
  float value = 0;
  std::memcpy(&value, at, sizeof value);
  return value;
}

void store(float value, std::byte* at) {
  std::memcpy(at, &value, sizeof value);
}

const std::string general =
    R"({"operation":"all_reduce","ranks":4,"count":5,"op":"sum","data_seed":7})";
const std::string coded =
    R"({"operation":"all_reduce","ranks":3,"count":5,"op":"sum","input":"coded","data_seed":7})";
const std::string gather =
    R"({"operation":"all_gather","ranks":3,"count":2,"input":"coded","data_seed":7})";

/// Returns how the only wrong element of a case with changed results is decoded. Returns the
/// judgement's reason if there are more or none.
std::string only_decoded(const std::string& text, Spoil spoil = {}) {
  const Judgement judgement = examine(text, std::move(spoil));
  return judgement.wrong.size() == 1 ? judgement.wrong[0].decoded : judgement.reason;
}

/// Multiplies element 2 of rank 1 by 1 + `error`.
Spoil stretch(double error) {
  return [error](std::span<const Case> stages, Observation& observation) {
    std::byte* at = output(stages, observation, 1, 2);
    store(static_cast<float>(load(at) * (1 + error)), at);
  };
}

TEST(AgreesWithReferenceTest, TheRatioIsThatOfRightElements) {
  EXPECT_GT(examine(general).ratio_max, 0);
  const Judgement judgement = examine(general, stretch(0.5));
  EXPECT_EQ(judgement.verdict, Verdict::falsified);
  EXPECT_LE(judgement.ratio_max, 1);
}

TEST(AgreesWithReferenceTest, EveryByteOfEveryRankIsCompared) {
  EXPECT_EQ(examine(general).compared_bytes, 4 * 5 * 4);
  EXPECT_EQ(examine(gather).compared_bytes, 3 * 6 * 4);
}

/// Ranks that have the same output share what is expected of it.
TEST(AgreesWithReferenceTest, PowerIsThatOfWhatIsExpected) {
  const harness::Power sums = examine(general).power;
  EXPECT_EQ(sums.elements, 5);
  EXPECT_EQ(sums.useful, 5);
  EXPECT_EQ(examine(gather).power.elements, 6);
}

/// An element of recv that broadcast's reference does not know.
TEST(AgreesWithReferenceTest, OutputsThatTheReferenceLeavesOutAreErrors) {
  harness::Operation broadcast = *all_operations().find("broadcast");
  collective(broadcast.contract).extents = [](const spec::Call& call, int, spec::Extents& extents) {
    extents.send_size = spec::append_even(extents.send, 1, call.count);
    extents.recv_size = spec::append_even(extents.recv, 1, call.count + 1);
  };
  const harness::Catalogue catalogue({broadcast});
  const harness::BackendTraits traits;
  const std::vector<Case> stages{
      harness::case_from_text(R"({"operation":"broadcast","ranks":1,"count":2})")};
  harness::ImageLayout layout;
  lay_out(broadcast.contract, stages[0], 0, traits.result_place, layout);
  Observation observation;
  observation.stages.resize(1);
  prepare(harness::family_of(broadcast.contract),
          stages[0],
          0,
          layout,
          nullptr,
          observation.stages[0].images.emplace_back());
  Judgement judgement;
  agrees_with_reference().check(
      {.catalogue = catalogue, .traits = traits, .stages = stages, .observation = observation},
      judgement);
  EXPECT_EQ(judgement.verdict, Verdict::errored);
}

TEST(AgreesWithReferenceTest, ErrorsBeyondTheBoundAreFalsified) {
  const Judgement judgement = examine(general, stretch(1e-3));
  EXPECT_EQ(judgement.verdict, Verdict::falsified);
  EXPECT_EQ(judgement.wrong_count, 1);
  ASSERT_EQ(judgement.wrong.size(), 1U);
  EXPECT_EQ(judgement.wrong[0].rank, 1);
  EXPECT_EQ(judgement.wrong[0].index, 2);
  EXPECT_GT(judgement.wrong[0].error, judgement.wrong[0].bound);
  EXPECT_GT(judgement.wrong[0].bound, 0);
}

TEST(AgreesWithReferenceTest, ExactInputsAdmitNoError) {
  const std::string exact =
      R"({"operation":"all_reduce","ranks":4,"count":5,"op":"sum","input":"exact"})";
  const Judgement judgement = examine(exact, stretch(2e-7));
  EXPECT_EQ(judgement.verdict, Verdict::falsified);
  EXPECT_EQ(judgement.wrong[0].bound, 0);
}

TEST(AgreesWithReferenceTest, NanIsNeverWithinTheBound) {
  const Judgement judgement = examine(general, stretch(std::nan("")));
  EXPECT_EQ(judgement.verdict, Verdict::falsified);
}

/// Subtracts rank 1's contribution from an element of rank 0's output.
TEST(AgreesWithReferenceTest, MissingRanksAreNamed) {
  const auto subtract = [](std::span<const Case> stages, Observation& seen) {
    const harness::BufferView other{layout_of(stages[0], 1), seen.stages[0].images[1].data()};
    std::byte* at = output(stages, seen, 0, 3);
    store(load(at) - load(other.send() + 12), at);
  };
  EXPECT_EQ(only_decoded(coded, subtract), "rank 1 missing");
}

TEST(AgreesWithReferenceTest, LostSpecialValuesAreNamed) {
  const auto lost = [](const std::string& type, const auto& is_special) {
    const std::string text =
        R"({"operation":"broadcast","ranks":2,"count":64,"input":"special","type":")" + type +
        "\"}";
    return only_decoded(text, [&](std::span<const Case> stages, Observation& seen) {
      std::int64_t i = 0;
      while (!is_special(load(output(stages, seen, 1, i)))) ++i;
      store(0, output(stages, seen, 1, i));
    });
  };
  EXPECT_EQ(lost("f32", [](float value) { return std::isnan(value); }), "a NaN was dropped");
  EXPECT_EQ(lost("f32", [](float value) { return std::fpclassify(value) == FP_SUBNORMAL; }),
            "a subnormal number became 0");
}

TEST(AgreesWithReferenceTest, MovedElementsTellTheirOrigin) {
  const auto move = [](std::span<const Case> stages, Observation& seen) {
    std::copy_n(output(stages, seen, 0, 5), 4, output(stages, seen, 0, 0));
  };
  EXPECT_EQ(only_decoded(gather, move), "element 1 of rank 2");
  EXPECT_EQ(only_decoded(gather, stretch(0.3)), "no input of any rank");
}

/// Element 1 of rank 0 gets the data of rank 2 as it is outside the call.
TEST(AgreesWithReferenceTest, InvertedElementsTellTheirOrigin) {
  const auto decoded_with = [](const std::string& path) {
    const auto invert = [&](std::span<const Case> stages, Observation& seen) {
      std::byte* at = output(stages, seen, 0, 1);
      std::copy_n(output(stages, seen, 0, 5), 4, at);
      std::for_each(at, at + 4, [](std::byte& each) { each = ~each; });
      seen.path[0] = path;
    };
    return examine(gather, invert).wrong.at(0).decoded;
  };
  EXPECT_EQ(decoded_with("persistent"), "element 1 of rank 2 in another start");
  EXPECT_EQ(decoded_with("ring"), "element 1 of rank 2 with inverted bits, as outside the call");
}

TEST(AgreesWithReferenceTest, MemoryOfAnotherRankTellsItsOrigin) {
  const auto copy = [](std::span<const Case> stages, Observation& seen) {
    const harness::Image before = memory_before(stages[0], 2);
    const std::int64_t recv = layout_of(stages[0], 2).recv;
    std::copy_n(before.data() + recv + 12, 4, output(stages, seen, 0, 1));
  };
  EXPECT_EQ(only_decoded(gather, copy), "element 3 of rank 2 before the call");
}

TEST(AgreesWithReferenceTest, AllWrongElementsAreCountedButFewListed) {
  const Judgement judgement = examine(gather, [](std::span<const Case> stages, Observation& seen) {
    for (int rank = 0; rank < 3; ++rank) {
      for (int i = 0; i < 6; ++i) store(0.5F, output(stages, seen, rank, i));
    }
  });
  EXPECT_EQ(judgement.wrong_count, 18);
  EXPECT_EQ(judgement.wrong.size(), harness::wrong_elements_max);
}

/// The output is longer than the block of elements that is folded at a time.
TEST(AgreesWithReferenceTest, LongBlocksAreJudgedToTheEnd) {
  const std::string text =
      R"({"operation":"all_reduce","ranks":2,"count":5000,"op":"sum","input":"exact"})";
  const Judgement judgement = examine(text, [](std::span<const Case> stages, Observation& seen) {
    store(0.5F, output(stages, seen, 1, 4999));
  });
  EXPECT_EQ(judgement.compared_bytes, 2 * 5000 * 4);
  ASSERT_EQ(judgement.wrong.size(), 1U);
  EXPECT_EQ(judgement.wrong[0].index, 4999);
}

TEST(AgreesWithReferenceTest, SaysNothingOfABarrier) {
  Case c;
  c.operation = "barrier";
  EXPECT_FALSE(agrees_with_reference().applies(contract_of(c), c));
}

/// Returns a case of two calls on two ranks with these further fields.
std::string two_calls(const std::string& fields) {
  return R"({"property":"repeats_with_other_data","repeat":2,"ranks":2,"count":2,)" + fields + "}";
}
const std::string two_gathers = two_calls(R"("input":"exact","operation":"all_gather",)"
                                          R"("data_seed":3,"type":"f32")");

/// Gives call 2 the output of call 1.
void return_earlier_result(std::span<const Case> /*stages*/, Observation& observation) {
  observation.stages[1].images[1] = observation.stages[0].images[1];
}

TEST(RepeatsTest, NamesTheCallThatAStaleResultBelongsTo) {
  for (const char* call :
       {R"("operation":"all_reduce","op":"sum")", R"("operation":"all_gather","input":"exact")"}) {
    const std::string text = two_calls(R"("in_place":true,)" + std::string(call));
    const Judgement judgement = examine(text, return_earlier_result);
    ASSERT_EQ(judgement.verdict, Verdict::falsified) << judgement.reason;
    ASSERT_FALSE(judgement.wrong.empty());
    for (const harness::WrongElement& each : judgement.wrong) {
      EXPECT_EQ(each.decoded, "result of call 1 of rank 1") << text;
    }
  }
}

/// Replaces the term of rank 0 in the first sum of call 2 on rank 1 by that of call 1.
void add_earlier_term(std::span<const Case> stages, Observation& observation) {
  const auto term = [&](std::size_t call) {
    const auto at = layout_of(stages[call], 0).send;
    return load(observation.stages[call].images[0].data() + at);
  };
  std::byte* const sum = observation.stages[1].images[1].data() + layout_of(stages[1], 1).recv;
  store(load(sum) - term(1) + term(0), sum);
}

TEST(RepeatsTest, NamesTheCallThatAStaleTermOfASumBelongsTo) {
  const std::string sums =
      two_calls(R"("input":"exact","operation":"all_reduce","op":"sum","data_seed":3)");
  EXPECT_EQ(only_decoded(sums, add_earlier_term), "term of call 1 of rank 0");
}

/// Gives the first element that rank 1 gets in call 2 the second input of rank 0 in call 1.
void move_earlier_input(std::span<const Case> stages, Observation& observation) {
  const auto at = layout_of(stages[0], 0).send;
  std::byte* const got = observation.stages[1].images[1].data() + layout_of(stages[1], 1).recv;
  store(load(observation.stages[0].images[0].data() + at + sizeof(float)), got);
}

TEST(RepeatsTest, NamesTheCallAndTheRankOfAStaleInput) {
  EXPECT_EQ(only_decoded(two_gathers, move_earlier_input), "element 1 of rank 0 in call 1");
}

/// Gives the first element of rank 1 the second one, in call 1 or in call 2.
TEST(RepeatsTest, NamesNoCallForAnElementOfItsOwnInputs) {
  for (const std::size_t call : {std::size_t{0}, std::size_t{1}}) {
    const auto move = [&](std::span<const Case> stages, Observation& observation) {
      std::byte* const at =
          observation.stages[call].images[1].data() + layout_of(stages[call], 1).recv;
      store(load(at + sizeof(float)), at);
    };
    for (const std::string input : {"coded", "general"}) {
      const std::string gathers = R"(,"operation":"all_gather","type":"f32")";
      EXPECT_EQ(only_decoded(two_calls(R"("input":")" + input + '"' + gathers), move),
                "element 1 of rank 0")
          << call << input;
    }
  }
}

/// Call 1 leaves what only call 2 should give: the other rank may be a call ahead.
TEST(RepeatsTest, NamesALaterCall) {
  const Judgement judgement =
      examine(two_gathers, [](std::span<const Case>, Observation& observation) {
        observation.stages[0].images[1] = observation.stages[1].images[1];
      });
  ASSERT_FALSE(judgement.wrong.empty()) << judgement.reason;
  EXPECT_EQ(judgement.wrong[0].stage, 0U);
  EXPECT_EQ(judgement.wrong[0].decoded, "result of call 2 of rank 1");
}

TEST(RepeatsTest, TellsElementsThatACallDidNotWrite) {
  const Judgement judgement = examine(
      R"({"property":"repeats_with_other_data","repeat":2,"ranks":3,"count":2,"input":"coded",)"
      R"("operation":"all_gather","algorithm":"direct","type":"int32","fault":"lost:0"})");
  ASSERT_EQ(judgement.verdict, Verdict::falsified) << judgement.reason;
  ASSERT_FALSE(judgement.wrong.empty());
  for (const harness::WrongElement& each : judgement.wrong) {
    EXPECT_EQ(each.decoded, "not written");
  }
}

/// Returns the kind of inputs that a property draws for a case.
harness::InputKind drawn_for(const std::string& property, Case c) {
  all_operations().find_property(c.operation, property)->adapt(contract_of(c), c);
  return c.input;
}

TEST(RepeatsTest, DrawsNoDataThatIsEqualInAllCalls) {
  using harness::InputKind;
  const std::string repeats = "repeats_with_other_data";
  EXPECT_EQ(drawn_for(repeats, harness::case_from_text(gather)), InputKind::general);
  Case c = harness::case_from_text(coded);
  EXPECT_EQ(drawn_for(repeats, c), InputKind::coded);
  collective(c).op = spec::ReduceOp::max;
  EXPECT_EQ(drawn_for(repeats, c), InputKind::general);
  EXPECT_EQ(drawn_for("keeps_groups_apart", c), InputKind::general);
}

TEST(RepeatsTest, MakesOneStageForEachCall) {
  Case c = harness::case_from_text(gather);
  collective(c).repeat = 4;
  std::vector<Case> stages;
  all_operations()
      .find_property(c.operation, "repeats_with_other_data")
      ->program(contract_of(c), c, stages);
  ASSERT_EQ(stages.size(), 4U);
  EXPECT_EQ(stages[3].data_seed, c.data_seed + 3);
  // No worker gets the field.
  for (const Case& each : stages) EXPECT_EQ(to_json(each).count("repeat"), 0U);
}

using MarkRows = std::vector<std::string>;

/// The sum of three int32 over two ranks.
const std::string sum_case =
    R"({"operation":"all_reduce","algorithm":"ring","backend":"sim","ranks":2,"count":3,)"
    R"("type":"int32","op":"sum","input":"coded","data_seed":7)";

/// Replaces an element of the output of rank 1 by one of a buffer in its memory before the call.
MarkRows marks_with(const std::string& end_of_case,
                    int element,
                    std::int64_t harness::ImageLayout::*buffer) {
  const auto replace = [&](std::span<const Case> stages, Observation& seen) {
    const harness::Image old = memory_before(stages[0], 1);
    const std::int64_t at = layout_of(stages[0], 1).*buffer + std::int64_t{4} * element;
    std::copy_n(old.data() + at, 4, output(stages, seen, 1, element));
  };
  return examine(sum_case + end_of_case, replace).marks;
}

TEST(MarksTest, TellWhatIsWrongWithAnElement) {
  EXPECT_EQ(examine(sum_case + "}").marks, MarkRows{});
  // An element that holds poison is not written.
  EXPECT_EQ(marks_with("}", 1, &harness::ImageLayout::recv), (MarkRows{"...", ".u."}));
  // The own input lacks the other contribution.
  EXPECT_EQ(marks_with("}", 2, &harness::ImageLayout::send), (MarkRows{"...", "..m"}));
  // In place, an element that was left alone holds the same.
  EXPECT_EQ(marks_with(R"(,"in_place":true})", 2, &harness::ImageLayout::recv),
            (MarkRows{"...", "..m"}));
  const auto flip = [](std::span<const Case> stages, Observation& seen) {
    output(stages, seen, 0, 0)[3] ^= std::byte{0x40};
  };
  EXPECT_EQ(examine(sum_case + "}", flip).marks, (MarkRows{"x..", "..."}));
}

/// Makes the output of the first member wrong in the call of each group in turn.
TEST(MarksTest, APictureOfGroupsShowsTheRanksOfTheWorld) {
  const std::string text =
      R"({"operation":"all_reduce","property":"groups_at_once","ranks":3,"count":1,)"
      R"("type":"int32","op":"sum","input":"coded","data_seed":3})";
  const auto marks_with = [&](std::size_t call) {
    const auto spoil = [&](std::span<const Case> stages, Observation& observation) {
      const harness::ImageLayout layout = layout_of(stages[call], 0);
      observation.stages[call].images[0][spec::to_size(layout.recv + 3)] ^= std::byte{0x40};
    };
    return examine(text, spoil).marks;
  };
  // The groups are {0, 1} and {2}, and then the world.
  EXPECT_EQ(marks_with(0), (MarkRows{"x", ".", "."}));
  EXPECT_EQ(marks_with(1), (MarkRows{".", ".", "x"}));
  EXPECT_EQ(marks_with(2), (MarkRows{"x", ".", "."}));
}

}  // namespace
}  // namespace rankcheck::cases
