#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "harness/base/files.hpp"

#include "tests/cases/cli.hpp"

namespace rankcheck {
namespace {

using tests::CliTest;
using tests::Outcome;

/// A line of NCCL's log, of the process and device of a rank.
std::string line_of(int rank, const std::string& text) {
  return fmt::format("node:{}:{} [{}] NCCL INFO {}\n", 100 + rank, 500 + rank, rank, text);
}
std::string made(int rank, const std::string& address, int place, int size, const std::string& id) {
  return line_of(
      rank,
      fmt::format("ncclCommInitRank comm {} rank {} nranks {} cudaDev {} nvmlDev {} busId "
                  "1000 commId {} - Init COMPLETE",
                  address,
                  place,
                  size,
                  rank,
                  rank,
                  id));
}
std::string call(int rank,
                 const std::string& name,
                 const std::string& count,
                 const std::string& address,
                 int root = 0,
                 int type = 7) {
  return line_of(
      rank,
      fmt::format("{}: opCount 0 sendbuff 0x1 recvbuff 0x2 count {} datatype {} op 2 root "
                  "{} comm {} [nranks=2] stream 0x3 task 0 globalrank {}",
                  name,
                  count,
                  type,
                  root,
                  address,
                  rank));
}

class ImportTraceTest : public CliTest {
 protected:
  Outcome import(const std::string& text, int status = 0, const std::string& options = "") {
    harness::write_file(path_to("trace.log"), text);
    return rankcheck("import-trace trace.log " + options, status);
  }
  std::vector<nlohmann::json> cases(const Outcome& outcome) const {
    std::vector<nlohmann::json> all;
    std::istringstream lines(outcome.out);
    for (std::string line; std::getline(lines, line);) all.push_back(nlohmann::json::parse(line));
    return all;
  }
  /// Two ranks with a communicator of both, in this order: rank 1 has the first place.
  std::string world() const { return made(0, "0xa", 1, 2, "0x9") + made(1, "0xb", 0, 2, "0x9"); }
};

TEST_F(ImportTraceTest, ReadsTheCallsOfALogOfNccl) {
  const Outcome outcome =
      import("other text\n" + world() + call(0, "AllReduce", "5", "0xa") +
             call(1, "AllReduce", "5", "0xb") + call(1, "Broadcast", "70000", "0xb", 1, 0) +
             call(0, "Broadcast", "70000", "0xa", 1, 0) + call(0, "Send", "3", "0xa"));
  EXPECT_EQ(outcome.out,
            R"({"operation":"broadcast","backend":"sim","property":"is_independent_of_history",)"
            R"("ranks":2,"root":1,"count":65536,"type":"int8","input":"coded","data_seed":2,)"
            R"("earlier":[{"operation":"all_reduce","count":5,"type":"f32","op":"max"}]})"
            "\n");
  EXPECT_EQ(outcome.err,
            "ranks: 2, calls: 2, cases: 1; cut to 65536 (--count-max): 1; left out: 1 Send\n");
}

TEST_F(ImportTraceTest, MakesCasesThatCanBeReplayed) {
  const Outcome outcome =
      import(world() + call(0, "AllGather", "5", "0xa") + call(1, "AllGather", "5", "0xb") +
             call(0, "ReduceScatter", "2", "0xa") + call(1, "ReduceScatter", "2", "0xb"));
  passes("replay --times 1 '" + outcome.first_line() + "'");
}

TEST_F(ImportTraceTest, KnowsTheRanksOfEachCommunicator) {
  std::string text;
  for (int rank = 0; rank < 4; ++rank) text += made(rank, "0xa", rank, 4, "0x9");
  // A part of the whole without an id.
  for (const int rank : {3, 1}) {
    text +=
        line_of(rank,
                fmt::format("ncclCommSplit comm 0xb rank {} nranks 2 cudaDev 0 nvmlDev 0 busId 1 "
                            "parent 0xa splitCount 1 color 7 key 0- Init COMPLETE",
                            rank == 3 ? 0 : 1));
  }
  for (const int rank : {1, 3}) text += call(rank, "AllReduce", "1", "0xb");
  const auto all = cases(import(text));
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].at("ranks"), 4);
  EXPECT_EQ(all[0].at("group"), nlohmann::json({3, 1}));
}

/// Node 1 has left no logs. Its ranks are not taken for those of node 0.
TEST_F(ImportTraceTest, TakesRanksWithoutALogForOthers) {
  const auto all =
      cases(import(made(0, "0xa", 0, 2, "0x8") + made(1, "0xb", 0, 2, "0x9") +
                   call(0, "AllReduce", "1", "0xa") + call(1, "AllReduce", "1", "0xb")));
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].at("ranks"), 3);
  EXPECT_EQ(all[0].at("group"), nlohmann::json({1, 2}));
  EXPECT_EQ(all[0].at("earlier")[0].at("group"), nlohmann::json({0, 2}));
}

TEST_F(ImportTraceTest, NamesCallsThatDiffer) {
  const Outcome outcome =
      import(world() + call(0, "AllReduce", "5", "0xa") + call(1, "AllReduce", "6", "0xb"), 1);
  EXPECT_TRUE(begins(outcome.err,
                     "rank 0 makes all_reduce of 6 f32 with max at trace.log:4, and rank 1 makes "
                     "all_reduce of 5 f32 with max at trace.log:3\n"));
}

TEST_F(ImportTraceTest, NamesRanksThatWaitForOneAnother) {
  const std::string parts = made(0, "0xc", 0, 2, "0x8") + made(1, "0xd", 1, 2, "0x8");
  const Outcome outcome = import(
      world() + parts + call(0, "AllReduce", "5", "0xa") + call(1, "AllReduce", "5", "0xd"), 1);
  EXPECT_TRUE(has(outcome.err, "on another communicator"));
  EXPECT_EQ(outcome.out, "");
  const Outcome ended = import(world() + call(0, "AllReduce", "5", "0xa"), 1);
  EXPECT_TRUE(begins(
      ended.err,
      "rank 1 makes all_reduce of 5 f32 with max at trace.log:3, and rank 0 has no more calls\n"));
}

TEST_F(ImportTraceTest, RefusesLogsThatItCannotUnderstand) {
  const auto says = [&](const std::string& text, const std::string& expected) {
    EXPECT_TRUE(has(import(text, 2).err, expected)) << text;
  };
  says("nothing of NCCL\n", "trace.log: got no call");
  says(call(0, "AllReduce", "5", "0xa"), "trace.log:1: communicator 0xa: the log does not say");
  says(world() + call(0, "AllReduce", "many", "0xa"), "count: got many, expected a number");
  says(world() + call(0, "AllReduce", "99999999999999999999", "0xa"), "expected a number");
  says(made(0, "0xa", 1, 2, "0x9") + made(1, "0xb", 0, 1, "0x9"), "expected the same number");
  says(made(0, "0xa", 0, 5000, "0x9"), "at most 4096");
  says(made(0, "0xa", 0, 2, "0x9") + made(0, "0xa", 1, 2, "0x9") + call(0, "AllReduce", "5", "0xa"),
       "communicator 0x9: got the ranks 1,1, expected different ones in 0..1");
  says("NCCL INFO comm 0xa rank 0 nranks 2 - Init COMPLETE\n", "got no call");
  says(made(0, "0xa", 0, 2, "0x9") + made(1, "0xb", 0, 2, "0x9"), "got rank 0 of 2 for");
  EXPECT_TRUE(has(import(world(), 2, "--backend abacus").err, "backend: abacus: is unknown"));
}

/// An entry of PyTorch's flight recorder.
nlohmann::json entry(const std::string& name, std::vector<int> input, std::vector<int> output) {
  return {{"profiling_name", name},
          {"process_group", {"0", "default_pg"}},
          {"input_sizes", {input}},
          {"output_sizes", {output}},
          {"input_dtypes", {"BFloat16"}},
          {"state", "completed"}};
}
nlohmann::json record(const std::vector<nlohmann::json>& entries) {
  return {{"version", "2.5"},
          {"pg_config", {{"0", {{"name", "0"}, {"ranks", "[0, 1]"}}}}},
          {"entries", entries}};
}

TEST_F(ImportTraceTest, ReadsTheFlightRecordsOfPyTorch) {
  const std::string text = record({entry("nccl:all_reduce", {3, 4}, {3, 4}),
                                   entry("nccl:_reduce_scatter_base", {8}, {4}),
                                   entry("nccl:scatter", {3}, {6}),
                                   entry("nccl:all_to_all", {6}, {6}),
                                   entry("nccl:send 0->1", {1}, {1}),
                                   entry("nccl:all_reduce_barrier", {1}, {1})})
                               .dump();
  harness::write_file(path_to("rank_0.json"), text);
  harness::write_file(path_to("rank_1.json"), text);
  const Outcome outcome = passes("import-trace rank_0.json rank_1.json --calls 2 --backend mpi");
  const auto all = cases(outcome);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].at("operation"), "reduce_scatter");
  EXPECT_EQ(all[0].at("count"), 4);
  EXPECT_EQ(all[0].at("earlier")[0].at("count"), 12);
  EXPECT_EQ(all[0].at("earlier")[0].at("op"), "sum");
  EXPECT_EQ(all[1].at("operation"), "barrier");
  EXPECT_EQ(all[1].at("earlier")[0].at("count"), 3);
  EXPECT_TRUE(has(outcome.err, "left out: 2 nccl:all_to_all; left out: 2 nccl:send\n"));
}

/// A record has the last calls of its rank only.
TEST_F(ImportTraceTest, BeginsWhereAllFlightRecordsOfAGroupBegin) {
  nlohmann::json first = entry("nccl:broadcast", {2}, {2});
  nlohmann::json second = entry("nccl:all_reduce", {3}, {3});
  first["collective_seq_id"] = 7;
  second["collective_seq_id"] = 8;
  harness::write_file(path_to("rank_0.json"), record({first, second}).dump());
  harness::write_file(path_to("rank_1.json"), record({second}).dump());
  const Outcome outcome = passes("import-trace rank_0.json rank_1.json");
  EXPECT_EQ(cases(outcome).at(0).at("operation"), "all_reduce");
  EXPECT_TRUE(has(outcome.err, "calls: 1, cases: 1; left out: 1 calls that other ranks no longer"));
}

TEST_F(ImportTraceTest, RefusesFlightRecordsThatItCannotUnderstand) {
  const auto says = [&](const nlohmann::json& object, const std::string& expected) {
    harness::write_file(path_to("rank_0.json"), object.dump());
    EXPECT_TRUE(has(rankcheck("import-trace rank_0.json", 2).err, expected)) << object;
  };
  const nlohmann::json sum = entry("nccl:all_reduce", {3}, {3});
  nlohmann::json without_group = record({sum});
  without_group.erase("pg_config");
  says(without_group, "rank_0.json: entry 0: pg_config has no ranks of the group 0");
  nlohmann::json wrong = sum;
  wrong["input_sizes"] = {{-3}};
  says(record({wrong}), "entry 0: got the sizes -3");
  wrong["input_sizes"] = "3";
  says(record({wrong}), "entry 0: input_sizes: got \"3\", expected a list");
  says({{"entries", 3}}, "expected an object with the list entries, or with calls");
  nlohmann::json twice = record({sum});
  twice["pg_config"]["0"]["ranks"] = "[0, 0]";
  says(twice, "got the ranks 0,0, expected different ones");
  twice["pg_config"]["0"]["ranks"] = "[0, 2147483647]";
  says(twice, "ranks: expected numbers in 0..4095");
  says(record({}), "got no call");
  nlohmann::json elsewhere = record({sum});
  elsewhere["rank"] = 5;
  says(elsewhere, "rank 5 is not in the group 0");
}

TEST_F(ImportTraceTest, ReadsAListOfCalls) {
  const Outcome outcome =
      import(R"({"ranks":3,"calls":[{"operation":"broadcast","count":2,"group":[2,0]},)"
             R"({"operation":"all_reduce","count":1,"op":"sum","type":"int32","overlaps":true},)"
             R"({"operation":"all_gather_v","counts":[1,0,99],"type":"int8","overlaps":true}]})",
             0,
             "--count-max 4");
  const auto all = cases(outcome);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].at("counts"), nlohmann::json({1, 0, 4}));
  EXPECT_FALSE(all[0].contains("overlaps"));
  EXPECT_EQ(all[0].at("earlier")[0].at("group"), nlohmann::json({2, 0}));
  EXPECT_EQ(all[0].at("earlier")[1].at("input"), "exact");
  EXPECT_EQ(all[0].at("earlier")[1].at("overlaps"), true);
}

TEST_F(ImportTraceTest, RefusesListsThatItCannotUnderstand) {
  const auto says = [&](const std::string& calls, const std::string& expected) {
    const std::string err = import(R"({"ranks":3,"calls":[)" + calls + "]}", 2).err;
    EXPECT_TRUE(has(err, expected)) << calls << err;
  };
  says(R"({"operation":"broadcast","count":"2"})", "trace.log: call 0: ");
  says(R"({"operation":"broadcast","root":3})", "root");
  says(R"({"operation":"broadcast","hosts":[0,0,1]})", "call 0: hosts: expected no value");
  says(R"({"operation":"extract"})", "call 0: operation: extract is no collective");
  says(R"({"operation":"broadcast","group":[-1,0]})", "expected different ones in 0..2");
  says("", "got no call");
  const std::string deep(200, '[');
  EXPECT_TRUE(has(import(R"({"ranks":)" + deep, 2).err, "trace.log: "));
  EXPECT_TRUE(has(import(R"({"ranks":-1,"calls":[]})", 2).err, "ranks: got -1, expected 1..4096"));
}

}  // namespace
}  // namespace rankcheck
