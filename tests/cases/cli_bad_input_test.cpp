#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/cases/cli.hpp"
#include "tests/memory.hpp"

/// Bad input is one line on the standard error, which says what is wrong and what was expected.
/// Unit tests of the readers have more of it.
namespace rankcheck {
namespace {

class CliBadInputTest : public tests::CliTest {
 protected:
  /// Arguments, and a part of the complaint.
  using Rows = std::vector<std::pair<std::string, std::string>>;

  void expect_all_unable(const Rows& rows) {
    for (const auto& [arguments, complaint] : rows) expect_unable(arguments, complaint);
  }
};

TEST_F(CliBadInputTest, OfCommandLines) {
  const std::string rnu = "command: rnu: there is no such command, expected one of list, run, ";
  expect_all_unable(
      {{"", "command: got none, expected one of list, run, "},
       {"''", "command: got an empty word, expected one of list, run, "},
       {"rnu", rnu},
       {"rnu --jobs 2", rnu},
       {"run --no-such-option", "command line: --no-such-option: there is no such option ("},
       {"run --seed", "--seed: got nothing, expected N|commit"},
       {"run --jobs 1 --jobs 2", "--jobs: got it 2 times, expected it at most once"},
       {"report r more", "command line: more: is a word too many (see --help)"},
       {"report", "command line: folder is required (see --help)"},
       {"report ''", "folder: got nothing, expected a value"},
       {"report r --format yaml", "--format: yaml: expected html, markdown or github"},
       {"compare --speed-factor abc a b", "--speed-factor: got abc, expected a finite"},
       {"audit --operation barrier,fold_paper",
        "--operation fold_paper: matches no operation that 'rankcheck list' shows"},
       {"audit --cases 0", "--cases: 0: expected"},
       {"list --operation nope", "--operation nope: matches no operation"},
       {"list --algorithm rnig",
        "--algorithm rnig: matches no algorithm that 'rankcheck list' shows; did you mean ring?"},
       {"list --backend mip", "did you mean mpi?"},
       {"list --backend command:/bin/true", "backend command:/bin/true: "},
       {"list --operation crop --type f8e4m3",
        R"(filters: no operation fits all of {"operation":"crop")"},
       {"list --subjects --operation crop", "command line: "},
       {"check-worker ./no-such-worker", "expected an executable program"},
       {"check-worker python:no-such-file.py", "expected a file of Python"},
       {"check-worker listen:10.0.0.1:29400", "expected an address of the loopback"},
       {"check-worker listen:127.0.0.1:29400",
        "characters, expected 16..256: the ranks need the same"},
       {"check-worker --operation all_gathre " RANKCHECK_BINARY_DIR "/planted/planted-worker",
        "did you mean all_gather"}});
  // The command relay is for `listen:` only.
  EXPECT_FALSE(has(rankcheck("rnu").err, "relay"));
}

TEST_F(CliBadInputTest, OfRuns) {
  const std::string none = "no case can be generated for any of its ";
  Rows rows{
      {"run --seed x", "--seed: x: expected a whole number below 2^64, or commit"},
      {"run --seed commit", "--seed commit: "},
      {"run --ranks 4..2", "--ranks: 4..2: expected A..B or N"},
      {"run --cases 0", "--cases: 0: expected a number above 0"},
      {"run --jobs 0", "--jobs: 0: expected a number above 0"},
      {"run --jobs 257", "--jobs: 257: expected at most 256"},
      {"run --replays 0", "--replays: 0: expected a number above 0"},
      {"run --replays 1001", "--replays: 1001: expected at most 1000"},
      {"run nonsense", "suite: nonsense: expected the path of a .json file or a suite of"},
      {"run --backend abacus",
       "backend: abacus: is unknown, expected mpi:FOLDER, command:LINE, python:FILE, "
       "listen:ADDRESS, or a backend of"},
      {"run --operation nope",
       "--operation nope: matches no operation that 'rankcheck list' shows"},
      {"run --algorithm nope",
       "--algorithm nope: matches no algorithm that 'rankcheck list' shows"},
      {"run --property nope", "--property nope: matches no property that 'rankcheck list' shows"},
      {"run --operation 'b*,all_redcue'",
       "--operation all_redcue: matches no operation that 'rankcheck list' shows; did you mean "
       "all_reduce"},
      {"run --operation barrier --property 'is_*' --property is_determinstic",
       "--property is_determinstic: matches no property that 'rankcheck list' shows; did you mean "
       "is_deterministic?"},
      {"run --operation broadcast --type f32 --type f31",
       "--type: f31: is no element type, expected some of int8, "},
      {"run --operation barrier --property agrees_with_reference",
       "selects no check, expected at least one"},
      {"run --backend sim --unit no/such/unit --report r",
       "selects no check, expected at least one"},
      {"run --operation all_reduce --type f8e4m3", none},
      {"run --property rank_permutation --ranks 1", none},
      {"run smoke --backend sim --require 'broadcast/f33/*' --report r",
       "--require: broadcast/f33/*: matches no cell; cells are like all_reduce/f32/sum"},
      {"run smoke --known absent.json --report r", "absent.json"},
      {"run smoke --strict-known --report r", "--strict-known: expected --known FILE"},
      {tests::quick + "--report /dev/null/report", "cannot create the folder"},
      {tests::quick + "--overwrite", "--overwrite: there is no --report DIR"},
      {"run hardware --report r --overwrite",
       "--overwrite: a gate may have taken hours, so its report is not replaced: expected a new "
       "folder for --report, or --quick"},
      // The programs do not send their hello. The complaint shows that they were started: a backend
      // of no entry of the suite takes the cases of sim.
      {"run smoke --operation barrier --backend command:/bin/true", "backend command:/bin/true: "},
      {"run --operation barrier --backend command:/bin/true", "backend command:/bin/true: "}};
  for (const std::string option :
       {"--backend", "--report", "--ranks", "--type", "--seed", "--resume"}) {
    rows.emplace_back(tests::quick + option + " ''", option + ": got nothing, expected a value");
  }
  expect_all_unable(rows);
  EXPECT_FALSE(exists("r"));
}

TEST_F(CliBadInputTest, OfMeasurements) {
  expect_all_unable(
      {{"bench --backend sim --filter nothing",
        "filter: nothing: selects nothing, expected some of cases/sim, operators/sim, large/sim/"},
       {"bench --backend sim --json /nowhere/bench.json", "/nowhere/bench.json"},
       {"bench --min-time nan", "--min-time: got nan, expected a finite decimal number"},
       {"bench --topology nvlink8 --ranks 9",
        "ranks: got 9, expected at most 8, those of topology nvlink8"},
       {"bench --topology zz",
        "topology: zz: expected cluster512, cluster64, nvlink8, pcie_pairs or the path"},
       {"bench --topology nvlink8 --operation nope",
        "--operation nope: matches no operation that 'rankcheck list' shows"},
       {"bench --topology nvlink8 --operation barrier --algorithm ring",
        "--algorithm ring: matches no algorithm that 'rankcheck list' shows"},
       {"bench --topology nvlink8 --backend sim", " excludes --topology"},
       {"bench --topology nvlink8 --filter 'cases/*'", " excludes --topology"},
       {"bench --topology nvlink8 --min-time 1", " excludes --topology"},
       {"bench --topology nvlink8 --ranks 2,", "--ranks: 2,: a value between commas is"},
       {"bench --topology nvlink8 --json /proc/none", ", expected a file in a writable folder"}});
}

TEST_F(CliBadInputTest, OfCases) {
  const std::string huge =
      R"('{"operation":"all_reduce","ranks":2,"count":70368744177664,"type":"f32","op":"sum"}')";
  const std::string broadcast = R"(replay '{"operation":"broadcast","ranks":2,)";
  expect_all_unable(
      {{"replay no-such-file",
        "case: no-such-file: there is no such file, expected JSON text or a file"},
       {"replay " + std::string(9000, 'x'), "case: " + std::string(80, 'x') + ": there is no"},
       {"replay ''", "case: got nothing, expected a value"},
       {"replay ' '", "case: got nothing, expected JSON text or the path of a file"},
       {"replay '{'", "case: not JSON"},
       {"replay '[1,2]'", "case: got [1,2], expected a JSON object"},
       {"replay '" + std::string(60000, '[') + std::string(60000, ']') + "'", "deep nesting"},
       {R"(replay '{"operation":"all_reduce","ranks":2,"ranks":3}')",
        "case: ranks: stands there twice, expected once"},
       {R"(replay '{"operation":"barrier","ranks":2,"property":"x"}')",
        "case: property: x: expected a property that barrier claims"},
       {R"(replay '{"operation":"fold_paper","ranks":2}')", "fold_paper"},
       {R"(replay '{"operation":"all_gather","ranks":2,"count":1,"input":"given"}')",
        "input: given is for rankcheck evaluate"},
       {broadcast + R"("algorithm":"ringo"}')",
        "algorithm: got \"ringo\", expected one that 'rankcheck list' shows for broadcast"},
       {broadcast + R"("fault":"gone:1"}')",
        "fault: got \"gone:1\", expected one of flip, lost, duplicate, late, dead_rank, stale, "
        "overrun"},
       {broadcast + R"("algorithm":"binomial","chunk":1}')", "chunk: the algorithm has no chunks"},
       {"replay " + huge, "case: the buffers of 2 ranks are too large: expected at most "},
       {"export " + huge, "GiB, 1/3 of the memory that is available here"},
       {R"(replay '{"operation":"broadcast","ranks":2000000000}')", "GiB, 1/3 of"},
       // The lists of blocks of so many ranks do not fit.
       {R"(replay '{"operation":"all_to_all","ranks":1000000}')", "GiB, 1/3 of"},
       {R"(export '{"operation":"broadcast","ranks":2}' --output /proc/none)",
        ", expected a writable folder"}});
}

TEST_F(CliBadInputTest, OfReconstructions) {
  if (!tests::reconstructs) {
    const std::string none = ": this build has no HDF5 and Cairo";
    expect_all_unable({{"reconstruct scan.cxi --ranks 2", "reconstruct" + none},
                       {"simulate scan.cxi", "simulate" + none},
                       {"simulate", "simulate" + none}});
    return;
  }
  expect_all_unable(
      {{"simulate a.cxi --step -NaN", "--step: got -NaN, expected a finite decimal number"},
       {"simulate a.cxi --detector 8 --probe-size 9", "--probe-size: got 9, expected at most"},
       {"simulate a.cxi --object-size 20", "--object-size: got 20, expected at least"},
       {"simulate a.cxi --step 3 --overlap 0.5", "command line: "},
       {"simulate none/a.cxi --positions 1 --detector 4",
        "none/a.cxi: found no folder none, expected"}});
  EXPECT_FALSE(exists("a.cxi"));
  passes("simulate scan.cxi --positions 4 --detector 16 --step 4");
  expect_unable("reconstruct scan.cxi --iterations 1 --pictures /proc/none/deeper",
                ", expected a writable folder");
  EXPECT_FALSE(exists("reconstruction.cxi"));
}

TEST_F(CliBadInputTest, LargeCallsAndFramesMustLeaveMostOfTheMemoryFree) {
  const std::int64_t memory = std::int64_t{::sysconf(_SC_PHYS_PAGES)} * ::sysconf(_SC_PAGESIZE);
  if (memory >= std::int64_t{1} << 40) GTEST_SKIP() << "this machine's memory is enough";
  const std::string huge = "bench --backend sim --bytes 17179869184 --min-time 0.01 --filter ";
  expect_unable(huge + "'large/*'", "bytes: the buffers of 8 ranks take 256.0 GiB: expected");
  passes(huge + "'cases/*'");  // nothing large is measured
  if (memory >= std::int64_t{1} << 36) return;
  expect_unable("bench --backend sim --frames 4096 --width 1024 --filter 'frames/*'",
                "frames: the buffers of 1 ranks take ");
}

const std::string broadcast_alone = "run --operation broadcast --algorithm binomial ";

/// tests/harness/run/option_values_test.cpp has more values.
TEST_F(CliBadInputTest, NumbersAreDecimal) {
  const std::string no_digits = ", expected decimal digits";
  const std::string no_number = ", expected a finite decimal number";
  expect_all_unable({{broadcast_alone + "--cases 0x10", "--cases: got 0x10" + no_digits},
                     {broadcast_alone + "--replays 010", "--replays: got 010" + no_digits},
                     {"bench --frames +5", "--frames: got +5" + no_digits},
                     {broadcast_alone + "--seed 1e1", "--seed: 1e1: expected a whole number"},
                     {broadcast_alone + "--ranks 0x10..9", "expected A..B or N with 1 <= A <= B"},
                     {"bench --topology nvlink8 --ranks 010", "--ranks: 010: expected"},
                     {broadcast_alone + "--time-budget inf", "got inf" + no_number},
                     {broadcast_alone + "--time-budget 1e999", "got 1e999" + no_number}});
  passes(broadcast_alone + "--backend sim --cases 3 --time-budget 1e2");
  if (!tests::reconstructs) return;
  expect_all_unable({{"reconstruct x --verify 1e1", "got 1e1" + no_digits},
                     {"simulate x.cxi --seed +5", "got +5" + no_digits},
                     {"reconstruct x --defocus 0x10", "got 0x10" + no_number},
                     {"simulate x.cxi --photons nan", "got nan" + no_number}});
}

TEST_F(CliBadInputTest, NumbersThatAreTooLargeOrTooSmallAreNamed) {
  const std::string negative = "--seed: got -1, expected 0 or a larger number";
  expect_all_unable(
      {{"run --cases 999999999999", "--cases: got 999999999999, expected a smaller number"},
       {"run --jobs 999999999999", "--jobs: got 999999999999, expected a smaller number"},
       {"run --replays 999999999999", "--replays: got 999999999999, expected a smaller number"},
       {"run --cases -999999999999", "got -999999999999, expected a larger number"},
       {"audit --seed 99999999999999999999",
        "--seed: got 99999999999999999999, expected a number below 2^64"},
       {"run --seed 99999999999999999999", "expected a whole number below 2^64, or commit"},
       {"run --ranks 1..99999999999",
        "1..99999999999: expected A..B or N with 1 <= A <= B <= 4096"},
       {"run --ranks 4097", "4097: expected A..B or N with 1 <= A <= B <= 4096"},
       {"audit --seed -1", negative}});
  if (tests::reconstructs) expect_unable("simulate x.cxi --seed -1", negative);
}

TEST_F(CliBadInputTest, ListsHaveEachValueOnce) {
  expect_all_unable(
      {{broadcast_alone + "--backend sim,", "--backend: sim,: a value between commas is empty"},
       {"bench --backend ,sim", "--backend: ,sim: a value between commas is empty"},
       {"run --operation barrier --backend sim,sim", "--backend: sim: given twice"},
       {"bench --backend sim,sim", "--backend: sim: given twice"},
       {broadcast_alone + "--type f32,", "--type: f32,: a value between commas is empty"},
       {broadcast_alone + "--type f32 --type f64,f32", "--type: f32: given twice"}});
}

TEST_F(CliBadInputTest, UnknownNamesAreGuessed) {
  const std::string broadcast = R"(replay '{"operation":"broadcast","ranks":2,)";
  for (const auto& [arguments, guess] :
       Rows{{"rnu", "run"},
            {"run --opration gather", "--operation"},
            {"run --start-timout=5", "--start-timeout"},
            {"run --operation all_redcue", "all_reduce"},
            {"run --algorithm rnig", "ring"},
            {"run --property agrees_with", "agrees_with_reference"},
            {"run smok", "smoke"},
            {"run --backend smi", "sim"},
            {R"(replay '{"operation":"all_redcue","ranks":2}')", "all_reduce"},
            {broadcast + R"("algorithm":"binominal"}')", "binomial"},
            {broadcast + R"("property":"agrees_with_refrence"}')", "agrees_with_reference"},
            {broadcast + R"("tpye":"f32"}')", "type"}}) {
    expect_unable(arguments, "; did you mean " + guess + "?");
    EXPECT_LT(rankcheck(arguments).err.size(), 300U) << arguments;
  }
}

TEST_F(CliBadInputTest, LongValuesMakeNoLongMessages) {
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
    const tests::Outcome outcome = rankcheck(arguments, 2);
    EXPECT_FALSE(outcome.err.empty()) << arguments;
    EXPECT_LT(outcome.err.size(), 300U) << outcome.err;
  }
}

TEST_F(CliBadInputTest, NamesThatAreTooLongAreRefusedWithTheLimit) {
  for (const std::string arguments : {"run --operation barrier --report ",
                                      "run --resume ",
                                      "run --backend python:",
                                      "run --known ",
                                      "report ",
                                      "check-worker python:"}) {
    expect_unable(arguments + std::string(300, 'n'),
                  "File name too long (at most 255 bytes each, 4095 in all)");
  }
}

/// Paths given as input files that are not regular files.
class CliFilesTest : public tests::CliTest {
 protected:
  CliFilesTest() {
    program_ = tests::last_resort + program_;
    std::filesystem::create_directory(path_to("r"));
  }
};

TEST_F(CliFilesTest, DevicesWithoutAnEndAreRefused) {
  // A program that reads such a device takes no more than 4 GiB. Sanitizers reserve more addresses.
  if (!tests::has_sanitizer) program_ = "ulimit -v 4194304 && " + program_;
  const std::string complaint = "cannot read: /dev/zero: found a device, expected a file";
  expect_unable("bench --topology /dev/zero --ranks 2", complaint);
  expect_unable("replay /dev/zero", complaint);
  expect_unable("export /dev/zero", complaint);
  if (tests::reconstructs) expect_unable("reconstruct /dev/zero", complaint);
  std::filesystem::create_symlink("/dev/zero", path_to("s.json"));
  expect_unable("run s.json", "cannot read: s.json: found a device, expected a file");
}

TEST_F(CliFilesTest, PipesAreRefused) {
  for (const char* name : {"pipe", "s.json", "r/journal.jsonl"}) {
    ASSERT_EQ(::mkfifo(path_to(name).c_str(), 0600), 0);
  }
  const std::string complaint = "cannot read: pipe: found a pipe, expected a file";
  expect_unable("bench --topology pipe --ranks 2", complaint);
  expect_unable("replay pipe", complaint);
  if (tests::reconstructs) expect_unable("reconstruct pipe", complaint);
  expect_unable("run s.json", "cannot read: s.json: found a pipe, expected a file");
  const std::string journal = "cannot read: r/journal.jsonl: found a pipe, expected a file";
  expect_unable("report r", journal);
  expect_unable("run --resume r", journal);
  expect_unable("run hardware --resume r", journal);
}

}  // namespace
}  // namespace rankcheck
