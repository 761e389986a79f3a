#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/cases/cli.hpp"

namespace rankcheck {
namespace {

class MpiTransportTest : public tests::CliTest {
 protected:
  void SetUp() override {
    const tests::Outcome listed = rankcheck("list --json --backend mpi --operation broadcast");
    if (listed.out.find("over_tcp") == std::string::npos)
      GTEST_SKIP() << "the MPI library has no component btl/tcp";
  }
};

/// The worker throws if the transport was not taken.
TEST_F(MpiTransportTest, CarriesShortAndLongMessages) {
  const std::string begin =
      "run --backend mpi --algorithm 'over_*' --property agrees_with_reference --type int8 ";
  const tests::Outcome outcome =
      rankcheck(begin + "--operation 'all_reduce,all_to_all_v' --ranks 2..4 --cases 12 --report r");
  EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  const nlohmann::json findings = report("r").at("findings");
  EXPECT_GE(findings.size(), 2U) << outcome.out;
  for (const nlohmann::json& each : findings) EXPECT_EQ(each.at("verdict"), "passed") << each;
}

TEST_F(MpiTransportTest, HasNothingToDoForOneRank) {
  const tests::Outcome outcome =
      rankcheck(R"(replay '{"operation":"broadcast","backend":"mpi","algorithm":"over_tcp",)"
                R"("ranks":1,"count":3}')");
  EXPECT_NE(outcome.err.find("one rank: no data goes from process to process"), std::string::npos)
      << outcome.out << outcome.err;
}

TEST_F(MpiTransportTest, IsThatOfOneHost) {
  const tests::Outcome outcome =
      rankcheck(R"(replay '{"operation":"broadcast","backend":"mpi","algorithm":"over_tcp",)"
                R"("ranks":2,"count":3,"hosts":[0,1]}')");
  EXPECT_NE(outcome.err.find("hosts: "), std::string::npos) << outcome.out << outcome.err;
}

}  // namespace
}  // namespace rankcheck
