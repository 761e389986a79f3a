#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "harness/base/files.hpp"
#include "harness/base/npy.hpp"

#include "tests/cases/cli.hpp"

/// The commands that judge a single case.
namespace rankcheck {
namespace {

namespace fs = std::filesystem;
using harness::read_file;
using nlohmann::json;
using tests::Outcome;

/// `rankcheck replay` and `rankcheck export`.
class CliReplayTest : public tests::CliTest {};

/// A sum of three ranks. `fields` are further fields.
std::string sum_with(const std::string& fields) {
  return R"('{"operation":"all_reduce","algorithm":"ring","backend":"sim","ranks":3,"count":4,)"
         R"("type":"f32","op":"sum","input":"coded")" +
         fields + "}' ";
}
const std::string sum_of_three = sum_with("");

TEST_F(CliReplayTest, ReplayOfACaseThatHolds) {
  EXPECT_TRUE(has(passes("replay " + sum_of_three).out, "ran ring", "verdict    passed"));
}

TEST_F(CliReplayTest, ReplayOfAFaultIsRedAndShowsWhatIsWrong) {
  const Outcome outcome = fails("replay " + sum_with(R"(,"fault":"flip:1")"));
  EXPECT_TRUE(has(outcome.out, "verdict    falsified", "5 of 5 failed", "rank  element"));
}

TEST_F(CliReplayTest, CaseWithoutAPropertyHasOneThatItsOperationClaims) {
  const Outcome outcome = passes(R"(replay '{"operation":"barrier","ranks":2}' --times 1)");
  EXPECT_TRUE(has(outcome.out, "property   separates_ranks"));
}

TEST_F(CliReplayTest, ReplayReadsFiles) {
  const Outcome outcome = shell(
      "echo " + sum_of_three + " > case.json && " + program_ + " replay case.json --times 1", 0);
  EXPECT_TRUE(has(outcome.out, "0 of 1 failed"));
}

TEST_F(CliReplayTest, ExportWritesArraysOfWhatWasExpectedAndGot) {
  passes("export " + sum_of_three + "--output arrays");
  const fs::path arrays = path_to("arrays");
  EXPECT_EQ(read_file(arrays / "stage0-rank2-expected.npy"),
            read_file(arrays / "stage0-rank2-actual.npy"));
  EXPECT_EQ(json::parse(read_file(arrays / "manifest.json"))["files"].size(), 9U);
}

TEST_F(CliReplayTest, ExportHasADefaultFolder) {
  passes("export " + sum_of_three);
  EXPECT_TRUE(exists("rankcheck-export/manifest.json"));
}

TEST_F(CliReplayTest, ExportWritesWholeArraysOfOperators) {
  passes(
      R"(export --output arrays '{"operation":"insert","ranks":2,"counts":[1,2],"rows":5,"cols":4,)"
      R"("window":2,"detector":3,"input":"exact"}')");
  const fs::path arrays = path_to("arrays");
  EXPECT_EQ(read_file(arrays / "stage0-object-expected.npy"),
            read_file(arrays / "stage0-object-actual.npy"));
  const json files = json::parse(read_file(arrays / "manifest.json"))["files"];
  // One file each for patches and positions, three for the object.
  EXPECT_EQ(files.size(), 5U);
  EXPECT_EQ(files.back()["elements"], 20);
  EXPECT_EQ(files.back()["shape"], json::array({1, 5, 4}));
  const std::string patches = read_file(arrays / "stage0-patches-input.npy");
  EXPECT_TRUE(has(patches, "'shape': (3, 3, 3), }")) << patches.substr(0, 80);
}

/// `rankcheck evaluate`.
class CliEvaluateTest : public tests::CliTest {
 protected:
  /// Writes an array of f32, or of complex64 if `type` says so.
  void write(const std::string& name,
             const std::vector<float>& components,
             const std::vector<std::int64_t>& shape,
             spec::Type type = spec::Type::f32) const {
    const std::byte* const bytes = std::as_bytes(std::span(components)).data();
    harness::write_file(path_to(name), harness::to_npy(type, bytes, shape));
  }

  /// Writes two rows for two ranks, and their sum for each of them.
  void write_sums() const {
    write("send.npy", {1, 2, 3, 10, 20, 30.5F}, {2, 3});
    write("send0.npy", {1, 2, 3}, {3});
    write("send1.npy", {10, 20, 30.5F}, {3});
    write("right.npy", {11, 22, 33.5F, 11, 22, 33.5F}, {2, 3});
    write("wrong.npy", {11, 22, 33.5F, 11, 22, 33.6F}, {2, 3});
  }

  void write_waves() const {
    write("waves.npy", {3, 4, 1, 0, 0, 0, 0, 2}, {1, 1, 2, 2}, spec::Type::complex64);
    write("right.npy", {25, 1, 0, 4}, {1, 2, 2});
    write("wrong.npy", {25, 1, 0.5F, 4}, {1, 2, 2});
  }

  static void expect_in(const std::string& part, const Outcome& outcome) {
    EXPECT_TRUE(has(outcome.out, part)) << part;
  }
};

const std::string sum_of_rows =
    R"(evaluate all_reduce --input send=send.npy --case '{"op":"sum"}' )";
const std::string intensity = "evaluate intensity --input far_waves=waves.npy ";

TEST_F(CliEvaluateTest, DescribesTheArrays) {
  const Outcome outcome = passes("evaluate illuminate --describe");
  expect_in("object     complex64 or complex128  (slices, rows, cols)", outcome);
  expect_in("positions  f32 or f64               (positions, 2)", outcome);
  expect_in("waves               complex64 or complex128", outcome);
  expect_in("recv", rankcheck("evaluate all_gather --describe"));
}

TEST_F(CliEvaluateTest, GoldenSumsOfACollective) {
  write_sums();
  const Outcome right = passes(sum_of_rows + "--expect recv=right.npy");
  expect_in("expected   recv from right.npy\nverdict    passed", right);
  const Outcome wrong = fails(sum_of_rows + "--expect recv=wrong.npy");
  expect_in("verdict    falsified: differs from the reference", wrong);
  expect_in("worst      recv [1, 2]: expected 33.5, got 33.6, error 0.1", wrong);
  // The implementation is right all the same.
  expect_in("on sim by", wrong);
}

TEST_F(CliEvaluateTest, AFileForEachRank) {
  write_sums();
  const std::string call = "evaluate all_reduce --input 'send=send{rank}.npy' ";
  passes(call +
         R"(--case '{"op":"sum","ranks":2}' --expect recv=right.npy --output 'recv=r{rank}.npy')");
  for (const char* name : {"r0.npy", "r1.npy"}) {
    const harness::NpyArray array(text_of(name));
    EXPECT_EQ(array.shape(), std::vector<std::int64_t>{3});
  }
  expect_unable(call + R"(--case '{"op":"sum"}')", "expected the field ranks in --case");
  expect_unable(call + R"(--case '{"op":"sum","ranks":3}')",
                "--input send: send2.npy: found no file, expected one of shape (3,) for rank 2");
}

TEST_F(CliEvaluateTest, GoldenFramesOfAnOperator) {
  write_waves();
  const Outcome right = passes(intensity + "--expect frames=right.npy");
  expect_in("expected   frames from right.npy\nverdict    passed\ncompared   16 bytes", right);
  const Outcome wrong =
      fails(intensity + "--expect frames=wrong.npy --output frames=reference.npy");
  expect_in("worst      frames [0, 1, 0]: expected 0, got 0.5, error 0.5, bound 0, ratio inf",
            wrong);
  EXPECT_EQ(harness::NpyArray(text_of("reference.npy")).description(), "<f8");
}

TEST_F(CliEvaluateTest, AWrongImplementationIsFound) {
  write_sums();
  const Outcome outcome = fails(R"(evaluate all_reduce --input send=send.npy --algorithm ring )"
                                R"(--case '{"op":"sum","fault":"flip:0"}')");
  expect_in("verdict    falsified", outcome);
}

TEST_F(CliEvaluateTest, RefusesBadInputInOneLine) {
  write_sums();
  write_waves();
  harness::write_file(path_to("text.npy"), "no array");
  expect_unable("evaluate all_reduc --describe", "did you mean all_reduce");
  expect_unable("evaluate barrier --describe", "barrier has no arrays to evaluate");
  expect_unable("evaluate intensity",
                "--input: got no far_waves, expected far_waves=FILE.npy of shape");
  expect_unable("evaluate intensity --input far_waves=none.npy", "none.npy");
  expect_unable("evaluate intensity --input far_waves=text.npy",
                "--input far_waves: text.npy: expected a file that numpy.save wrote");
  expect_unable("evaluate intensity --input far_waves=send.npy",
                "got shape (2, 3), expected shape (positions, modes, detector, detector)");
  expect_unable(intensity + "--expect frames=send.npy", "got shape (2, 3), expected (1, 2, 2)");
  expect_unable(intensity + R"(--case '{"modes":2}')",
                "--input far_waves: waves.npy: got shape (1, 1, 2, 2), expected (1, 2, 2, 2)");
  expect_unable(intensity + R"(--case '{"modez":2}')", "modez");
  expect_unable(intensity + "--algorithm none", "algorithm");
  expect_unable(intensity + "--backend none", "none");
  expect_unable("evaluate all_reduce --input send=send.npy",
                R"(op: got none, expected one, as in {"op":"sum"})");
  expect_unable(intensity + "--output frames=none/frames.npy", "none");
  expect_unable(intensity + "--output frame=frames.npy", "did you mean frames");
  expect_unable("evaluate insert --input patches=right.npy --input positions=none.npy", "none.npy");
  EXPECT_FALSE(exists("reference.npy"));
}

}  // namespace
}  // namespace rankcheck
