#include "reference/ptycho/cancellation.hpp"

#include <algorithm>
#include <string_view>

#include <gtest/gtest.h>

#include "reference/ptycho/registry.hpp"

#include "tests/reference/ptycho/outputs.hpp"

namespace rankcheck::reference {
namespace {

const PtychoOperator& operator_named(std::string_view name) {
  const auto& all = ptycho();
  return *std::find_if(all.begin(), all.end(), [&](const PtychoOperator& each) {
    return each.contract.name == name;
  });
}

/// Runs an operator on zeros at three positions.
void run(std::string_view name) {
  const PtychoOperator& of = operator_named(name);
  OperatorArrays in = arrays_of({.rows = 4, .cols = 4, .window = 2, .detector = 2}, {3}, {});
  for (const Array array : ptycho(of.contract).inputs) in.make(array);
  outputs_of(of.reference, in);
}

/// These stages of steps take long if there are many positions.
TEST(CancellationScopeTest, IsAskedForAtEveryPosition) {
  for (const std::string_view stage : {"extract",
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
                                       "probe_preconditioner"}) {
    int asked = 0;
    const CancellationScope cancellation([&] { return ++asked == 0; });
    run(stage);
    EXPECT_GE(asked, 3) << stage;
  }
}

TEST(CancellationScopeTest, EndsAReferenceWhereItIsOver) {
  int asked = 0;
  const CancellationScope cancellation([&] { return ++asked == 2; });
  EXPECT_THROW(run("illuminate"), Cancelled);
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
