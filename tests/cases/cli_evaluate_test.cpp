#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "harness/base/files.hpp"
#include "harness/base/npy.hpp"

#include "tests/cases/cli.hpp"

namespace rankcheck {
namespace {

using tests::Outcome;

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
    EXPECT_NE(outcome.out.find(part), std::string::npos) << part << " in\n" << outcome.out;
  }
};

const std::string sum_of_rows =
    R"(evaluate all_reduce --input send=send.npy --case '{"op":"sum"}' )";
const std::string intensity = "evaluate intensity --input far_waves=waves.npy ";

TEST_F(CliEvaluateTest, DescribesTheArrays) {
  const Outcome outcome = rankcheck("evaluate illuminate --describe");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  expect_in("object     complex64 or complex128  (slices, rows, cols)", outcome);
  expect_in("positions  f32 or f64               (positions, 2)", outcome);
  expect_in("waves               complex64 or complex128", outcome);
  expect_in("recv", rankcheck("evaluate all_gather --describe"));
}

TEST_F(CliEvaluateTest, GoldenSumsOfACollective) {
  write_sums();
  const Outcome right = rankcheck(sum_of_rows + "--expect recv=right.npy");
  EXPECT_EQ(right.status, 0) << right.out << right.err;
  expect_in("expected   recv from right.npy\nverdict    passed", right);
  const Outcome wrong = rankcheck(sum_of_rows + "--expect recv=wrong.npy");
  EXPECT_EQ(wrong.status, 1) << wrong.out << wrong.err;
  expect_in("verdict    falsified: differs from the reference", wrong);
  expect_in("worst      recv [1, 2]: expected 33.5, got 33.6, error 0.1", wrong);
  // The implementation is right all the same.
  expect_in("on sim by", wrong);
}

TEST_F(CliEvaluateTest, AFileForEachRank) {
  write_sums();
  const std::string call = "evaluate all_reduce --input 'send=send{rank}.npy' ";
  const Outcome outcome = rankcheck(
      call +
      R"(--case '{"op":"sum","ranks":2}' --expect recv=right.npy --output 'recv=r{rank}.npy')");
  EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
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
  const Outcome right = rankcheck(intensity + "--expect frames=right.npy");
  EXPECT_EQ(right.status, 0) << right.out << right.err;
  expect_in("expected   frames from right.npy\nverdict    passed; 16 bytes compared", right);
  const Outcome wrong =
      rankcheck(intensity + "--expect frames=wrong.npy --output frames=reference.npy");
  EXPECT_EQ(wrong.status, 1) << wrong.out << wrong.err;
  expect_in("worst      frames [0, 1, 0]: expected 0, got 0.5, error 0.5, bound 0, ratio inf",
            wrong);
  EXPECT_EQ(harness::NpyArray(text_of("reference.npy")).description(), "<f8");
}

TEST_F(CliEvaluateTest, AWrongImplementationIsFound) {
  write_sums();
  const Outcome outcome = rankcheck(R"(evaluate all_reduce --input send=send.npy --algorithm ring )"
                                    R"(--case '{"op":"sum","fault":"flip:0"}')");
  EXPECT_EQ(outcome.status, 1) << outcome.out << outcome.err;
  expect_in("verdict    falsified", outcome);
}

TEST_F(CliEvaluateTest, RefusesBadInputInOneLine) {
  write_sums();
  write_waves();
  harness::write_file(path_to("text.npy"), "no array");
  write("nan.npy", {std::nanf(""), 4, 1, 0, 0, 0, 0, 2}, {1, 1, 2, 2}, spec::Type::complex64);
  expect_unable("evaluate all_reduc --describe", "did you mean all_reduce");
  expect_unable("evaluate barrier --describe", "barrier has no arrays to evaluate");
  expect_unable("evaluate intensity",
                "--input: got no far_waves, expected far_waves=FILE.npy of shape");
  expect_unable("evaluate intensity --input far_wave=waves.npy", "did you mean far_waves");
  expect_unable("evaluate intensity --input far_waves=none.npy", "none.npy");
  expect_unable("evaluate intensity --input far_waves=text.npy",
                "--input far_waves: text.npy: expected a file that numpy.save wrote");
  expect_unable("evaluate intensity --input far_waves=send.npy",
                "got shape (2, 3), expected shape (positions, modes, detector, detector)");
  expect_unable("evaluate intensity --input far_waves=nan.npy",
                "--input far_waves: value [0, 0, 0, 0]: got nan, expected a finite number");
  expect_unable(intensity + "--expect frames=waves.npy", "got dtype <c8, expected <f4 (f32)");
  expect_unable(intensity + "--expect frames=send.npy", "got shape (2, 3), expected (1, 2, 2)");
  expect_unable(intensity + R"(--case '{"modes":2}')",
                "--input far_waves: waves.npy: got shape (1, 1, 2, 2), expected (1, 2, 2, 2)");
  expect_unable(intensity + R"(--case '{"input":"exact"}')", "because the inputs are your own");
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

TEST_F(CliEvaluateTest, ACaseWithGivenInputsCannotBeReplayed) {
  expect_unable(R"(replay '{"operation":"all_gather","ranks":2,"count":1,"input":"given"}')",
                "input: given is for rankcheck evaluate");
}

}  // namespace
}  // namespace rankcheck
