#include "reference/ptycho/cancellation.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>

#include <gtest/gtest.h>

#include "reference/ptycho/registry.hpp"

#include "tests/print.hpp"

namespace rankcheck::reference {
namespace {

using spec::Array;

const PtychoOperator& operator_named(std::string_view name) {
  const auto& all = ptycho();
  return *std::find_if(all.begin(), all.end(), [&](const PtychoOperator& each) {
    return each.contract.name == name;
  });
}

/// Runs an operator on zeros at this number of positions.
void run(const PtychoOperator& of, std::int64_t positions) {
  OperatorArrays in;
  in.scene = {.rows = 4, .cols = 4, .window = 2, .detector = 2};
  in.positions = positions;
  in.unit = 0x1p-24;
  for (const Array array : ptycho(of.contract).inputs) in.make(array);
  OperatorArrays out = in;
  of.reference(in, out);
}

/// Stages of steps that take long if there are many positions.
class CancellationOfOperatorsTest : public testing::TestWithParam<std::string_view> {};

TEST_P(CancellationOfOperatorsTest, IsAskedForAtEveryPosition) {
  std::int64_t asked = 0;
  const CancellationScope cancellation([&] {
    ++asked;
    return false;
  });
  run(operator_named(GetParam()), 3);
  EXPECT_GE(asked, 3);
}

INSTANTIATE_TEST_SUITE_P(Stages,
                         CancellationOfOperatorsTest,
                         testing::Values("extract",
                                         "insert",
                                         "illuminate",
                                         "illuminate_adjoint_object",
                                         "illuminate_adjoint_probe",
                                         "propagate",
                                         "propagate_inverse",
                                         "intensity",
                                         "gaussian_cost",
                                         "poisson_cost",
                                         "object_preconditioner",
                                         "probe_preconditioner"),
                         tests::printed_name);

TEST(CancellationScopeTest, EndsAReferenceWhereItIsOver) {
  int asked = 0;
  const CancellationScope cancellation([&] { return ++asked == 2; });
  EXPECT_THROW(run(operator_named("illuminate"), 3), Cancelled);
  EXPECT_EQ(asked, 2);
}

TEST(CancellationScopeTest, IsThatOfTheLastOneWhoWaits) {
  bool is_over = true;
  const CancellationScope outer([&] { return is_over; });
  {
    const CancellationScope unlimited({});
    EXPECT_NO_THROW(CancellationScope::check());
  }
  EXPECT_THROW(CancellationScope::check(), Cancelled);
  is_over = false;
  EXPECT_NO_THROW(CancellationScope::check());
}

}  // namespace
}  // namespace rankcheck::reference
