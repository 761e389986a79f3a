#include "harness/worker/process.hpp"

#include <optional>
#include <string>

#include <gtest/gtest.h>

namespace rankcheck::harness::worker {
namespace {

const std::string rule = std::string(74, '-') + "\n";

TEST(LastWordsTest, AreTheLastTellingLine) {
  EXPECT_EQ(last_words_of("first\nKeyError: 'boom'\n\n  \n"), "KeyError: 'boom'");
  EXPECT_EQ(last_words_of("a: first\nb: second\n", "a: "), "a: first");
  EXPECT_EQ(last_words_of("\n---\n"), "");
}

TEST(LastWordsTest, AStackWithoutAnErrorIsPassedOver) {
  EXPECT_EQ(last_words_of("library: lost the network\n"
                          "Current thread 0x00007f (most recent call first):\n"
                          "  File \"wait.py\", line 7 in wait\n"
                          "  File \"<frozen runpy>\", line 198 in _run_module_as_main\n"),
            "library: lost the network");
}

TEST(LastWordsTest, AdviceOfALauncherIsPassedOver) {
  const std::string ending =
      "YOUR APPLICATION TERMINATED WITH THE EXIT STRING: Segmentation fault (signal 11)";
  EXPECT_EQ(last_words_of(ending + "\nThis typically refers to a problem with your application.\n" +
                          "Please see the FAQ page for debugging suggestions\n"),
            ending);
}

TEST(LastWordsTest, ALauncherThatOnlySaysThatAProcessEndedIsPassedOver) {
  const std::string own = "Traceback (most recent call last):\nKeyError: 'boom'\n";
  const std::string job = rule + "Primary job  terminated normally, but 1 process returned\na " +
                          "non-zero exit code. Per user-direction, the job has been aborted.\n" +
                          rule;
  const std::string process =
      rule + "mpirun detected that one or more processes exited with non-zero status, thus " +
      "causing\nthe job to be terminated. The first process to do so was:\n\n  Exit code:    1\n" +
      rule;
  EXPECT_EQ(last_words_of(own + job + own + process), "KeyError: 'boom'");
  EXPECT_EQ(last_words_of(own + job + process), "KeyError: 'boom'");
  EXPECT_EQ(last_words_of(process), "  Exit code:    1") << "nobody said more";
}

TEST(LastWordsTest, OfALaunchersOwnErrorAreItsFirstParagraph) {
  const std::string slots =
      rule +
      "There are not enough slots available in the system to satisfy the 8\nslots that were " +
      "requested:\n\n  python3\n\nnumber of available slots\nlaunch.\n" + rule;
  EXPECT_EQ(last_words_of("warning\n" + slots),
            "There are not enough slots available in the system to satisfy the 8 slots that were "
            "requested:");
}

TEST(FirstToEndTest, IsTheRankThatOpenMpiNames) {
  EXPECT_EQ(first_to_end_of("mpirun noticed that process rank 12 with PID 0 on node vm exited on "
                            "signal 9 (Killed).\n"),
            12U);
  EXPECT_EQ(first_to_end_of("The first process to do so was:\n\n  Process name: [[29213,1],2]\n"),
            2U);
  EXPECT_EQ(first_to_end_of("MPI_ABORT was invoked on rank 3 in communicator MPI_COMM_WORLD\n"),
            3U);
}

TEST(FirstToEndTest, IsUnknownIfNobodyNamesIt) {
  EXPECT_EQ(first_to_end_of("rank 2 is out of memory\n"), std::nullopt);
  EXPECT_EQ(first_to_end_of("mpirun noticed that process rank "), std::nullopt);
  EXPECT_EQ(first_to_end_of("The first process to do so was:\n"), std::nullopt);
}

}  // namespace
}  // namespace rankcheck::harness::worker
