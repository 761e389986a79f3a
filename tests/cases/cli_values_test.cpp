#include <string>

#include <gtest/gtest.h>

#include "tests/cases/cli.hpp"

namespace rankcheck {
namespace {

/// Command-line values that are malformed or that could be misread.
class CliValuesTest : public tests::CliTest {};

const std::string broadcast_alone = "run --operation broadcast --algorithm binomial ";

TEST_F(CliValuesTest, WholeNumbersAreDecimalDigits) {
  for (const std::string value : {"0x10", "010", "+5", "1e1"}) {
    expect_unable(broadcast_alone + "--cases " + value,
                  "--cases: got " + value + ", expected decimal digits");
    expect_unable(broadcast_alone + "--replays " + value,
                  "--replays: got " + value + ", expected decimal digits");
    expect_unable("bench --frames " + value,
                  "--frames: got " + value + ", expected decimal digits");
    expect_unable(broadcast_alone + "--seed " + value,
                  "--seed: " + value + ": expected a whole number");
    expect_unable(broadcast_alone + "--ranks " + value + "..9",
                  "expected A..B or N with 1 <= A <= B");
    expect_unable("bench --topology nvlink8 --ranks " + value, "--ranks: " + value + ": expected");
    if (!tests::reconstructs) continue;
    expect_unable("reconstruct x --verify " + value, "got " + value + ", expected decimal digits");
    expect_unable("simulate x.cxi --seed " + value, "got " + value + ", expected decimal digits");
  }
}

TEST_F(CliValuesTest, NumbersThatAreTooLargeAreNamed) {
  for (const std::string option : {"--cases", "--jobs", "--replays"}) {
    expect_unable("run " + option + " 999999999999",
                  option + ": got 999999999999, expected a smaller number");
  }
  expect_unable("run --cases -999999999999", "got -999999999999, expected a larger number");
  expect_unable("audit --seed 99999999999999999999",
                "--seed: got 99999999999999999999, expected a number below 2^64");
  expect_unable("run --seed 99999999999999999999", "expected a whole number below 2^64, or commit");
  for (const std::string ranks : {"1..99999999999", "4097"}) {
    expect_unable("run --ranks " + ranks, ranks + ": expected A..B or N with 1 <= A <= B <= 4096");
  }
}

TEST_F(CliValuesTest, SeedsAreNotNegative) {
  const std::string why = "--seed: got -1, expected 0 or a larger number";
  expect_unable("audit --seed -1", why);
  if (tests::reconstructs) expect_unable("simulate x.cxi --seed -1", why);
}

TEST_F(CliValuesTest, OtherNumbersAreDecimalNumbers) {
  for (const std::string value : {"0x10", "+5", "nan", "inf", "1e999"}) {
    expect_unable(broadcast_alone + "--time-budget " + value,
                  "got " + value + ", expected a decimal number");
    if (!tests::reconstructs) continue;
    expect_unable("reconstruct x --defocus " + value,
                  "got " + value + ", expected a decimal number");
    expect_unable("simulate x.cxi --photons " + value,
                  "got " + value + ", expected a decimal number");
  }
  EXPECT_EQ(rankcheck(broadcast_alone + "--backend sim --cases 3 --time-budget 1e2").status, 0);
}

TEST_F(CliValuesTest, ListsHaveEachValueOnce) {
  for (const std::string value : {"sim,", ",sim", "sim,,mpi"}) {
    const std::string complaint = "--backend: " + value + ": a value between commas is empty";
    expect_unable(broadcast_alone + "--backend " + value, complaint);
    expect_unable("bench --backend " + value, complaint);
  }
  for (const char* value : {"sim,sim", "sim --backend sim"}) {
    expect_unable(std::string("run --operation barrier --backend ") + value,
                  "--backend: sim: given twice");
    expect_unable(std::string("bench --backend ") + value, "--backend: sim: given twice");
  }
  expect_unable(broadcast_alone + "--type f32,", "--type: f32,: a value between commas is empty");
  expect_unable(broadcast_alone + "--type f32 --type f64,f32", "--type: f32: given twice");
  expect_unable("bench --topology nvlink8 --ranks 2,", "--ranks: 2,: a value between commas is");
}

TEST_F(CliValuesTest, UnknownNamesAreGuessed) {
  const std::string broadcast = R"(replay '{"operation":"broadcast","ranks":2,)";
  const auto expect_guess = [&](const std::string& arguments, const std::string& guess) {
    expect_unable(arguments, "; did you mean " + guess + "?");
    EXPECT_LT(rankcheck(arguments).err.size(), 300U) << arguments;
  };
  expect_guess("rnu", "run");
  expect_guess("run --opration gather", "--operation");
  expect_guess("run --start-timout=5", "--start-timeout");
  expect_guess("run --operation all_redcue", "all_reduce");
  expect_guess("run --algorithm rnig", "ring");
  expect_guess("run --property agrees_with", "agrees_with_reference");
  expect_guess("run smok", "smoke");
  expect_guess("run --backend smi", "sim");
  expect_guess(R"(replay '{"operation":"all_redcue","ranks":2}')", "all_reduce");
  expect_guess(broadcast + R"("algorithm":"binominal"}')", "binomial");
  expect_guess(broadcast + R"("property":"agrees_with_refrence"}')", "agrees_with_reference");
  expect_guess(broadcast + R"("tpye":"f32"}')", "type");
}

TEST_F(CliValuesTest, LongValuesMakeNoLongMessages) {
  const std::string name(2000, 'n');
  for (const std::string& arguments : {"run --operation " + name,
                                       "run --cases " + name,
                                       "run --backend " + name,
                                       "run --backend command:" + name,
                                       "run " + name,
                                       "run --type " + name,
                                       "report " + name,
                                       "replay " + name,
                                       "reconstruct " + name,
                                       R"(replay '{")" + name + R"(":1}')",
                                       name}) {
    const tests::Outcome outcome = rankcheck(arguments);
    EXPECT_EQ(outcome.status, 2) << arguments;
    EXPECT_FALSE(outcome.err.empty()) << arguments;
    EXPECT_LT(outcome.err.size(), 300U) << outcome.err;
  }
}

}  // namespace
}  // namespace rankcheck
