#include "cases/evaluate/evaluate.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "reference/spec/to_size.hpp"

#include "harness/case/family.hpp"
#include "harness/search/generator.hpp"

#include "cases/backends/sim.hpp"
#include "tests/cases/collectives/spoiled.hpp"
#include "tests/harness/sample.hpp"
#include "tests/harness/text.hpp"

namespace rankcheck::cases::evaluate {
namespace {

using harness::BadInput;
using harness::Case;
using harness::Verdict;

/// Makes a user's array of the values of a slot: one file if that is possible, else one for each
/// rank.
UserArray user_array(const Slot& slot, const std::vector<std::byte>& bytes) {
  UserArray array{.name = slot.name, .path = slot.name + ".npy", .files = {}};
  if (slot.whole) {
    array.files.emplace_back(harness::to_npy(slot.type, bytes.data(), *slot.whole));
    return array;
  }
  array.path = slot.name + "{rank}.npy";
  const std::byte* at = bytes.data();
  for (const std::optional<Shape>& part : slot.parts) {
    auto& file = array.files.emplace_back();
    if (!part) continue;
    file.emplace(harness::to_npy(slot.type, at, *part));
    at += count_of(*part) * spec::info(slot.type).bytes;
  }
  return array;
}

/// Reads the arrays of one side from the images of all ranks.
std::vector<std::vector<std::byte>> values_of(const Case& c,
                                              Side side,
                                              const std::vector<harness::Image>& images) {
  const spec::Contract& contract = contract_of(c);
  const std::vector<Slot> slots = arrays_of(contract).slots(contract, c, side);
  const std::int64_t bytes = spec::info(c.type).bytes;
  std::vector<std::vector<std::byte>> values;
  for (const Slot& slot : slots) {
    values.emplace_back(spec::to_size(count_of(slot) * spec::info(slot.type).bytes));
  }
  for (std::size_t r = 0; r < images.size(); ++r) {
    const harness::ImageLayout layout = layout_of(c, static_cast<int>(r));
    const std::int64_t begin = side == Side::input ? layout.send : layout.recv;
    for (const Run& run : arrays_of(contract).runs(contract, c, side, static_cast<int>(r))) {
      std::copy_n(images[r].data() + begin + run.offset * bytes,
                  run.count * bytes,
                  values[run.slot].data() + run.first * bytes);
    }
  }
  return values;
}

std::vector<UserArray> user_arrays(const Case& c,
                                   Side side,
                                   const std::vector<harness::Image>& images) {
  const spec::Contract& contract = contract_of(c);
  const std::vector<Slot> slots = arrays_of(contract).slots(contract, c, side);
  const auto values = values_of(c, side, images);
  std::vector<UserArray> arrays;
  for (std::size_t s = 0; s < slots.size(); ++s) {
    arrays.push_back(user_array(slots[s], values[s]));
  }
  return arrays;
}

/// A case that was drawn for an operation.
Case drawn(const std::string& operation, std::uint64_t seed) {
  static const auto backend = open_sim({});
  harness::Unit unit = harness::sample_unit(operation);
  unit.algorithm.clear();
  unit.property = all_operations().find(operation)->properties.front().name;
  harness::Generator generator(all_operations(), *backend, unit, seed);
  harness::RandomSource words(seed);
  Case c;
  EXPECT_TRUE(generator.next(words.next(), 30, c));
  // A user's arrays have no strides.
  harness::find_family(operation)->make_dense(c);
  // Its inputs are drawn for the scene, so they keep to the rules for values.
  c.input = harness::InputKind::general;
  return c;
}

std::vector<harness::Image> images_before(const Case& c) {
  std::vector<harness::Image> images;
  for (int r = 0; r < harness::group_size(c); ++r) images.push_back(memory_before(c, r));
  return images;
}

/// The drawn inputs of a case, as a user's own inputs.
std::vector<UserArray> inputs_of(const Case& c) {
  std::vector<UserArray> inputs = user_arrays(c, Side::input, images_before(c));
  for (UserArray& each : inputs) {
    // The scalars are in no buffer.
    if (each.name != "scalar") continue;
    const std::vector<std::byte> zeros(1024);
    each.files.assign(
        1, harness::NpyArray(harness::to_npy(c.type, zeros.data(), {harness::group_size(c)})));
  }
  return inputs;
}

/// The same case with its drawn inputs as a user's own inputs.
Case with_given_inputs(const Case& c) {
  Case own = c;
  own.input = harness::InputKind::given;
  give_inputs(contract_of(c), inputs_of(c), own);
  return own;
}

std::vector<std::string> operations_with_arrays() {
  std::vector<std::string> names;
  for (const harness::Operation& each : all_operations().operations()) {
    if (each.contract.has_buffers) names.emplace_back(each.contract.name);
  }
  return names;
}

class EveryOperationTest : public testing::TestWithParam<std::string> {};

TEST_P(EveryOperationTest, TakesAUsersInputsAndOutputs) {
  const auto backend = open_sim({});
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const Case c = with_given_inputs(drawn(GetParam(), seed));
    // What a rank has in its image is what the rules would have put there.
    Case by_rule = c;
    by_rule.given = nullptr;
    by_rule.input = harness::InputKind::general;
    ASSERT_EQ(values_of(c, Side::input, images_before(c)),
              values_of(c, Side::input, images_before(by_rule)))
        << to_text(c);
    harness::Observation observation;
    backend->run(std::span(&c, 1), observation);
    ASSERT_EQ(observation.status, harness::RunStatus::completed) << observation.reason;
    const std::vector<UserArray> outputs =
        user_arrays(c, Side::output, observation.stages.front().images);
    const ExpectedOutcome outcome = ReferenceCall(all_operations(), c).judge(outputs);
    EXPECT_NE(outcome.judgement.verdict, Verdict::falsified)
        << to_text(c) << ": " << outcome.judgement.reason;
    EXPECT_NE(outcome.judgement.verdict, Verdict::errored) << outcome.judgement.reason;
    for (const auto& [name, worst] : outcome.worst) {
      if (!worst) continue;
      EXPECT_LE(worst->ratio, 1) << name << ' ' << worst->place << ' ' << to_text(c);
    }
  }
}

TEST_P(EveryOperationTest, SizesFollowFromTheShapes) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    Case c = drawn(GetParam(), seed);
    std::string shapes;
    for (const Description& each :
         arrays_of(contract_of(c)).describe(contract_of(c), Side::input)) {
      shapes += each.shape;
    }
    nlohmann::ordered_json fields = to_json(c);
    for (const char* field : {"slices", "rows", "cols", "modes", "window", "detector", "count"}) {
      if (shapes.find(field) != shapes.npos && shapes.find("what each rank holds") == shapes.npos) {
        fields.erase(field);
      }
    }
    if (family(contract_of(c)) == "ptycho") fields.erase("type");
    Case completed = complete_case(contract_of(c), inputs_of(c), fields);
    completed.input = c.input;
    EXPECT_EQ(to_text(completed), to_text(c)) << fields.dump();
  }
}

INSTANTIATE_TEST_SUITE_P(All,
                         EveryOperationTest,
                         testing::ValuesIn(operations_with_arrays()),
                         [](const auto& name) { return name.param; });

/// intensity of one position, on given waves.
class EvaluateIntensityTest : public testing::Test {
 protected:
  static constexpr std::array<float, 8> waves{3, 4, 1, 0, 0, 0, 0, 2};

  EvaluateIntensityTest() {
    inputs_.push_back({.name = "far_waves", .path = "far_waves.npy", .files = {}});
    inputs_.back().files.emplace_back(harness::to_npy(
        spec::Type::complex64, std::as_bytes(std::span(waves)).data(), {1, 1, 2, 2}));
    c_ = complete_case(contract(), inputs_, read_fields(contract(), "{}"));
    give_inputs(contract(), inputs_, c_);
  }

  static const spec::Contract& contract() { return all_operations().find("intensity")->contract; }

  static UserArray frames(const std::array<float, 4>& values) {
    UserArray array{.name = "frames", .path = "frames.npy", .files = {}};
    array.files.emplace_back(
        harness::to_npy(spec::Type::f32, std::as_bytes(std::span(values)).data(), {1, 2, 2}));
    return array;
  }

  ExpectedOutcome judge(const std::array<float, 4>& values) {
    const std::vector<UserArray> expected{frames(values)};
    return ReferenceCall(all_operations(), c_).judge(expected);
  }

  std::vector<UserArray> inputs_;
  Case c_;
};

TEST_F(EvaluateIntensityTest, SizesFollowFromTheShapes) {
  EXPECT_EQ(to_text(c_),
            R"({"operation":"intensity","backend":"sim","ranks":1,"counts":[1],"type":"f32",)"
            R"("rows":2,"cols":2,"window":2,"detector":2,"input":"given"})");
}

TEST_F(EvaluateIntensityTest, RightDataPasses) {
  const ExpectedOutcome outcome = judge({25, 1, 0, 4});
  EXPECT_EQ(outcome.judgement.verdict, Verdict::passed) << outcome.judgement.reason;
  EXPECT_EQ(outcome.judgement.compared_bytes, 16);
  ASSERT_TRUE(outcome.worst.front().second);
  EXPECT_EQ(outcome.worst.front().second->ratio, 0);
}

TEST_F(EvaluateIntensityTest, OneValueWithinItsBoundPassesAndBeyondItIsFound) {
  const float next = std::nextafter(25.0F, 26.0F);
  const ExpectedOutcome within = judge({next, 1, 0, 4});
  EXPECT_EQ(within.judgement.verdict, Verdict::passed);
  const Worst& close = *within.worst.front().second;
  EXPECT_EQ(close.place, "[0, 0, 0]");
  EXPECT_GT(close.ratio, 0);
  EXPECT_LE(close.ratio, 1);
  const auto beyond_bound = static_cast<float>(25 + 2 * close.bound);
  const ExpectedOutcome beyond = judge({25, 1, 0, beyond_bound});
  EXPECT_EQ(beyond.judgement.verdict, Verdict::falsified);
  EXPECT_EQ(beyond.judgement.wrong_count, 1);
  const ExpectedOutcome just_beyond = judge({beyond_bound, 1, 0, 4});
  EXPECT_EQ(just_beyond.judgement.verdict, Verdict::falsified);
  const Worst& worst = *just_beyond.worst.front().second;
  EXPECT_EQ(worst.place, "[0, 0, 0]");
  EXPECT_EQ(worst.expected, "25");
  EXPECT_NEAR(worst.ratio, 2, 0.2);
}

TEST_F(EvaluateIntensityTest, NanIsFound) {
  const ExpectedOutcome outcome = judge({25, 1, 0, std::nanf("")});
  EXPECT_EQ(outcome.judgement.verdict, Verdict::falsified);
  EXPECT_EQ(outcome.worst.front().second->place, "[0, 1, 1]");
  EXPECT_TRUE(std::isinf(outcome.worst.front().second->ratio));
}

TEST_F(EvaluateIntensityTest, WritesTheReferenceAndItsBounds) {
  const std::vector<NamedPath> outputs{{"frames", "reference.npy"}, {"frames.bound", "b.npy"}};
  const auto files = ReferenceCall(all_operations(), c_).write(outputs);
  ASSERT_EQ(files.size(), 2U);
  EXPECT_EQ(files[0].first, "reference.npy");
  for (const auto& [path, content] : files) {
    const harness::NpyArray array(content);
    EXPECT_EQ(array.description(), "<f8");
    EXPECT_EQ(array.shape(), (Shape{1, 2, 2}));
  }
  double first = 0;
  std::memcpy(&first, harness::NpyArray(files[0].second).elements().data(), sizeof first);
  EXPECT_EQ(first, 25);
}

/// A step has several outputs. A user may expect only some of them.
TEST(EvaluateTest, OnlyGivenOutputsAreJudged) {
  const auto backend = open_sim({});
  const Case c = with_given_inputs(drawn("rpie_step", 2));
  harness::Observation observation;
  backend->run(std::span(&c, 1), observation);
  std::vector<UserArray> outputs = user_arrays(c, Side::output, observation.stages.front().images);
  const ReferenceCall reference(all_operations(), c);
  const std::vector<UserArray> cost{outputs.front()};
  const ExpectedOutcome outcome = reference.judge(cost);
  EXPECT_EQ(outcome.judgement.verdict, Verdict::passed) << outcome.judgement.reason;
  EXPECT_EQ(outcome.judgement.compared_bytes % spec::info(c.type).bytes, 0);
  EXPECT_LT(outcome.judgement.compared_bytes, reference.judge(outputs).judgement.compared_bytes);
}

/// The refusal of a step whose input `name` has one number replaced.
std::string refusal_of_value(const std::string& name, std::size_t number, float value) {
  Case c = drawn("rpie_step", 1);
  c.type = spec::Type::f32;
  std::vector<harness::Image> images = images_before(c);
  std::vector<UserArray> inputs;
  const std::vector<Slot> slots = arrays_of(contract_of(c)).slots(contract_of(c), c, Side::input);
  auto values = values_of(c, Side::input, images);
  for (std::size_t s = 0; s < slots.size(); ++s) {
    // Every pixel is measured.
    constexpr float one = 1;
    for (std::size_t i = 0; slots[s].name == "mask" && i < values[s].size(); i += sizeof one) {
      std::memcpy(values[s].data() + i, &one, sizeof one);
    }
    if (slots[s].name == name)
      std::memcpy(values[s].data() + number * sizeof value, &value, sizeof value);
    inputs.push_back(user_array(slots[s], values[s]));
  }
  c.input = harness::InputKind::given;
  return harness::complaint_of<BadInput>([&] { give_inputs(contract_of(c), inputs, c); });
}

TEST(EvaluateTest, RefusesValuesWithoutAMeaning) {
  EXPECT_EQ(refusal_of_value("frames", 0, 7), "");
  EXPECT_EQ(refusal_of_value("frames", 0, -7),
            "--input frames: value [0, 0, 0]: got -7, expected 0 or more");
  EXPECT_EQ(refusal_of_value("mask", 1, 0.5F),
            "--input mask: value [0, 1]: got 0.5, expected 0 or 1");
  EXPECT_EQ(refusal_of_value("object", 3, std::nanf("")),
            "--input object: value [0, 0, 1]: got nan, expected a finite number");
  EXPECT_EQ(
      refusal_of_value("object", 0, 1e-30F),
      "--input object: value [0, 0, 0]: got 1e-30, expected 0 or a magnitude in 1e-18..1e+18");
  EXPECT_NE(refusal_of_value("positions", 0, 1e30F).find("so that the window is near the object"),
            std::string::npos);
  // Nobody looks at a pixel that is not measured.
  EXPECT_EQ(refusal_of_value("mask", 0, 0), "");
}

TEST(EvaluateTest, RefusesBadArguments) {
  const std::vector<std::string> names{"object", "probe"};
  const auto read = [&](const std::vector<std::string>& arguments) {
    return harness::complaint_of<BadInput>(
        [&] { return read_arguments("--input", arguments, names); });
  };
  EXPECT_EQ(read({"object=o.npy", "probe=p.npy"}), "");
  EXPECT_EQ(read({"objct=o.npy"}),
            "--input: objct: expected one of object, probe; did you mean object?");
  EXPECT_EQ(read({"object"}), "--input: object: expected NAME=FILE.npy");
  EXPECT_EQ(read({"object="}), "--input: object=: expected NAME=FILE.npy");
  EXPECT_EQ(read({"object=a", "object=b"}), "--input: object was given twice");
  const spec::Contract& contract = all_operations().find("crop")->contract;
  const auto fields = [&](const std::string& text) {
    return harness::complaint_of<BadInput>([&] { return read_fields(contract, text); });
  };
  EXPECT_EQ(fields("{"), "--case: expected a JSON object");
  EXPECT_EQ(fields("[]"), "--case: expected a JSON object");
  EXPECT_EQ(fields(R"({"operation":"pad"})"), "--case: operation: expected crop or nothing");
  EXPECT_EQ(fields(R"({"scan":"whole"})"),
            "--case: scan: expected no such field, because the inputs are your own");
  EXPECT_EQ(fields(R"({"input":"exact"})"),
            "--case: input: expected no such field, because the inputs are your own");
}

TEST(EvaluateTest, RefusesArraysThatDoNotFit) {
  const Slot slot{.name = "send", .type = spec::Type::f32, .whole = Shape{2, 3}, .parts = {}};
  const std::vector<std::byte> zeros(256);
  const auto gather_of = [&](spec::Type type, const Shape& shape) {
    UserArray array{.name = "send", .path = "s.npy", .files = {}};
    array.files.emplace_back(harness::to_npy(type, zeros.data(), shape));
    return harness::complaint_of<BadInput>([&] { return gather("--input", slot, array); });
  };
  EXPECT_EQ(gather_of(spec::Type::f32, {2, 3}), "");
  EXPECT_EQ(gather_of(spec::Type::f32, {1, 2, 3}), "");
  EXPECT_EQ(gather_of(spec::Type::f32, {3, 2}),
            "--input send: s.npy: got shape (3, 2), expected (2, 3)");
  EXPECT_EQ(gather_of(spec::Type::f64, {2, 3}),
            "--input send: s.npy: got dtype <f8, expected <f4 (f32)");
}

}  // namespace
}  // namespace rankcheck::cases::evaluate
