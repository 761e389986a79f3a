#include <map>
#include <set>
#include <string>

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "reference/spec/to_size.hpp"

#include "tests/cases/cli.hpp"

/// Subjects that are written with the headers for C++, and workers that break the protocol.
namespace rankcheck {
namespace {

using nlohmann::json;
using tests::Outcome;

const std::string folder = RANKCHECK_BINARY_DIR "/subjects/";
const std::string every = folder + "every_operation";
const std::string in_processes = folder + "in_processes";

class CliSubjectTest : public tests::CliTest {
 protected:
  /// Runs the program with a subject. Expects the exit status.
  Outcome run(int status, const std::string& options, const std::string& command) {
    return rankcheck("run --report r --overwrite " + options + " --backend " +
                         harness::shell_quoted("command:" + command),
                     status);
  }

  /// Runs one operation with a planted bug. Expects the verdict and the beginning of its reason.
  json expect_found(const std::string& bug,
                    const std::string& operation,
                    const std::string& verdict,
                    const std::string& reason) {
    const std::string program = operation == "broadcast" ? in_processes : every;
    run(1,
        "--cases 60 --ranks 1..4 --type int32 --timeout 60 --property agrees_with_reference "
        "--operation " +
            operation,
        program + " --bug " + bug);
    const json finding = report("r")["findings"][0];
    EXPECT_EQ(finding["verdict"], verdict) << bug;
    EXPECT_TRUE(has(std::string(finding["reason"]), reason)) << finding;
    return finding["minimal"];
  }
};

TEST_F(CliSubjectTest, EveryOperationAgreesWithTheReference) {
  run(0,
      "--cases 40 --ranks 1..4 --type uint8,int32,f32,f64 --property agrees_with_reference",
      every);
  int passed = 0;
  for (const json& each : findings("r")) passed += each["verdict"] == "passed";
  EXPECT_EQ(passed, 20) << "all but barrier, which has no such property";
}

TEST_F(CliSubjectTest, ListSaysWhatASubjectOffers) {
  const std::string backend = " --backend " + harness::shell_quoted("command:" + every);
  const Outcome outcome = passes("list --json --operation all_reduce,barrier" + backend);
  const json listing = json::parse(outcome.out);
  ASSERT_EQ(listing["backends"].size(), 1U);
  EXPECT_EQ(listing["backends"][0]["command"], "command:" + every);
  const std::string name = listing["backends"][0]["name"];
  ASSERT_EQ(listing["operations"].size(), 2U);
  const json& offered = listing["operations"][0]["algorithms"][name][0];
  EXPECT_TRUE(offered["takes"].contains("type")) << offered;
  EXPECT_TRUE(offered["takes"].contains("op")) << offered;
  const Outcome text = passes("list --operation all_reduce" + backend);
  EXPECT_TRUE(has(text.out, "OFFERED BY " + name, "; op "));
}

TEST_F(CliSubjectTest, SubjectsOfOneNameAreKeptApart) {
  passes("run --report r --operation barrier --cases 2 --backend " +
         harness::shell_quoted("command:" + every) + " --backend " +
         harness::shell_quoted("command:env " + every));
  std::set<std::string> ids;
  const json whole = report("r");
  for (const json& each : whole["findings"]) ids.insert(each["id"]);
  EXPECT_EQ(ids.size(), whole["findings"].size());
  EXPECT_EQ(whole["environment"]["backends"].size(), 2U) << whole["environment"]["backends"];
}

TEST_F(CliSubjectTest, TheExampleHoldsInEveryProperty) {
  for (const char* operation : {"broadcast", "barrier"}) {
    run(0, "--cases 30 --operation " + std::string(operation), folder + "threads");
  }
}

TEST_F(CliSubjectTest, TheRankOfTheHarnessIsNoRankOfTheSubject) {
  surroundings_ = "SLURM_PROCID=0 SLURM_NTASKS=4 ";
  run(0,
      "--cases 5 --ranks 2..2 --type int32 --property agrees_with_reference --operation broadcast",
      in_processes);
}

TEST_F(CliSubjectTest, BuffersMayLiveInAnotherMemory) {
  for (const char* operation : {"all_reduce", "gather_v", "reduce_list"}) {
    run(0,
        "--cases 40 --type int32,f64 --property agrees_with_reference --operation " +
            std::string(operation),
        every + " --device");
  }
}

TEST_F(CliSubjectTest, RanksMayBeProcesses) {
  for (const char* operation : {"broadcast", "barrier"}) {
    run(0, "--cases 20 --ranks 3..3 --operation " + std::string(operation), in_processes);
  }
}

TEST_F(CliSubjectTest, WrongRootIsFound) {
  // The smallest case has the root 1. Rank 0 gets the result instead.
  const auto smallest =
      expect_found("wrong_root",
                   "gather",
                   "falsified",
                   "rank 0: element 0 of recv, which is no part of the output, was written");
  const json wrong = report("r")["findings"][0]["wrong"];
  EXPECT_FALSE(wrong.empty());
  for (const json& each : wrong) {
    EXPECT_EQ(each["rank"], 1) << each;
  }
  EXPECT_EQ(smallest["ranks"], 2);
  EXPECT_EQ(smallest["root"], 1);
  EXPECT_EQ(smallest["count"], 1);
}

TEST_F(CliSubjectTest, OtherWrongResultsAreFound) {
  const std::string differs = "differs from the reference";
  EXPECT_EQ(expect_found("group_ignored", "all_gather", "falsified", differs)["group"],
            json({1, 0}));
  const json smallest = expect_found("last_element", "all_reduce", "falsified", differs);
  EXPECT_EQ(smallest["ranks"], 1);
  EXPECT_EQ(smallest["count"], 1);
}

TEST_F(CliSubjectTest, BugsOfTheReadySubjectAreFoundAndShrunk) {
  const std::string property = " --property agrees_with_reference";
  for (const auto& [bug, options] : std::map<std::string, std::string>{
           {"wrong_root", "broadcast" + property},
           {"group_ignored", "broadcast" + property},
           {"last_element", "all_reduce" + property},
           {"stale_buffer", "all_reduce --property repeats_with_other_data"}}) {
    run(1, "--cases 60 --ranks 1..4 --operation " + options, folder + "planted_threads " + bug);
    const json finding = report("r")["findings"][0];
    EXPECT_EQ(finding["verdict"], "falsified") << bug << finding;
    EXPECT_FALSE(finding["wrong"].empty()) << bug << finding;
    EXPECT_LE(finding["minimal"]["ranks"], 2) << bug << finding;
    EXPECT_LE(finding["minimal"]["count"], 2) << bug << finding;
  }
}

TEST_F(CliSubjectTest, AWaitThatEndsAnotherCallIsFound) {
  const std::string options =
      "--cases 60 --ranks 1..3 --operation broadcast --property is_independent_of_history";
  run(0, options, folder + "planted_threads right_wait");
  run(1, options, folder + "planted_threads wrong_wait");
  const json finding = report("r")["findings"][0];
  EXPECT_TRUE(has(finding["reason"].get<std::string>(), "was written at byte ")) << finding;
  ASSERT_EQ(finding["minimal"]["earlier"].size(), 1U) << finding;
  EXPECT_EQ(finding["minimal"]["earlier"][0]["overlaps"], true) << finding;
}

/// Also the properties that need what the subject lacks, such as a second operation.
TEST_F(CliSubjectTest, ARequiredCellThatTheSubjectOffersIsGreen) {
  run(0,
      "--cases 60 --ranks 1..4 --operation all_reduce --require all_reduce/f32/sum",
      folder + "threads");
  // The subject does not offer avg.
  run(1,
      "--cases 60 --ranks 1..4 --operation all_reduce --require all_reduce/f32/avg",
      folder + "threads");
}

TEST_F(CliSubjectTest, AWrongRootOfTheReadySubjectIsExplained) {
  // Rank 1 is taken for the root. Rank 0 gets what was in its buffer, and rank 1 keeps it.
  const Outcome outcome =
      run(1,
          "--cases 60 --ranks 1..4 --operation broadcast --property agrees_with_reference",
          folder + "planted_threads wrong_root");
  const json finding = report("r")["findings"][0];
  ASSERT_EQ(finding["wrong"].size(), 2U) << finding;
  for (int rank = 0; rank < 2; ++rank) {
    const json& wrong = finding["wrong"][spec::to_size(rank)];
    EXPECT_EQ(wrong["rank"], rank) << wrong;
    EXPECT_EQ(wrong["decoded"], rank == 0 ? "element 0 of rank 1 before the call" : "not written")
        << wrong;
    const std::string got = wrong["got"];
    EXPECT_TRUE(outcome.says(" " + std::to_string(rank) + " 0 0 " + got + ' '))
        << "in the table of wrong elements: rank, element, expected and got\n";
  }
}

/// The planted program makes the pause of the late rank as long as it must be.
TEST_F(CliSubjectTest, ARootThatIsNotAwaitedFailsWheneverItIsLate) {
  const Outcome outcome =
      fails("replay --times 5 " +
            harness::shell_quoted(R"({"operation":"broadcast","backend":"command:)" + folder +
                                  R"(planted_threads unawaited_root","ranks":3,"count":1,)"
                                  R"("type":"f32","late":0})"));
  EXPECT_TRUE(outcome.says("replays 5 of 5 failed"));
  EXPECT_TRUE(outcome.says("not written"));
}

/// The harness is told of each call, also of those that were not made.
TEST_F(CliSubjectTest, AFaultInOneOfSeveralGroupsIsExplained) {
  const Outcome outcome =
      fails("replay --times 1 --timeout 60 " +
            harness::shell_quoted(R"({"operation":"broadcast","backend":"command:)" + folder +
                                  R"(planted_threads raises","ranks":2,"count":1,"type":"f32",)"
                                  R"("property":"is_independent_of_history","earlier":)"
                                  R"([{"operation":"broadcast","group":[1,0],"type":"f32"}]})"));
  EXPECT_TRUE(outcome.says("verdict falsified: ranks 0,1: rank 0: no route to the root"));
}

TEST_F(CliSubjectTest, FaultsOfTheReadySubjectAreExplained) {
  for (const auto& [bug, verdict] : std::map<std::string, std::string>{
           {"raises", "falsified: ranks 0,1: rank 1: no route to the root"},
           {"wrong_type", "falsified: ranks 0,1: rank 1: as: got a type of 1 bytes, expected"},
           {"hangs", "hung: no answer within 3 s: rank 0 entered stage 0 (broadcast), rank 1 "},
           {"exits", "crashed: ranks 0,1 died; the worker ended with status 3"},
           {"aborts", "crashed: ranks 0,1 died; the worker was killed by signal 6 (Aborted)"},
           {"prints", "passed"}}) {
    const Outcome outcome = rankcheck(
        "replay --times 1 --timeout " + std::string(bug == "hangs" ? "3 " : "60 ") +
        harness::shell_quoted(R"({"operation":"broadcast","backend":"command:)" + folder +
                              "planted_threads " + bug + R"(","ranks":2,"count":1,"type":"f32"})"));
    EXPECT_TRUE(outcome.says("verdict " + verdict)) << bug;
    const bool has_printed = outcome.err.find("hello from rank 1\n") != std::string::npos;
    EXPECT_EQ(has_printed, bug == "prints") << bug << outcome.err;
  }
}

TEST_F(CliSubjectTest, ExceptionsAreTheReason) {
  expect_found("raises", "all_reduce", "falsified", "rank 1: no route to rank 0");
  EXPECT_EQ(report("r")["findings"][0]["reason"], "ranks 0,1: rank 1: no route to rank 0");
  expect_found("raises", "broadcast", "falsified", "rank 1: no route to the root");
  EXPECT_EQ(report("r")["findings"][0]["reason"], "rank 1: no route to the root");
}

TEST_F(CliSubjectTest, HangsAreExplained) {
  expect_found("hangs --deadline", "all_reduce", "hung", "still in the call: rank 0, 1");
  expect_found("hangs", "broadcast", "hung", "deadline of 0.3 s: still in the call: rank");
}

TEST_F(CliSubjectTest, ProgramsThatEndAreCrashes) {
  expect_found("exits", "all_reduce", "crashed", "the worker ended with status 3");
  expect_found("exits", "broadcast", "crashed", "status 7");
  expect_found("crashes", "all_reduce", "crashed", "killed by signal 6");
}

/// Images of more than 1 MiB, which come in a shared file.
class LargeSubjectTest : public CliSubjectTest {
 protected:
  void replay(int status, const std::string& options, const std::string& fields = "") {
    rankcheck(
        "replay " + harness::shell_quoted(
                        R"({"operation":"all_reduce","backend":"command:)" + every + options +
                        R"(","ranks":3,"count":200000,"type":"f64","op":"sum","input":"exact")" +
                        fields + "}"),
        status);
  }
};

TEST_F(LargeSubjectTest, AgreesWithTheReference) {
  for (const char* options : {"", " --device"}) {
    for (const char* fields : {"", R"(,"in_place":true)"}) {
      replay(0, options, fields);
    }
  }
}

TEST_F(LargeSubjectTest, PlantedBugsAreFound) {
  for (const char* bug : {"last_element", "raises", "crashes", "exits"}) {
    replay(1, std::string(" --bug ") + bug);
  }
}

/// Returns an address of the loopback where nobody listens.
std::string free_address() {
  const int descriptor = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in where{};
  where.sin_family = AF_INET;
  where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(where);
  auto* const address = reinterpret_cast<sockaddr*>(&where);
  EXPECT_EQ(::bind(descriptor, address, size), 0);
  EXPECT_EQ(::getsockname(descriptor, address, &size), 0);
  ::close(descriptor);
  return "127.0.0.1:" + std::to_string(ntohs(where.sin_port));
}

const std::string right_secret = "0123456789abcdef";

/// Ranks that the test starts, as torchrun does, connect to the program.
class ListenSubjectTest : public CliSubjectTest {
 protected:
  /// Runs the program with `arguments` and two ranks of a subject, which get `options` and
  /// `secret`. Expects the exit status. The last line of the output has those of the ranks.
  Outcome listen(int status,
                 const std::string& arguments,
                 const std::string& options = "",
                 const std::string& secret = right_secret) {
    address_ = "listen:" + free_address();
    const auto rank = [&](const char* number) {
      return "RANK=" + std::string(number) + " RANKCHECK_SECRET=" + secret + ' ' + in_processes +
             options + " >/dev/null 2>&1 & ";
    };
    return shell("(export TMPDIR=$PWD WORLD_SIZE=2 RANKCHECK_ADDRESS=" + address_.substr(7) + "; " +
                     rank("0") + "first=$!; " + rank("1") + "second=$!; RANKCHECK_SECRET=" +
                     right_secret + " " RANKCHECK_BINARY_DIR "/rankcheck --start-timeout " +
                     (secret == right_secret ? "60 " : "5 ") + arguments + ' ' + address_ +
                     "; status=$?; wait $first; one=$?; wait $second; echo $one $?; exit $status)",
                 status);
  }

  std::string address_;
};

const std::string run_broadcast =
    "run --report r --cases 20 --ranks 2..2 --timeout 60 --operation broadcast "
    "--property agrees_with_reference --backend";

TEST_F(ListenSubjectTest, RanksOfALauncherPassAndEnd) {
  const Outcome outcome = listen(0, run_broadcast);
  EXPECT_EQ(report("r")["findings"][0]["verdict"], "passed") << outcome.out;
  EXPECT_EQ(outcome.last_line(), "0 0") << "nobody listens any more, so the ranks end";
}

TEST_F(ListenSubjectTest, RanksConnectAgainForReplays) {
  const Outcome outcome = listen(1, run_broadcast, " --bug last_element");
  const json finding = report("r")["findings"][0];
  EXPECT_EQ(finding["verdict"], "falsified") << finding;
  EXPECT_GT(finding["replays"], 1) << finding;
  EXPECT_EQ(finding["replays"], finding["replays_failed"]) << finding;
  EXPECT_EQ(outcome.last_line(), "0 0");
}

TEST_F(ListenSubjectTest, AWrongSecretIsSaidInOneLine) {
  const std::string expected =
      ": still starting after 5 s, no rank has said hello: raise --start-timeout; expected ranks "
      "that connect to this RANKCHECK_ADDRESS: a rank connected ";
  const Outcome wrong = listen(2, run_broadcast, "", "fedcba9876543210");
  expect_one_line(wrong, address_ + expected + "with a wrong secret in RANKCHECK_SECRET");
  EXPECT_TRUE(has(listen(2, run_broadcast, "", "").err, expected + "without a secret"));
}

TEST_F(ListenSubjectTest, RanksOfALauncherAreChecked) {
  const Outcome right = listen(0, "check-worker --ranks 2");
  EXPECT_TRUE(has(right.out,
                  "worker     " + address_,
                  "shutdown   ok           all ranks have closed their ends within 10 s",
                  "run smoke --backend " + address_));
  const Outcome planted = listen(1, "check-worker --ranks 2", " --bug writes_beyond");
  EXPECT_TRUE(has(planted.out, "poison     wrong"));
  const Outcome stranger = listen(1, "check-worker --ranks 2", "", "fedcba9876543210");
  EXPECT_TRUE(has(stranger.out,
                  "start      wrong        " + address_ + ": still starting after 5 s",
                  "with a wrong secret"));
}

TEST_F(ListenSubjectTest, MistakesInTheAddressAreOneLine) {
  for (const char* address : {"29400", "127.0.0.1:", "127.0.0.1:http"}) {
    const Outcome outcome = shell(
        std::string("RANK=0 WORLD_SIZE=1 RANKCHECK_ADDRESS=") + address + ' ' + in_processes, 2);
    EXPECT_EQ(
        outcome.err,
        std::string("in-processes: RANKCHECK_ADDRESS: got ") + address + ", expected HOST:PORT\n");
  }
}

TEST_F(CliSubjectTest, MistakesInTheCommandAreOneLine) {
  expect_unable("run --operation crop --backend 'command:" + every + "'", "; every offers ");
}

// --- workers with planted faults

const std::string planted_worker = RANKCHECK_BINARY_DIR "/planted/planted-worker";

/// The command that checks whether a worker keeps to the protocol.
class CliCheckWorkerTest : public tests::CliTest {
 protected:
  /// Checks a worker with this fault. Checks it once, even if several tests ask.
  const Outcome& check(const std::string& fault) {
    static std::map<std::string, Outcome> outcomes;
    const auto [outcome, is_new] = outcomes.try_emplace(fault);
    // Only a worker of a world that is never complete needs all of the time to start.
    const std::string start = fault == "wrong_world" ? "5" : "60";
    if (is_new) {
      outcome->second =
          rankcheck("--start-timeout " + start + " check-worker --ranks 3 --timeout 60 " +
                    operation_for(fault) + harness::shell_quoted(planted_worker + ' ' + fault));
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
    const Outcome& outcome = check(fault);
    EXPECT_EQ(outcome.status, 1) << fault << '\n' << outcome.out << outcome.err;
    EXPECT_EQ(count(outcome.out, " wrong  "), 1) << fault << '\n' << outcome.out;
    const std::size_t begin = outcome.out.find('\n' + topic + ' ');
    ASSERT_NE(begin, std::string::npos) << outcome.out;
    const std::string line =
        outcome.out.substr(begin + 1, outcome.out.find('\n', begin + 1) - begin);
    EXPECT_TRUE(has(line, " wrong  ", part)) << fault << outcome.out;
  }

  void expect_held(const std::string& fault) {
    const Outcome& outcome = check(fault);
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
  const Outcome& outcome = check("unknown_field");
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
  const Outcome& outcome = check("shared_and_derived");
  EXPECT_EQ(outcome.status, 0) << outcome.out;
  EXPECT_TRUE(has(outcome.out, "hint: shared_file: needs inputs sent"));
}

TEST_F(CliCheckWorkerTest, FaultsOfTheEndAreNamed) {
  expect_wrong("no_shutdown", "shutdown", "did not end within 10 s");
  expect_wrong("exit_status", "shutdown", "ended with status 3; expected the end with status 0");
}

}  // namespace
}  // namespace rankcheck
