#include <cstddef>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <rankcheck/subject.hpp>

#include "harness/backend/capabilities.hpp"
#include "harness/case/case.hpp"
#include "harness/worker/protocol.hpp"

namespace rankcheck {
namespace {

using detail::Description;
using detail::JsonReader;

const Function nothing = [](const Call&, Buffer, Buffer) {};

Offer offer(const char* operation, const std::string& ops = "") {
  return {detail::operation_named(operation), ops, nothing};
}

/// A subject of four ranks with two operations.
Description description() {
  Description about;
  about.name = "mine";
  about.types = {"int32", "f32"};
  about.offers.emplace("all_reduce", offer("all_reduce", "sum max"));
  about.offers.emplace("broadcast", offer("broadcast").types("f64").in_place().only("root", "0 1"));
  return about;
}

TEST(SubjectTest, RefusesWhatItDoesNotOffer) {
  const auto refusal = [](const std::string& text) {
    return why_refused(description(), JsonReader(text).read());
  };
  EXPECT_EQ(refusal(R"({"operation":"all_reduce","op":"sum"})"), "");
  EXPECT_EQ(refusal(R"({"operation":"gather"})"), "operation: no function for gather");
}

TEST(SubjectTest, SaysHello) {
  Description about = description();
  about.zero_rule = "ieee";
  about.versions["lib \"quoted\""] = "1.2";
  const std::string text = hello_of(about, {0, 4, {0, 1, 2, 3}, ""});
  const nlohmann::json header = nlohmann::json::parse(text);
  const harness::worker::Hello hello = harness::worker::hello_from_json(header);
  EXPECT_TRUE(hello.takes_inputs);
  EXPECT_EQ(hello.world, 4);
  EXPECT_EQ(hello.ranks.size(), 4U);
  EXPECT_EQ(hello.traits.name, "mine");
  EXPECT_TRUE(hello.traits.has_delays);
  EXPECT_EQ(hello.algorithms.size(), 2U);
  EXPECT_FALSE(hello.everyone);
  EXPECT_EQ(hello.versions["lib \"quoted\""], "1.2");
  const nlohmann::json takes = header["hello"]["algorithms"][1]["takes"];
  EXPECT_EQ(takes["type"], nlohmann::json({"f64"}));
  EXPECT_EQ(takes["in_place"], nlohmann::json({false, true}));
  EXPECT_EQ(takes["root"], nlohmann::json({0, 1}));
  EXPECT_EQ(takes["group"], "any");
  EXPECT_EQ(takes["gap"], "any");
  EXPECT_FALSE(takes.contains("ranks"));
  EXPECT_FALSE(takes.contains("chunk"));
  EXPECT_FALSE(takes.contains("overlaps"));
  EXPECT_TRUE(hello.takes_together);
  EXPECT_FALSE(hello.traits.has_overlaps);
}

/// The harness reads what a subject takes, and sends nothing else.
TEST(SubjectTest, TakesWhatItSays) {
  Description about = description();
  about.offers.at("all_reduce").never_empty().members(2, 3);
  const auto why = [&](const std::string& fields) {
    const std::string name =
        fields.find("broadcast") == std::string::npos ? "all_reduce" : "broadcast";
    const auto takes = nlohmann::json::parse(detail::takes(about, about.offers.at(name), 4));
    const harness::Capabilities capabilities(name, true, takes);
    const auto asked = nlohmann::json::parse(R"({"ranks":4,)" + fields + '}');
    return capabilities.why_refused(harness::case_from_json(asked));
  };
  const std::string sum = R"("operation":"all_reduce","op":"sum","count":3)";
  const std::string moved = R"("operation":"broadcast","type":"f64")";
  EXPECT_EQ(why(sum + R"(,"group":[3,1],"offset":1,"input":"special")"), "");
  EXPECT_EQ(why(moved + R"(,"in_place":true,"root":1,"late":3)"), "");
  EXPECT_NE(why(moved + R"(,"root":2)"), "");
  EXPECT_NE(why(moved + R"(,"chunk":2)"), "");
  EXPECT_NE(why(R"("operation":"broadcast")"), "") << "the type";
  EXPECT_NE(why(sum + R"(,"in_place":true)"), "");
  EXPECT_NE(why(sum), "") << "four members";
  EXPECT_NE(why(R"("operation":"all_reduce","op":"sum","group":[0,1])"), "") << "no elements";
  EXPECT_NE(why(R"("operation":"all_reduce","op":"prod","count":3,"group":[0,1])"), "");
  about.groups = "world";
  EXPECT_EQ(why(moved), "");
  EXPECT_NE(why(moved + R"(,"group":[0,1])"), "");
}

TEST(SubjectTest, TakesTheGroupsThatItCanMake) {
  Description about;
  EXPECT_EQ(detail::groups_of(about), "any");
  about.launch = processes();
  EXPECT_EQ(detail::groups_of(about), "world");
  about.make_group = [](const std::vector<int>&) { return detail::AnyGroup(); };
  EXPECT_EQ(detail::groups_of(about), "any");
  about.groups = "sorted";
  EXPECT_EQ(detail::groups_of(about), "sorted");
}

TEST(SubjectTest, ProcessesMakeGroupsTogether) {
  Description about = description();
  about.make_group = [](const std::vector<int>&) { return detail::AnyGroup(); };
  const auto everyone = [&] {
    const auto header = nlohmann::json::parse(hello_of(about, {1, 4, {1}, ""}));
    return harness::worker::hello_from_json(header).everyone;
  };
  EXPECT_FALSE(everyone());
  about.launch = processes();
  EXPECT_TRUE(everyone());
}

/// Returns the exit status of a program that serves the subject, and what it says.
int serve(Subject& subject, std::string& said, std::vector<std::string> arguments = {}) {
  arguments.insert(arguments.begin(), "program");
  std::vector<char*> argv;
  for (std::string& each : arguments) argv.push_back(each.data());
  argv.push_back(nullptr);
  testing::internal::CaptureStderr();
  const int status = subject.serve(static_cast<int>(arguments.size()), argv.data());
  said = testing::internal::GetCapturedStderr();
  return status;
}

TEST(SubjectTest, MistakesAreOneLine) {
  const auto expect = [](Subject& subject, const std::string& line) {
    std::string said;
    EXPECT_EQ(serve(subject, said), 2);
    EXPECT_EQ(said, "mine: " + line + '\n');
  };
  const std::string types =
      "int8 int32 int64 uint8 uint32 uint64 f16 bf16 f32 f64 complex64 complex128 f8e4m3 f8e5m2";
  expect(Subject("mine").types("int32 float"), "types: got float, expected some of " + types);
  expect(Subject("mine").groups("all"), "groups: got all, expected some of any sorted world");
  Subject groups("mine");
  const auto make_group = [](const std::vector<int>& ranks) { return ranks.size(); };
  groups.group(
      make_group, [](std::size_t&) {}, 0);
  expect(groups, "group: got 0, expected to keep at least 1 group");
  expect(Subject("mine").memory({}), "memory: expected allocate, release, copy_in and copy_out");
  Subject ops("mine");
  ops.all_reduce("sum mean", nothing);
  expect(
      ops,
      "all_reduce: ops: got mean, expected some of none sum prod min max avg premul_sum band bor "
      "bxor land lor lxor maxloc minloc compose");
  Subject twice("mine");
  twice.broadcast(nothing);
  twice.broadcast(nothing);
  expect(twice, "broadcast is offered twice");
}

TEST(SubjectTest, ProgramsThatNobodyStartedRightlySaySo) {
  Subject subject("mine");
  std::string said;
  ::unsetenv("RANKCHECK_SOCKET");
  EXPECT_EQ(serve(subject, said), 1);
  EXPECT_NE(said.find("Neither RANKCHECK_SOCKET nor RANKCHECK_ADDRESS is set"), std::string::npos)
      << said;
  ::setenv("RANKCHECK_SOCKET", "/nowhere/socket", 1);
  EXPECT_EQ(serve(subject, said), 1);
  EXPECT_EQ(said, "mine: /nowhere/socket: No such file or directory\n");
  ::unsetenv("RANKCHECK_SOCKET");
  EXPECT_EQ(serve(subject, said, {"--ranks", "many"}), 2);
  EXPECT_EQ(said, "mine: --ranks: got many, expected a number up to 4096\n");
  subject.launch(processes(4, "mpirun -n {ranks}"));
  EXPECT_EQ(serve(subject, said), 1);
  EXPECT_EQ(said, "mine: start this program with mpirun -n {ranks}\n");
  subject.launch(one_process()).setup([](const Me& me) {
    throw std::runtime_error("no network for " + std::to_string(me.world) + " ranks");
  });
  EXPECT_EQ(serve(subject, said, {"--ranks=3"}), 1);
  EXPECT_EQ(said, "mine: no network for 3 ranks\n");
}

TEST(LaunchTest, RanksComeFromTheCommandLineThenTheEnvironment) {
  ::unsetenv("RANKCHECK_RANKS");
  EXPECT_EQ(detail::ranks_wanted({}, 4), 4);
  ::setenv("RANKCHECK_RANKS", "3", 1);
  EXPECT_EQ(detail::ranks_wanted({"--verbose"}, 4), 3);
  EXPECT_EQ(detail::ranks_wanted({"--ranks", "2"}, 4), 2);
  EXPECT_EQ(detail::ranks_wanted({"--ranks=5"}, 4), 5);
  EXPECT_THROW(detail::ranks_wanted({"--ranks"}, 4), std::invalid_argument);
  EXPECT_THROW(detail::ranks_wanted({"--ranks=0"}, 4), std::invalid_argument);
  ::unsetenv("RANKCHECK_RANKS");
}

TEST(LaunchTest, LaunchersSayThePlace) {
  const char* const names[] = {
      "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "RANK", "WORLD_SIZE"};
  for (const char* name : names) ::unsetenv(name);
  EXPECT_FALSE(detail::place_of_process());
  ::setenv("RANK", "1", 1);
  EXPECT_FALSE(detail::place_of_process()) << "half a pair says nothing";
  ::setenv("WORLD_SIZE", "2", 1);
  EXPECT_EQ(detail::place_of_process(), std::pair(1, 2));
  ::setenv("OMPI_COMM_WORLD_RANK", "3", 1);
  ::setenv("OMPI_COMM_WORLD_SIZE", "4", 1);
  EXPECT_EQ(detail::place_of_process(), std::pair(3, 4)) << "the first pair counts";
  ::setenv("OMPI_COMM_WORLD_SIZE", "3", 1);
  EXPECT_THROW(detail::place_of_process(), std::invalid_argument);
  for (const char* name : names) ::unsetenv(name);
}

}  // namespace
}  // namespace rankcheck
