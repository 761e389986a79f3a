#include <filesystem>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "harness/base/files.hpp"

#include "tests/cases/cli.hpp"

namespace rankcheck {
namespace {

namespace fs = std::filesystem;
using harness::read_file;
using nlohmann::json;
using tests::Outcome;

/// `rankcheck replay` and `rankcheck export`.
class CliReplayTest : public tests::CliTest {};

const std::string sum_of_three =
    R"('{"operation":"all_reduce","algorithm":"ring","backend":"sim","ranks":3,"count":4,)"
    R"("type":"f32","op":"sum","input":"coded"}' )";

TEST_F(CliReplayTest, ReplayOfACaseThatHolds) {
  const Outcome outcome = rankcheck("replay " + sum_of_three);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("verdict    passed"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("ran ring"), std::string::npos) << outcome.out;
}

TEST_F(CliReplayTest, ReplayOfAFaultIsRedAndShowsWhatIsWrong) {
  const Outcome outcome = rankcheck(
      R"(replay '{"operation":"all_reduce","algorithm":"ring","backend":"sim","ranks":3,"count":4,)"
      R"("type":"f32","op":"sum","input":"coded","fault":"flip:1"}')");
  EXPECT_EQ(outcome.status, 1) << outcome.err;
  EXPECT_NE(outcome.out.find("verdict    falsified"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("5 of 5 failed"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("rank  element"), std::string::npos) << outcome.out;
}

TEST_F(CliReplayTest, ReplayOfAFaultThatChangesNothingIsVacuous) {
  // The first message of a ring carries an input, which the call has not changed. So the stale
  // value is the same.
  const Outcome outcome = rankcheck(
      R"(replay '{"operation":"all_reduce","algorithm":"ring","backend":"sim","ranks":3,"count":4,)"
      R"("type":"f32","op":"sum","input":"coded","fault":"stale:0"}')");
  EXPECT_EQ(outcome.status, 1) << outcome.out << outcome.err;
  EXPECT_NE(outcome.out.find("vacuous: the fault stale:0 fired and changed nothing"),
            std::string::npos)
      << outcome.out;
}

TEST_F(CliReplayTest, CaseWithoutAPropertyHasOneThatItsOperationClaims) {
  const Outcome outcome = rankcheck(R"(replay '{"operation":"barrier","ranks":2}' --times 1)");
  EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  EXPECT_NE(outcome.out.find("property   separates_ranks"), std::string::npos) << outcome.out;
}

TEST_F(CliReplayTest, ReplayReadsFiles) {
  const Outcome outcome =
      shell("echo " + sum_of_three + " > case.json && " + program_ + " replay case.json --times 1");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("0 of 1 failed"), std::string::npos) << outcome.out;
}

TEST_F(CliReplayTest, ExportWritesArraysOfWhatWasExpectedAndGot) {
  ASSERT_EQ(rankcheck("export " + sum_of_three + "--output arrays").status, 0);
  const fs::path arrays = path_to("arrays");
  EXPECT_EQ(read_file(arrays / "stage0-rank2-expected.npy"),
            read_file(arrays / "stage0-rank2-actual.npy"));
  EXPECT_EQ(json::parse(read_file(arrays / "manifest.json"))["files"].size(), 9U);
}

TEST_F(CliReplayTest, ExportHasADefaultFolder) {
  ASSERT_EQ(rankcheck("export " + sum_of_three).status, 0);
  EXPECT_TRUE(exists("rankcheck-export/manifest.json"));
}

TEST_F(CliReplayTest, ExportWritesWholeArraysOfOperators) {
  const Outcome outcome = rankcheck(
      R"(export --output arrays '{"operation":"insert","ranks":2,"counts":[1,2],"rows":5,"cols":4,)"
      R"("window":2,"detector":3,"input":"exact"}')");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const fs::path arrays = path_to("arrays");
  EXPECT_EQ(read_file(arrays / "stage0-object-expected.npy"),
            read_file(arrays / "stage0-object-actual.npy"));
  const json files = json::parse(read_file(arrays / "manifest.json"))["files"];
  // One file each for patches and positions, three for the object.
  EXPECT_EQ(files.size(), 5U);
  EXPECT_EQ(files.back()["elements"], 20);
  EXPECT_EQ(files.back()["shape"], json::array({1, 5, 4}));
  const std::string patches = read_file(arrays / "stage0-patches-input.npy");
  EXPECT_NE(patches.find("'shape': (3, 3, 3), }"), std::string::npos) << patches.substr(0, 80);
}

TEST_F(CliReplayTest, CaseThatIsTooLargeForTheMachineIsOneClearLine) {
  const std::string huge =
      R"('{"operation":"all_reduce","ranks":2,"count":70368744177664,"type":"f32","op":"sum"}')";
  expect_unable("replay " + huge, "case: the buffers of 2 ranks are too large: expected at most ");
  expect_unable("export " + huge, "GiB, 1/3 of the memory that is available here");
  expect_unable(R"(replay '{"operation":"broadcast","ranks":2000000000}')", "GiB, 1/3 of");
  // The lists of blocks of so many ranks do not fit.
  expect_unable(R"(replay '{"operation":"all_to_all","ranks":1000000}')", "GiB, 1/3 of");
}

}  // namespace
}  // namespace rankcheck
