#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "harness/operation.hpp"

#include "cases/suites/catalogue.hpp"

namespace rankcheck::cases {
namespace {

using harness::Case;

/// The groups of the stages of keeps_groups_apart.
std::vector<std::vector<int>> groups(const std::string& text) {
  static const harness::Catalogue catalogue = make_catalogue();
  const Case c = harness::case_from_text(text);
  EXPECT_EQ(why_invalid(catalogue, c), "");
  std::vector<Case> stages;
  catalogue.find_property(c.operation, c.property)
      ->program(catalogue.find(c.operation)->contract, c, stages);
  std::vector<std::vector<int>> found;
  for (const Case& each : stages) found.push_back(members(each));
  return found;
}

/// Some libraries take no other groups.
TEST(NextGroupTest, AscendsIfTheFirstOneDoes) {
  using Groups = std::vector<std::vector<int>>;
  const auto of = [](const std::string& fields) {
    return groups(R"({"operation":"gather_v","property":"keeps_groups_apart",)" + fields + "}");
  };
  EXPECT_EQ(of(R"("ranks":3,"counts":[1,2,3],"root":2)"), (Groups{{0, 1, 2}, {1, 2}, {0, 1, 2}}));
  EXPECT_EQ(of(R"("ranks":2,"counts":[1,2])"), (Groups{{0, 1}, {1}, {0, 1}}));
  EXPECT_EQ(of(R"("ranks":3,"group":[0,2],"counts":[1,2])"), (Groups{{0, 2}, {0, 1}, {0, 2}}));
  EXPECT_EQ(of(R"("ranks":3,"group":[2,0,1],"counts":[1,2,3])"),
            (Groups{{2, 0, 1}, {0, 1, 2}, {2, 0, 1}}));
}

}  // namespace
}  // namespace rankcheck::cases
