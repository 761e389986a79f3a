#include <algorithm>

#include <gtest/gtest.h>

#include "reference/registry.hpp"

#include "harness/backend/backend.hpp"
#include "harness/base/random_source.hpp"
#include "harness/case/case.hpp"

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

/// In place, the counts of two ranks are the same both ways.
TEST(CollectiveMannerTest, LargeCountsInPlaceAreMirrored) {
  const spec::Contract& contract = reference::contract_named("all_to_all_v");
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    harness::Case c = harness::case_from_text(
        R"({"operation":"all_to_all_v","ranks":3,"counts":[1,1,1,1,1,1,1,1,1],"in_place":true})");
    harness::RandomSource random(seed);
    ASSERT_TRUE(collectives_family().enlarge(contract, random, 4096, c));
    const harness::Case large = c;
    EXPECT_NE(*std::max_element(c.counts.begin(), c.counts.end()), 1);
    collectives_family().settle(contract, c);
    EXPECT_EQ(c, large) << to_text(large);
  }
}

}  // namespace
}  // namespace rankcheck::cases
