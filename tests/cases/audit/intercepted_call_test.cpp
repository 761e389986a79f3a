#include "cases/audit/intercepted_call.hpp"

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "gpu/collectives/registry.hpp"

namespace rankcheck::cases::audit {
namespace {

using harness::Observation;
using spec::Array;

/// Returns a case of two ranks with one position each. It has a complex array, a real array and a
/// sum over the ranks.
const harness::Case& insert_case() {
  static const harness::Case c = harness::case_from_text(
      R"({"operation":"insert","ranks":2,"counts":[1,1],"rows":2,"cols":2,"window":1,"detector":1,)"
      R"("data_seed":7})");
  return c;
}

/// Runs the case. `replace_call` makes the call in place of the backend.
Observation run(std::function<void(const harness::Case&, const OperatorCall&)> replace_call) {
  SimBackend backend(gpu::implementations(), {.call = std::move(replace_call)});
  Observation observation;
  backend.run({&insert_case(), 1}, observation);
  EXPECT_EQ(observation.status, harness::RunStatus::completed) << observation.reason;
  return observation;
}

TEST(InterceptedCallTest, LeavesWhatThePlainCallLeaves) {
  const Observation plain = run({});
  const Observation intercepted =
      run([](const harness::Case&, const OperatorCall& call) { InterceptedCall(call, 0).run(); });
  EXPECT_EQ(intercepted.stages[0].images, plain.stages[0].images);
}

TEST(InterceptedCallTest, KeepsChangedInputsFromTheCaller) {
  Values before;
  Values seen;
  run([&](const harness::Case&, const OperatorCall& call) {
    InterceptedCall intercepted(call, 0);
    before = intercepted.input(Array::patches, 1);
    intercepted.change_input(Array::patches, [](Values& values, int) { values[0] = {2, 3}; });
    seen = intercepted.input(Array::patches, 1);
    EXPECT_EQ(InterceptedCall(call, 0).input(Array::patches, 1), before);
  });
  EXPECT_EQ(seen, (Values{{2, 3}}));
  EXPECT_NE(seen, before);
}

TEST(InterceptedCallTest, GivesTheImplementationTheChangedInputs) {
  run([](const harness::Case&, const OperatorCall& call) {
    InterceptedCall intercepted(call, 0);
    intercepted.change_input(Array::positions, [](Values& values, int) { values = {0, 1}; });
    intercepted.change_input(Array::patches,
                             [](Values& values, int rank) { values[0] = rank + 1; });
    intercepted.run();
    EXPECT_EQ(intercepted.output(Array::object, 0), (Values{0, 3, 0, 0}));
  });
}

TEST(InterceptedCallTest, SharesAWholeArrayOutAmongTheRanks) {
  run([](const harness::Case&, const OperatorCall& call) {
    InterceptedCall intercepted(call, 0);
    intercepted.set_input(Array::positions, 0, {1, 2});
    intercepted.set_input(Array::positions, 1, {3, 4});
    EXPECT_EQ(intercepted.all_input(Array::positions), (Values{1, 2, 3, 4}));
    intercepted.set_all_output(Array::object, {1, 2, 3, 4});
    EXPECT_EQ(intercepted.output(Array::object, 1), (Values{1, 2, 3, 4}));
  });
}

TEST(WrongClusterTest, LeavesTheCollectiveToTheHook) {
  run([](const harness::Case&, const OperatorCall& call) {
    InterceptedCall intercepted(call, 0);
    std::vector<std::string> called;
    intercepted.devices().on_collective = [&](CollectiveCall& made) {
      called.push_back(std::string(made.operation) + " " + std::to_string(made.number));
      made.keep();
      made.scale(0);
    };
    intercepted.run();
    EXPECT_EQ(called, (std::vector<std::string>{"all_reduce 0"}));
    EXPECT_EQ(intercepted.output(Array::object, 0), (Values(4)));
  });
}

TEST(RoundedToTest, RoundsBothParts) {
  constexpr double third = 1.0 / 3;
  const auto rounded = static_cast<double>(1.0F / 3);
  EXPECT_EQ(rounded_to(spec::Type::f32, {{third, -third}}), (Values{{rounded, -rounded}}));
}

}  // namespace
}  // namespace rankcheck::cases::audit
