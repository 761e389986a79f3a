#include <map>
#include <string>

#include <gtest/gtest.h>

#include "tests/cases/cli.hpp"

/// The command that checks whether a worker keeps to the protocol, on workers with planted faults.
namespace rankcheck {
namespace {

const std::string planted = RANKCHECK_BINARY_DIR "/planted/planted-worker";

class CliCheckWorkerTest : public tests::CliTest {
 protected:
  /// Checks a worker with this fault. Checks it once, even if several tests ask.
  const tests::Outcome& check(const std::string& fault) {
    static std::map<std::string, tests::Outcome> outcomes;
    const auto [outcome, is_new] = outcomes.try_emplace(fault);
    // Only a worker of a world that is never complete needs all of the time to start.
    const std::string start = fault == "wrong_world" ? "5" : "60";
    if (is_new) {
      outcome->second =
          rankcheck("--start-timeout " + start + " check-worker --ranks 3 --timeout 60 " +
                    operation_for(fault) + harness::shell_quoted(planted + ' ' + fault));
    }
    return outcome->second;
  }

  /// Returns the option that selects an operation. Sound workers, and one faulty worker for each
  /// topic, are checked with all operations, as a user does: a fault must not make another topic
  /// wrong in any of them. Large images take seconds, so most other faults are checked with an
  /// operation of small images.
  static std::string operation_for(const std::string& fault) {
    const std::string with_all =
        " none sent shared wrong_world missing_trait refuses_all result_of_another_run "
        "image_too_short one_byte_behind family_poison wrong_input shared_size exit_status ";
    if (with_all.find(' ' + fault + ' ') != std::string::npos) return "";
    return fault == "takes" ? "--operation all_gather " : "--operation epie_step ";
  }

  static int count(const std::string& text, const std::string& part) {
    int found = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
      ++found;
    }
    return found;
  }

  /// Expects that only the step of this topic is wrong, and that it says `part`.
  void expect_wrong(const std::string& fault, const std::string& topic, const std::string& part) {
    const tests::Outcome& outcome = check(fault);
    EXPECT_EQ(outcome.status, 1) << fault << '\n' << outcome.out << outcome.err;
    EXPECT_EQ(count(outcome.out, " wrong  "), 1) << fault << '\n' << outcome.out;
    const std::size_t begin = outcome.out.find('\n' + topic + ' ');
    ASSERT_NE(begin, std::string::npos) << outcome.out;
    const std::string line =
        outcome.out.substr(begin + 1, outcome.out.find('\n', begin + 1) - begin);
    EXPECT_TRUE(has(line, " wrong  ", part)) << fault << outcome.out;
  }

  void expect_held(const std::string& fault) {
    const tests::Outcome& outcome = check(fault);
    EXPECT_EQ(outcome.status, 0) << fault << '\n' << outcome.out << outcome.err;
    EXPECT_EQ(count(outcome.out, " wrong  "), 0) << outcome.out;
    EXPECT_TRUE(has(outcome.out, "run smoke --backend 'command:"));
  }
};

TEST_F(CliCheckWorkerTest, WorkersThatKeepToTheProtocolPassInEveryTopic) {
  for (const std::string worker : {"none", "sent"}) {
    expect_held(worker);
    EXPECT_EQ(count(check(worker).out, "not checked"), 0) << check(worker).out;
  }
  expect_held("takes");
  expect_held("shared");
  expect_held("everyone");
  expect_held("two_processes");
}

TEST_F(CliCheckWorkerTest, FaultsOfTheHelloAreNamed) {
  expect_wrong("wrong_world", "start", "only 3 of 5 ranks have said hello");
  expect_wrong("duplicate_rank", "hello", "ranks: 0 occurs twice");
  expect_wrong("rank_in_two_processes", "hello", "ranks: two processes host rank 0");
  expect_wrong(
      "missing_trait", "hello", "traits: nan_rule: the field is missing, expected a value");
  expect_wrong("unknown_operation", "hello", "all_gathr: expected an operation");
  const tests::Outcome& outcome = check("unknown_field");
  EXPECT_EQ(outcome.status, 0) << outcome.out;
  EXPECT_TRUE(
      has(outcome.out, "hint: traits: determinstic: unknown field; did you mean deterministic"));
}

TEST_F(CliCheckWorkerTest, FaultsOfRefusalsAreNamed) {
  expect_wrong("refusal_id", "refusal", "refusal 99: expected the answer to question 1");
  expect_wrong("takes_unknown", "refusal", "takes a case with the input \"of_a_later_version\"");
  expect_wrong("refuses_all", "refusal", "takes no case: got the reason ");
  expect_wrong("runs_refused", "refusal", "got completed, expected the status refused");
}

TEST_F(CliCheckWorkerTest, FaultsOfMessagesAreNamed) {
  expect_wrong("no_progress", "messages", "no progress of rank ");
  expect_wrong("progress_of_another_rank", "messages", "progress of rank 3: expected one that it");
  expect_wrong("result_of_another_run", "messages", "expected that of run");
  expect_wrong(
      "wrong_path", "messages", "path of stage 0: got \"ring\", expected the algorithm plain");
  expect_wrong("stamps_backwards", "messages", "before it entered at");
  expect_wrong("stages_backwards", "messages", "when it left its stage before");
  expect_wrong("crash", "messages", "crashed: ");
}

TEST_F(CliCheckWorkerTest, FaultsOfImagesAreNamed) {
  expect_wrong("image_too_short", "layout", " is missing");
  expect_wrong("guard_too_long", "layout", "64 bytes too many; expected guards of 64 bytes around");
  expect_wrong("zero_poison", "poison", "all of them are 0: was the image filled with poison?");
  expect_wrong("one_byte_behind", "poison", "1 byte of poison differs");
  expect_wrong("poison_of_another_rank", "poison", "the hash takes the world rank");
  expect_wrong("family_poison", "poison", "they lack the poison bits 0x7f");
  expect_wrong("wrong_input", "inputs", "of the send buffer, at byte 64, is ");
  expect_wrong("changes_sent", "poison", ", as they were sent");
}

TEST_F(CliCheckWorkerTest, FaultsOfSharedFilesAreNamed) {
  EXPECT_TRUE(has(check("shared").out, " images came in a shared file"));
  EXPECT_FALSE(has(check("sent").out, "shared file"));
  expect_wrong("shared_size", "messages", " bytes of the image in the shared file");
  expect_wrong("shared_and_payload", "messages", "which fall short of the payload of");
  expect_wrong("shared_offset", "poison", "bytes of poison differ");
  const tests::Outcome& outcome = check("shared_and_derived");
  EXPECT_EQ(outcome.status, 0) << outcome.out;
  EXPECT_TRUE(has(outcome.out, "hint: shared_file: needs inputs sent"));
}

TEST_F(CliCheckWorkerTest, FaultsOfTheEndAreNamed) {
  expect_wrong("no_shutdown", "shutdown", "did not end within 10 s");
  expect_wrong("exit_status", "shutdown", "ended with status 3; expected the end with status 0");
}

}  // namespace
}  // namespace rankcheck
