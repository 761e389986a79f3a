#include "harness/worker/protocol.hpp"

#include <array>
#include <chrono>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include "reference/spec/value_rules.hpp"

#include "harness/worker/local_socket.hpp"

#include "tests/harness/text.hpp"

namespace rankcheck::harness::worker {
namespace {

struct Pair {
  Pair() : Pair(make()) {}
  explicit Pair(std::array<int, 2> ends) : a(ends[0], ends[0]), b(ends[1], ends[1]), raw(ends[0]) {}
  static std::array<int, 2> make() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
    return ends;
  }
  void write_raw(const std::string& text) const {
    EXPECT_EQ(::send(raw, text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
  }

  Connection a;
  Connection b;
  int raw;
};

std::vector<std::byte> bytes(std::initializer_list<int> values) {
  std::vector<std::byte> result;
  for (const int value : values) result.push_back(static_cast<std::byte>(value));
  return result;
}

std::string prefix(unsigned length) {
  return {static_cast<char>(length & 0xffU),
          static_cast<char>(length >> 8 & 0xffU),
          static_cast<char>(length >> 16 & 0xffU),
          static_cast<char>(length >> 24 & 0xffU)};
}

std::string error_of(const std::string& raw, std::uint64_t payload_bytes_max = 0) {
  Pair pair;
  pair.write_raw(raw);
  EXPECT_TRUE(pair.b.fill());
  return complaint_of<ProtocolError>([&] { return pair.b.next(payload_bytes_max); });
}

TEST(FrameTest, TravelsWithItsPayloadAndKeepsTheNext) {
  Pair pair;
  const auto first = bytes({1, 2});
  const auto second = bytes({3});
  const std::array<std::span<const std::byte>, 2> parts{first, second};
  ASSERT_TRUE(pair.a.send({{"x", 1}}, parts));
  ASSERT_TRUE(pair.a.send({{"y", 2}}));
  ASSERT_TRUE(pair.b.fill());
  const auto frame = pair.b.next(3);
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->header["x"], 1);
  EXPECT_EQ(std::vector(frame->payload.begin(), frame->payload.end()), bytes({1, 2, 3}));
  EXPECT_EQ(pair.b.next()->header["y"], 2);
  EXPECT_FALSE(pair.b.next());
}

TEST(FrameTest, WaitsForItsLastByte) {
  Pair pair;
  pair.write_raw(prefix(2) + "{");
  ASSERT_TRUE(pair.b.fill());
  EXPECT_FALSE(pair.b.next());
  pair.write_raw("}");
  ASSERT_TRUE(pair.b.fill());
  EXPECT_TRUE(pair.b.next());
}

TEST(FrameTest, IsRefusedWhenMalformedOrNestedDeeply) {
  EXPECT_TRUE(has(error_of(prefix(0xffffffffU)), "at most"));
  EXPECT_TRUE(has(error_of("Hello, world"), "got the text \"Hello, world\""));
  EXPECT_TRUE(has(error_of(prefix(3) + "{]}"), "not a JSON object"));
  EXPECT_TRUE(has(error_of(prefix(2) + "17"), "not a JSON object"));
  EXPECT_TRUE(has(error_of(prefix(14) + R"({"payload":-1})"), "expected a size"));
  EXPECT_TRUE(has(error_of(prefix(13) + R"({"payload":9})", 8), "at most 8"));
  const std::string deep = R"({"hello":)" + std::string(20000, '[') + std::string(20000, ']') + "}";
  EXPECT_TRUE(
      has(error_of(prefix(static_cast<unsigned>(deep.size())) + deep), "not a JSON object"));
}

TEST(ConnectionTest, EndsWhenTheOtherSideGoes) {
  Pair pair;
  pair.a = Connection(-1, -1);
  EXPECT_FALSE(pair.b.fill());
  EXPECT_FALSE(pair.b.send({{"x", 1}}));
}

TEST(HelloTest, SurvivesTheWay) {
  Hello hello;
  hello.world = 4;
  hello.ranks = {1, 3};
  hello.traits = {.name = "n", .nan_rule = spec::NanRule::propagates, .ranks_max = 3};
  hello.traits.result_place = ResultPlace::start;
  hello.traits.zero_rule = spec::ZeroRule::ieee;
  hello.traits.has_streams = true;
  hello.traits.has_delays = true;
  hello.traits.has_strides = true;
  hello.traits.has_overlaps = true;
  hello.traits.frees_groups = true;
  hello.traits.rounds = true;
  hello.algorithms = {{{"barrier", "a", "words"}, {{"KEY", "value"}}}};
  const Hello read = hello_from_json(to_json(hello));
  EXPECT_EQ(read.world, 4);
  EXPECT_EQ(read.ranks, hello.ranks);
  EXPECT_EQ(read.traits.nan_rule, spec::NanRule::propagates);
  EXPECT_EQ(read.traits.result_place, ResultPlace::start);
  EXPECT_EQ(read.traits.zero_rule, spec::ZeroRule::ieee);
  EXPECT_TRUE(read.traits.has_streams);
  EXPECT_TRUE(read.traits.has_delays);
  EXPECT_TRUE(read.traits.has_strides);
  EXPECT_TRUE(read.traits.has_overlaps);
  EXPECT_TRUE(read.traits.frees_groups);
  EXPECT_TRUE(read.traits.rounds);
  EXPECT_EQ(read.traits.ranks_max, 3);
  EXPECT_EQ(read.algorithms.at(0).environment.at("KEY"), "value");
  EXPECT_FALSE(read.everyone);
  hello.everyone = true;
  EXPECT_TRUE(hello_from_json(to_json(hello)).everyone);
}

/// Older workers do not send this rule.
TEST(HelloTest, NeedsNoRuleForZeros) {
  nlohmann::ordered_json header = to_json(Hello{});
  header["hello"]["traits"].erase("zero_rule");
  EXPECT_EQ(hello_from_json(header).traits.zero_rule, spec::ZeroRule::unspecified);
  header["hello"]["traits"].erase("streams");
  EXPECT_FALSE(hello_from_json(header).traits.has_streams);
}

TEST(HelloTest, SaysWhichFieldCannotBe) {
  const auto error_of = [](const std::string& pointer, const nlohmann::json& value) {
    Hello hello;
    hello.world = 2;
    hello.ranks = {0, 1};
    nlohmann::json header = to_json(hello);
    header[nlohmann::json::json_pointer("/hello" + pointer)] = value;
    return complaint_of<ProtocolError>([&] { return hello_from_json(header); });
  };
  const nlohmann::json algorithm{{"operation", "all_reduce"}, {"name", "ring"}, {"summary", ""}};
  EXPECT_EQ(error_of("/algorithms", {algorithm, algorithm}),
            "algorithms: ring of all_reduce occurs twice");
  EXPECT_EQ(error_of("/algorithms", {{{"operation", "extrct"}, {"name", "mine"}, {"summary", ""}}}),
            "algorithms: extrct: expected an operation that 'rankcheck list' shows");
  EXPECT_EQ(error_of("/ranks", {0, 0}), "ranks: 0 occurs twice");
  EXPECT_EQ(error_of("/traits/ranks_max", -3), "traits: ranks_max: got -3, expected at least 1");
  EXPECT_EQ(error_of("/traits/ranks_max", 0), "traits: ranks_max: got 0, expected at least 1");
  EXPECT_EQ(error_of("/traits/ranks_max", 1.5),
            "traits: ranks_max: got 1.5, expected a whole number in -2147483648..2147483647");
  EXPECT_EQ(error_of("/world", 4294967297),
            "world: got 4294967297, expected a whole number in -2147483648..2147483647");
  EXPECT_EQ(
      error_of("/traits/nan_rule", "drop"),
      "traits: nan_rule: got \"drop\", expected one of drops, propagates, either, unspecified");
  EXPECT_EQ(error_of("/traits/ranks_max", 7), "");
  EXPECT_NE(error_of("/protocol", 99), "");
  EXPECT_NE(error_of("/ranks", {7}), "") << "a rank outside of the world";
  nlohmann::ordered_json header = to_json(Hello{});
  header["hello"].erase("traits");
  EXPECT_THROW(static_cast<void>(hello_from_json(header)), ProtocolError);
}

/// Later versions and other programs may send more, so an unknown field is no error.
TEST(HelloTest, HintsAtFieldsThatNobodyReads) {
  nlohmann::json header = to_json(Hello{});
  EXPECT_TRUE(hello_from_json(header).hints.empty());
  header["hello"]["traits"]["round"] = true;
  EXPECT_EQ(hello_from_json(header).hints,
            std::vector<std::string>{"traits: round: unknown field; did you mean rounds?"});
}

TEST(ResultTest, SurvivesTheWay) {
  Pair pair;
  Observation sent;
  sent.status = RunStatus::failed;
  sent.reason = "why";
  sent.path = {"p", "q"};
  sent.stages = {{{bytes({1, 2}), {}}, {{3, 4}, {5, 6}}}, {}};
  ASSERT_TRUE(send_result(pair.a, 8, sent));
  ASSERT_TRUE(pair.b.fill());
  const auto frame = pair.b.next(100);
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->header["result"], 8);
  Observation read;
  read_result(*frame, read);
  EXPECT_EQ(read.status, RunStatus::failed);
  EXPECT_EQ(read.reason, "why");
  EXPECT_EQ(read.path, sent.path);
  EXPECT_EQ(read.stages.at(0).images, sent.stages[0].images);
  EXPECT_EQ(read.stages.at(0).stamps.at(1).left, 6);
  EXPECT_TRUE(read.stages.at(1).images.empty());
}

TEST(ResultTest, IsRefusedWhenARankLeavesBeforeItEntersOrItsSizesDoNotAddUp) {
  const auto payload = bytes({1, 2, 3});
  const auto error_of = [&](int size, int entered, int left) {
    Frame frame;
    frame.header = {{"status", "completed"},
                    {"path", {""}},
                    {"sizes", {{size}}},
                    {"stamps", {{{entered, left}}}}};
    frame.payload = payload;
    Observation read;
    return complaint_of<ProtocolError>([&] { read_result(frame, read); });
  };
  EXPECT_EQ(error_of(3, 5, 9), "");
  EXPECT_EQ(error_of(3, 9, 5), "stamps: left at 5, before it entered at 9, in stage 0");
  for (const int size : {2, 4}) EXPECT_NE(error_of(size, 0, 0), "") << size;
}

TEST(ConnectionTest, SendsOnWhileSomebodyIsPatient) {
  Pair pair;
  limit_sending(pair.raw, std::chrono::milliseconds(5));
  const std::vector<std::byte> large(std::size_t{16} << 20);
  const std::array<std::span<const std::byte>, 1> parts{large};
  EXPECT_FALSE(pair.a.send({{"x", 1}}, parts));
  int asked = 0;
  pair.a.wait_while([&] { return ++asked < 3; });
  EXPECT_FALSE(pair.a.send({{"x", 1}}, parts));
  EXPECT_EQ(asked, 3);
}

}  // namespace
}  // namespace rankcheck::harness::worker
