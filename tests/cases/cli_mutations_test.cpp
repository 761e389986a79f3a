#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/cases/cli.hpp"
#include "tests/fuzz/mutator.hpp"

/// Runs the program itself on corrupted input. tests/fuzz/ does the same to the readers of all its
/// files, many more times.
namespace rankcheck {
namespace {

class CliMutationsTest : public tests::CliTest {
 protected:
  CliMutationsTest() { program_ = tests::last_resort + program_; }

  /// Returns all paths in the folder.
  [[nodiscard]] std::set<std::string> files() const {
    std::set<std::string> all;
    for (const auto& each : std::filesystem::recursive_directory_iterator(folder_.path())) {
      all.insert(each.path().string());
    }
    return all;
  }

  /// Runs the program, which may accept the input. If it refuses, it must print one line and write
  /// no file. Returns the outcome.
  tests::Outcome expect_taken_or_refused(const std::string& arguments) {
    // Standard error goes to this file, so it must exist before the files are listed.
    harness::write_file(path_to("stderr"), "");
    const std::set<std::string> before = files();
    tests::Outcome outcome = rankcheck(arguments);
    EXPECT_TRUE(outcome.status >= 0 && outcome.status <= 2) << outcome.status;
    if (outcome.status != 2) return outcome;
    EXPECT_TRUE(outcome.err.starts_with("rankcheck: ")) << outcome.err;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    EXPECT_LE(outcome.err.size(), 300U) << outcome.err;
    EXPECT_EQ(files(), before);
    return outcome;
  }

  /// Runs the program on an existing file, which is good, and on mutations of it.
  void expect_of_file(const std::string& name,
                      const std::string& arguments,
                      int times = mutations) {
    const std::string good = text_of(name);
    EXPECT_LT(rankcheck(arguments).status, 2);
    std::filesystem::remove_all(path_to("out"));
    for (int seed = 1; seed <= times; ++seed) {
      fuzz::Mutator mutator(static_cast<std::uint64_t>(seed));
      const std::string bad = seed % 2 == 0 ? mutator.bytes(good) : mutator.tokens(good);
      harness::write_file(path_to(name), bad);
      expect_taken_or_refused(arguments);
      ASSERT_FALSE(HasFailure()) << "seed " << seed << ": " << testing::PrintToString(bad);
      std::filesystem::remove_all(path_to("out"));
    }
  }

  static constexpr int mutations = 40;
};

TEST_F(CliMutationsTest, OfACase) {
  harness::write_file(path_to("case.json"),
                      R"({"operation":"barrier","algorithm":"dissemination","backend":"sim",)"
                      R"("ranks":3,"group":[2,0],"schedule":"random:3"})");
  expect_of_file("case.json", "replay case.json --times 1");
}

TEST_F(CliMutationsTest, OfASuite) {
  write_suite(R"("operation":"barrier","cases":2,"ranks":[2,3],"require_all_cells":false)");
  expect_of_file("s.json", "run s.json --report out");
}

TEST_F(CliMutationsTest, OfAScan) {
  if (!tests::reconstructs) GTEST_SKIP() << tests::no_reconstruct;
  passes("simulate scan.cxi --positions 4 --detector 8 --step 2");
  expect_of_file("scan.cxi", "reconstruct scan.cxi --iterations 0 --output out", 4 * mutations);
}

TEST_F(CliMutationsTest, OfAJournalToGoOnWith) {
  passes("run --operation barrier --backend sim --cases 2 --report r");
  const std::string good = text_of("r/journal.jsonl");
  const nlohmann::json before = findings("r");
  for (int seed = 1; seed <= mutations; ++seed) {
    harness::write_file(path_to("r/journal.jsonl"),
                        fuzz::Mutator(static_cast<std::uint64_t>(seed)).bytes(good));
    expect_taken_or_refused("run --resume r");
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
    ASSERT_EQ(findings("r"), before) << "seed " << seed;
  }
}

TEST_F(CliMutationsTest, OfCommandLines) {
  if (!tests::reconstructs) GTEST_SKIP() << tests::no_reconstruct;
  passes("simulate scan.cxi --positions 4 --detector 8 --step 2");
  const std::vector<std::vector<std::string>> commands{
      {"run", "--operation", "barrier", "--backend", "sim", "--cases", "2", "--report", "out"},
      {"bench", "--topology", "nvlink8", "--ranks", "2", "--operation", "barrier"},
      {"simulate", "out", "--positions", "4", "--detector", "8", "--step", "2", "--seed", "3"},
      {"reconstruct", "scan.cxi", "--iterations", "0", "--ranks", "2", "--output", "out"},
      {"replay", R"({"operation":"barrier","ranks":2})", "--times", "1"},
      {"audit", "--operation", "barrier", "--cases", "1"},
      {"list", "--json"}};
  constexpr std::array extremes{
      "", "-1", "0", "1.5", "1e999", "nan", "2147483648", "99999999999999999999", "-", "--", "--x"};
  for (int seed = 1; seed <= 4 * mutations; ++seed) {
    tests::Random random(static_cast<std::uint64_t>(seed));
    std::vector<std::string> words = commands[random.below(commands.size())];
    const std::size_t at = random.below(words.size());
    switch (random.below(4)) {
      case 0:
        words.insert(words.begin() + static_cast<std::ptrdiff_t>(at), words[at]);
        break;
      case 1:
        words[at] = fuzz::Mutator(random.bits()).bytes(words[at]);
        break;
      default:
        words[at] = extremes[random.below(extremes.size())];
    }
    std::string line;
    for (std::string& word : words) {
      std::erase(word, '\0');
      line += harness::shell_quoted(word) + ' ';
    }
    expect_taken_or_refused(line);
    ASSERT_FALSE(HasFailure()) << "seed " << seed << ": " << line;
    std::filesystem::remove_all(path_to("out"));
  }
}

}  // namespace
}  // namespace rankcheck
