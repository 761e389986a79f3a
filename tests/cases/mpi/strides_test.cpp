#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "cases/backends/mpi.hpp"
#include "tests/cases/cli.hpp"

namespace rankcheck {
namespace {

/// Buffers whose elements lie apart, as derived types of MPI.
class MpiStridesTest : public tests::CliTest {
 protected:
  void SetUp() override {
    const std::string why = cases::mpi_backend().why_unavailable();
    if (!why.empty()) GTEST_SKIP() << why;
  }

  /// Replays a call of three ranks. `fields` are further fields of the case.
  tests::Outcome replay(const std::string& fields) {
    return rankcheck(R"(replay --times 1 '{"backend":"mpi","ranks":3,"type":"int32",)" + fields +
                     "}'");
  }
};

TEST_F(MpiStridesTest, MayDifferOnSenderAndReceiver) {
  for (const std::string operation : {"broadcast", "scatter", "all_gather", "all_to_all"}) {
    const tests::Outcome outcome =
        replay(R"("algorithm":"blocking","count":4,"send_stride":3,"recv_stride":2,"operation":")" +
               operation + '"');
    EXPECT_NE(outcome.out.find("verdict    passed"), std::string::npos) << outcome.out;
  }
}

TEST_F(MpiStridesTest, WorkInBlocksOfDerivedTypes) {
  const std::vector<std::pair<std::string, std::string>> calls{{"vector", "broadcast"},
                                                               {"vector", "all_to_all"},
                                                               {"indexed", "gather"},
                                                               {"indexed", "scatter"},
                                                               {"struct", "all_gather"}};
  for (const auto& [algorithm, operation] : calls) {
    const tests::Outcome outcome =
        replay(R"("algorithm":")" + algorithm + R"(","operation":")" + operation +
               R"(","count":7,"send_stride":3,"recv_stride":2)");
    EXPECT_NE(outcome.out.find("verdict    passed"), std::string::npos) << outcome.out;
  }
}

TEST_F(MpiStridesTest, WorkWithGapsAndEmptyBlocks) {
  const tests::Outcome outcome =
      replay(R"("operation":"gather_v","algorithm":"nonblocking","root":2,"counts":[2,0,3],)"
             R"("gap":1,"send_stride":2,"recv_stride":4)");
  EXPECT_NE(outcome.out.find("verdict    passed"), std::string::npos) << outcome.out;
}

TEST_F(MpiStridesTest, WorkInPlace) {
  const tests::Outcome outcome =
      replay(R"("operation":"all_gather","algorithm":"blocking","count":3,"in_place":true,)"
             R"("send_stride":2,"recv_stride":3)");
  EXPECT_NE(outcome.out.find("verdict    passed"), std::string::npos) << outcome.out;
}

TEST_F(MpiStridesTest, WorkWithRequestsThatAreStartedTwice) {
  const tests::Outcome outcome =
      replay(R"("operation":"scatter","algorithm":"persistent","count":3,"send_stride":2,)"
             R"("recv_stride":3)");
  EXPECT_NE(outcome.out.find("verdict    passed"), std::string::npos) << outcome.out << outcome.err;
}

TEST_F(MpiStridesTest, AreRefusedForReductions) {
  const tests::Outcome outcome =
      replay(R"("operation":"all_reduce","algorithm":"blocking","count":3,"op":"max",)"
             R"("send_stride":2)");
  EXPECT_NE(outcome.err.find("MPI's own reductions take only dense elements"), std::string::npos)
      << outcome.out << outcome.err;
}

}  // namespace
}  // namespace rankcheck
