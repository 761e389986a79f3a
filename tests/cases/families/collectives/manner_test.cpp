#include <gtest/gtest.h>

#include "reference/registry.hpp"

#include "harness/backend.hpp"
#include "harness/case.hpp"
#include "harness/random_source.hpp"

#include "cases/families/collectives/case.hpp"
#include "cases/families/collectives/family.hpp"

/// How and when the calls of cases are made.
namespace rankcheck::cases {
namespace {

TEST(CollectiveMannerTest, CasesThatHaveStridesKeepThem) {
  harness::Case plain = harness::case_from_text(R"({"operation":"broadcast","ranks":2,"count":3})");
  harness::Case strided = plain;
  collective(strided).recv_stride = 3;
  const spec::Contract& contract = reference::contract_named("broadcast");
  harness::BackendTraits traits;
  traits.has_strides = true;
  int drawn = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    harness::Case c = strided;
    harness::RandomSource random(seed);
    collectives_family().draw_manner(contract, random, traits, c);
    EXPECT_EQ(c, strided);
    c = plain;
    harness::RandomSource again(seed);
    collectives_family().draw_manner(contract, again, traits, c);
    drawn += c == plain ? 0 : 1;
  }
  EXPECT_GT(drawn, 0);
}

}  // namespace
}  // namespace rankcheck::cases
