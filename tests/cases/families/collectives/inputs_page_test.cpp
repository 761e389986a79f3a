#include "tests/cases/families/inputs_page.hpp"

#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "reference/collectives/registry.hpp"
#include "reference/spec/contract.hpp"

#include "harness/base/files.hpp"

/// cases/families/collectives/INPUTS.md describes the buffers of every collective for programs in
/// other languages. Its table must say what the contracts say.
namespace rankcheck::cases {
namespace {

/// Returns the words of the page for calls in place.
std::string in_place_of(const spec::Contract& contract) {
  switch (contract.in_place) {
    case spec::InPlace::none:
      return "no";
    case spec::InPlace::same:
      return "same";
    case spec::InPlace::send_within_recv:
      return "send in recv";
    case spec::InPlace::recv_within_send:
      return contract.in_place_overwrites ? "recv in send, overwrites" : "recv in send";
  }
  return {};
}

TEST(CollectivesPageTest, NamesEveryCollectiveAndHowItIsInPlace) {
  const std::string page = harness::read_file(std::filesystem::path(RANKCHECK_SOURCE_DIR) /
                                              "cases/families/collectives/INPUTS.md");
  tests::Facts on_page;
  tests::Strings differences;
  for (const tests::Strings& cells : tests::table_below(page, "## Buffers")) {
    ASSERT_GE(cells.size(), 4U) << cells.front();
    for (const std::string& name : tests::names_in(cells.front())) {
      tests::add_fact(name, cells[3], on_page, differences);
    }
  }
  tests::Facts in_code;
  for (const reference::Collective& each : reference::collectives()) {
    in_code[std::string(each.contract.name)] = in_place_of(each.contract);
  }
  tests::compare(on_page, in_code, differences);
  EXPECT_EQ(differences, tests::Strings{});
}

}  // namespace
}  // namespace rankcheck::cases
