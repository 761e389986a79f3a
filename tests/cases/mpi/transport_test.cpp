#include <filesystem>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "harness/base/files.hpp"

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

TEST_F(MpiTransportTest, CarriesMessagesInSeveralParts) {
  for (const std::string algorithm : {"over_tcp", "over_cma", "over_ucx"}) {
    const tests::Outcome outcome =
        rankcheck(R"(replay --times 1 '{"operation":"broadcast","backend":"mpi","ranks":3,)"
                  R"("type":"f64","count":200000,"algorithm":")" +
                  algorithm + R"("}')");
    if (outcome.err.find("algorithm: ") != std::string::npos) continue;
    EXPECT_NE(outcome.out.find("verdict    passed"), std::string::npos) << outcome.out;
  }
}

TEST_F(MpiTransportTest, IsNotBelievedWithoutItsComponent) {
  install();
  const std::filesystem::path worker = folder_.path() / "bin" / "rankcheck-worker-mpi";
  harness::write_file(worker,
                      "#!/bin/sh\nOMPI_MCA_btl=self,vader exec '" RANKCHECK_BINARY_DIR
                      "/rankcheck-worker-mpi'\n");
  std::filesystem::permissions(worker, std::filesystem::perms::owner_all);
  const tests::Outcome outcome =
      rankcheck(R"(replay --times 1 '{"operation":"broadcast","backend":"mpi",)"
                R"("algorithm":"over_tcp","ranks":2,"count":3}')");
  EXPECT_EQ(outcome.status, 1) << outcome.out << outcome.err;
  EXPECT_NE(outcome.out.find("over_tcp: forced, but mca_btl_tcp was not loaded"), std::string::npos)
      << outcome.out;
}

TEST_F(MpiTransportTest, HasNothingToDoForOneRank) {
  const tests::Outcome outcome =
      rankcheck(R"(replay '{"operation":"broadcast","backend":"mpi","algorithm":"over_tcp",)"
                R"("ranks":1,"count":3}')");
  EXPECT_NE(outcome.err.find("ranks: with one rank, no data goes from process to process"),
            std::string::npos)
      << outcome.out << outcome.err;
}

TEST_F(MpiTransportTest, WorksOnOneHostOnly) {
  const tests::Outcome outcome =
      rankcheck(R"(replay '{"operation":"broadcast","backend":"mpi","algorithm":"over_tcp",)"
                R"("ranks":2,"count":3,"hosts":[0,1]}')");
  const bool is_told =
      outcome.err.find("hosts: forced transports work on one host only") != std::string::npos;
  EXPECT_TRUE(is_told || outcome.err.find("hosts: the system") != std::string::npos) << outcome.err;
}

}  // namespace
}  // namespace rankcheck
