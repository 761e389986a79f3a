#include "cases/families/collectives/family.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "reference/registry.hpp"

#include "harness/backend/backend.hpp"
#include "harness/base/random_source.hpp"
#include "harness/case/case.hpp"

#include "cases/families/collectives/case.hpp"

/// What a worker is told besides the case and its buffers, and how and when calls are made.
namespace rankcheck::cases {
namespace {

using harness::case_from_text;

nlohmann::ordered_json extras(const std::string& fields, int world_rank) {
  return collectives_family().extras(case_from_text("{" + fields + "}"), world_rank);
}

/// A table that was written by hand: whom each place of a group of three sends to and receives
/// from. The group is 4, 2, 7. -1 is nobody.
TEST(CollectiveExtrasTest, PartnersOfSendRecvArePlaces) {
  using Pairs = std::array<std::pair<int, int>, 3>;
  const auto partners = [](const std::string& fields) {
    const std::string all = R"("operation":"send_recv","ranks":8,"group":[4,2,7],"count":1)";
    const auto place = [](const nlohmann::ordered_json& said) {
      return said.is_null() ? -1 : said.get<int>();
    };
    Pairs pairs;
    for (const auto& [k, rank] : {std::pair(0U, 4), std::pair(1U, 2), std::pair(2U, 7)}) {
      const nlohmann::ordered_json said = extras(all + fields, rank);
      pairs.at(k) = {place(said.at("to")), place(said.at("from"))};
    }
    return pairs;
  };
  EXPECT_EQ(partners(""), (Pairs{{{1, 2}, {2, 0}, {0, 1}}}));
  EXPECT_EQ(partners(R"(,"shift":-1)"), (Pairs{{{2, 1}, {0, 2}, {1, 0}}}));
  EXPECT_EQ(partners(R"(,"shift":5)"), (Pairs{{{2, 1}, {0, 2}, {1, 0}}}));
  EXPECT_EQ(partners(R"(,"pattern":"pairs")"), (Pairs{{{1, 1}, {0, 0}, {2, 2}}}));
  EXPECT_EQ(partners(R"(,"pattern":"self")"), (Pairs{{{0, 0}, {1, 1}, {2, 2}}}));
  EXPECT_EQ(partners(R"(,"pattern":"one_way")"), (Pairs{{{1, -1}, {-1, 0}, {-1, -1}}}));
}

TEST(CollectiveExtrasTest, OtherOperationsHaveNoPartners) {
  EXPECT_TRUE(extras(R"("operation":"all_gather","ranks":2,"count":1)", 1).empty());
}

TEST(CollectiveExtrasTest, TheScalarIsInHexadecimalDigits) {
  const auto said = extras(R"("operation":"all_reduce","ranks":2,"count":1,"type":"f32",)"
                           R"("op":"premul_sum","input":"coded")",
                           1);
  EXPECT_EQ(said, nlohmann::ordered_json({{"scalar", "0000803f"}}));
}

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
