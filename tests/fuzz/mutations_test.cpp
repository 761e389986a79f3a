#include <algorithm>
#include <exception>
#include <functional>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "reference/spec/to_size.hpp"

#include "harness/report/journal.hpp"

#include "cases/hardware/gate_journal.hpp"
#include "tests/cases/hardware/made_up.hpp"
#include "tests/fuzz/mutator.hpp"
#include "tests/fuzz/targets.hpp"
#include "tests/harness/report/journal_text.hpp"
#include "tests/harness/sample.hpp"
#include "tests/print.hpp"

#if RANKCHECK_RECONSTRUCTS
#include "cases/reconstruct/dataset.hpp"
#include "cases/reconstruct/reconstruction.hpp"
#include "tests/cases/reconstruct/scan.hpp"
#endif

/// Bad input, made from good input in thousands of ways. The readers refuse it with one line or
/// read what it says. A failure names the mutation's seed and shows its bytes.
///
/// Files that rankcheck writes for itself have checksums, so every change is found. Cases, suites,
/// topologies and scans have none: a changed number that is legal there is another legal input.
namespace rankcheck::fuzz {
namespace {

namespace hardware = cases::hardware;

/// Calls `fault_of` with mutations of the good input.
void expect_no_fault(int mutations,
                     const std::vector<std::string>& good,
                     const std::function<std::string(const std::string& bad)>& fault_of) {
  for (int seed = 1; seed <= mutations; ++seed) {
    Mutator mutator(static_cast<std::uint64_t>(seed));
    const std::string& from = good[static_cast<std::size_t>(seed) % good.size()];
    const std::string bad = seed % 3 == 0 ? mutator.bytes(from) : mutator.tokens(from);
    std::string fault;
    try {
      fault = fault_of(bad);
    } catch (const std::exception& other) {
      fault = std::string("not refused as bad input, but: ") + other.what();
    }
    ASSERT_EQ(fault, "") << "seed " << seed << ": " << testing::PrintToString(bad.substr(0, 4000));
  }
}

class MutationTest : public testing::TestWithParam<Target> {};

TEST_P(MutationTest, GoodInputIsRead) {
  for (const std::string& seed : GetParam().seeds()) EXPECT_EQ(GetParam().fault_of(seed), "");
}

TEST_P(MutationTest, IsRefusedOrMeansWhatItSays) {
  expect_no_fault(1000, GetParam().seeds(), GetParam().fault_of);
}

INSTANTIATE_TEST_SUITE_P(Inputs, MutationTest, testing::ValuesIn(targets()), tests::printed_name);

// --- files with checksums

/// Reads the file, which a mutation has replaced. Returns its meaning.
using Meaning = std::function<std::string()>;

/// Replaces a file by mutations of its bytes. Expects that each mutation is refused or has one of
/// the meanings.
void expect_meanings(int mutations,
                     const std::filesystem::path& path,
                     const std::set<std::string>& meanings,
                     const Meaning& meaning) {
  const std::string good = harness::read_file(path);
  for (int seed = 1; seed <= mutations; ++seed) {
    const std::string bad = Mutator(static_cast<std::uint64_t>(seed)).bytes(good);
    if (bad == good) continue;
    harness::write_file(path, bad);
    const std::string fault = fault_of_reading([&]() -> std::string {
      const std::string got = meaning();
      return meanings.contains(got) ? "" : "it means " + got;
    });
    ASSERT_EQ(fault, "") << "seed " << seed << ": " << testing::PrintToString(bad.substr(0, 4000));
  }
}

/// Returns the meanings of a file of lines that a kill cut off behind each of its lines.
std::set<std::string> meanings_of_parts(const std::filesystem::path& path, const Meaning& meaning) {
  const std::string whole = harness::read_file(path);
  std::set<std::string> meanings;
  for (std::size_t end = whole.find('\n'); end != std::string::npos;
       end = whole.find('\n', end + 1)) {
    harness::write_file(path, whole.substr(0, end + 1));
    meanings.insert(meaning());
  }
  return meanings;
}

class SealedTest : public testing::Test {
 protected:
  harness::TemporaryFolder folder_;
  std::filesystem::path path_ = folder_.path() / "journal.jsonl";
};

TEST_F(SealedTest, AJournalKeepsItsMeaning) {
  harness::write_file(path_, seeds_of_journals().back());
  const Meaning meaning = [&] {
    return harness::to_json(harness::read_journal(path_).record.report()).dump();
  };
  expect_meanings(500, path_, meanings_of_parts(path_, meaning), meaning);
}

TEST_F(SealedTest, AGatesJournalKeepsItsMeaning) {
  harness::JournalHeader header;
  header.run = {{"suites", {"hardware"}}, {"seed", 3}};
  header.environment = {
      {"host", "made up"},
      {"hardware",
       to_json(hardware::GateHeader{.options = {.parts = hardware::made_up_parts(1), .bytes = 1024},
                                    .devices = hardware::made_up_devices(1)})}};
  {
    harness::Journal journal(path_, std::move(header));
    // Skipped phases leave nothing in their folders.
    static_cast<void>(run_gate(folder_.path(),
                               hardware::gate_in(folder_.path(), journal.record()),
                               journal,
                               {.probe = hardware::good_probe,
                                .keep = {},
                                .run =
                                    [](const hardware::PhaseRequest&) {
                                      return hardware::PhaseOutcome{.skipped = "made up"};
                                    },
                                .soak_s = [] { return 0.0; },
                                .now_s = [] { return 1.0; },
                                .why_end = [] { return std::string(); },
                                .say = [](const std::string&) {}}));
    journal.end({.ending = "completed", .finished = "then", .duration_s = 2});
  }
  const Meaning meaning = [&] {
    return harness::to_json(hardware::report_of(folder_.path()).report).dump();
  };
  expect_meanings(300, path_, meanings_of_parts(path_, meaning), meaning);
}

#if RANKCHECK_RECONSTRUCTS
TEST_F(SealedTest, ACheckpointIsWholeOrRefused) {
  namespace reconstruct = cases::reconstruct;
  reconstruct::write(path_, reconstruct::small_scan());
  const reconstruct::Dataset data = reconstruct::read_dataset(path_);
  reconstruct::Result result;
  result.solver = "rpie";
  result.iterations = 1;
  result.batches = 1;
  result.costs = {0.5};
  result.state.object = data.object;
  result.state.probe.assign(spec::to_size(data.window * data.window), 1);
  reconstruct::write_result(path_, data, result, true);
  const Meaning meaning = [&] {
    static_cast<void>(reconstruct::read_result(path_, data));
    return std::string("whole");
  };
  EXPECT_EQ(meaning(), "whole");
  expect_meanings(150, path_, {}, meaning);
}
#endif

// --- files of other programs

TEST_F(SealedTest, MeasuredSpeedsAreReadOrRefused) {
  const std::string good =
      R"({"context":{"date":"x"},"benchmarks":[{"name":"cases/cuda/manual_time",)"
      R"("cases_per_second":30},{"name":"large/cuda/all_reduce/direct/8x67108864/iterations:3",)"
      R"("error_occurred":true,"error_message":"no memory"}]})";
  expect_no_fault(200, {good}, [&](const std::string& bad) {
    harness::write_file(hardware::speed_file(folder_.path()), bad);
    return fault_of_reading([&] {
      return std::string(hardware::read_speeds(folder_.path()).empty() ? "no speeds" : "");
    });
  });
}

}  // namespace
}  // namespace rankcheck::fuzz
