#include <array>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "harness/case/case.hpp"

#include "cases/families/collectives/family.hpp"

/// What a worker is told besides the case and its buffers.
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

}  // namespace
}  // namespace rankcheck::cases
