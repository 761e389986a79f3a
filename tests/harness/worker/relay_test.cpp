#include "harness/worker/relay.hpp"

#include <array>
#include <iterator>
#include <string>
#include <thread>

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "harness/case/case.hpp"
#include "harness/worker/local_socket.hpp"
#include "harness/worker/protocol.hpp"

#include "tests/harness/sample.hpp"
#include "tests/harness/text.hpp"

namespace rankcheck::harness::worker {
namespace {

const std::string secret = "0123456789abcdef";

std::string complaint_about_address(const std::string& address) {
  return complaint_of<BadInput>([&] { require_loopback(address); });
}

TEST(RelayTest, ListensOnTheLoopbackOnly) {
  EXPECT_EQ(complaint_about_address("127.0.0.1:29500"), "");
  EXPECT_EQ(complaint_about_address("127.1.2.3:1"), "");
  EXPECT_EQ(complaint_about_address("localhost:65535"), "");
  EXPECT_EQ(complaint_about_address("[::1]:29500"), "");
  const std::string loopback = ": expected an address of the loopback, such as 127.0.0.1:PORT";
  EXPECT_EQ(complaint_about_address("0.0.0.0:29500"), "listen:0.0.0.0:29500" + loopback);
  EXPECT_EQ(complaint_about_address("10.0.0.1:29500"), "listen:10.0.0.1:29500" + loopback);
  EXPECT_EQ(complaint_about_address("here:29500"), "listen:here:29500" + loopback);
  EXPECT_EQ(complaint_about_address("29500"), "listen:29500: expected 127.0.0.1:PORT");
  for (const char* address : {"127.0.0.1:0", "127.0.0.1:65536", "127.0.0.1:", "127.0.0.1:1x"}) {
    EXPECT_EQ(complaint_about_address(address),
              std::string("listen:") + address + ": expected a port in 1..65535");
  }
}

/// A relay between a listener on a free port and a socket that plays the session.
class RelayedTest : public testing::Test {
 protected:
  void SetUp() override {
    session_ = listen_at(socket_);
    listener_ = Descriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    where_.sin_family = AF_INET;
    where_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(where_);
    auto* address = reinterpret_cast<sockaddr*>(&where_);
    ASSERT_EQ(::bind(listener_.get(), address, size), 0);
    ASSERT_EQ(::listen(listener_.get(), 8), 0);
    ASSERT_EQ(::getsockname(listener_.get(), address, &size), 0);
    relay_ = std::thread([this] { relay(listener_.get(), socket_, secret); });
  }
  void TearDown() override { await_end(); }

  /// Waits until the relay has returned.
  void await_end() {
    if (relay_.joinable()) relay_.join();
  }

  /// A rank that connects and says these bytes.
  [[nodiscard]] Descriptor rank_that_says(const std::string& bytes) const {
    Descriptor rank(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const auto* address = reinterpret_cast<const sockaddr*>(&where_);
    EXPECT_EQ(::connect(rank.get(), address, sizeof(where_)), 0);
    EXPECT_EQ(::send(rank.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
    return rank;
  }

  /// The next connection of the relay.
  [[nodiscard]] Descriptor relayed() const {
    return Descriptor(::accept4(session_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  }

  static std::string read_once(const Descriptor& from) {
    std::array<char, 4096> bytes{};
    const ssize_t got = ::read(from.get(), bytes.data(), bytes.size());
    return {bytes.data(), got > 0 ? static_cast<std::size_t>(got) : 0};
  }

  /// The hello of a rank, as a frame.
  static std::string hello_of(int rank, int world) {
    Hello hello;
    hello.world = world;
    hello.ranks = {rank};
    hello.traits.name = "mine";
    const std::string text = to_json(hello).dump();
    std::string frame;
    for (std::size_t i = 0; i < 4; ++i) {
      frame.push_back(static_cast<char>(text.size() >> (8 * i) & 0xffU));
    }
    return frame + text;
  }

  Descriptor listener_;

 private:
  TemporaryFolder folder_;
  const std::string socket_ = folder_.path() / "socket";
  Descriptor session_;
  sockaddr_in where_{};
  std::thread relay_;
};

TEST_F(RelayedTest, PassesFramesOnUntilBothEndsAreClosed) {
  const std::string hello = hello_of(0, 1);
  Descriptor rank = rank_that_says(secret + "\n" + hello);
  Descriptor session = relayed();
  EXPECT_EQ(read_once(session), hello);
  ASSERT_EQ(::write(session.get(), "question", 8), 8);
  EXPECT_EQ(read_once(rank), "question");
  ASSERT_EQ(::write(rank.get(), "answer", 6), 6);
  EXPECT_EQ(read_once(session), "answer");
  session.reset();
  EXPECT_EQ(read_once(rank), "");
}

TEST_F(RelayedTest, ClosesConnectionsWithoutTheSecret) {
  testing::internal::CaptureStderr();
  for (const std::string& bytes : {"0123456789abcdeX\n" + hello_of(0, 1),
                                   std::string("0123\n"),
                                   std::string("\n"),
                                   std::string(300, 'x')}) {
    const Descriptor stranger = rank_that_says(bytes);
    EXPECT_EQ(read_once(stranger), "");
  }
  const Descriptor half = rank_that_says("0123");
  ::shutdown(half.get(), SHUT_WR);
  EXPECT_EQ(read_once(half), "");
  const std::string hello = hello_of(0, 1);
  const Descriptor rank = rank_that_says(secret + "\n" + hello);
  EXPECT_EQ(read_once(relayed()), hello);
  const std::string wrong = "a rank connected with a wrong secret in RANKCHECK_SECRET\n";
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            wrong + wrong +
                "a rank connected without a secret in RANKCHECK_SECRET\n"
                "a connection began with a line of more than 256 bytes: expected the secret in "
                "RANKCHECK_SECRET\n"
                "a connection ended, or said nothing more, before its secret\n");
}

TEST_F(RelayedTest, PassesOnWhatComesWithTheHello) {
  const std::string hello = hello_of(0, 1);
  const Descriptor rank = rank_that_says(secret + "\n" + hello + "progress");
  const Descriptor session = relayed();
  std::string all;
  while (all.size() < hello.size() + 8) {
    const std::string more = read_once(session);
    ASSERT_NE(more, "");
    all += more;
  }
  EXPECT_EQ(all, hello + "progress");
}

TEST_F(RelayedTest, PassesFramesOnThatAreNoHello) {
  const std::string broken("\x05\0\0\0[1,2}", 9);
  Descriptor rank = rank_that_says(secret + "\n" + broken);
  Descriptor session = relayed();
  EXPECT_EQ(read_once(session), broken);
  session.reset();
  EXPECT_EQ(read_once(rank), "");
  rank.reset();
  const Descriptor next = rank_that_says(secret + "\n" + hello_of(0, 1));
  EXPECT_EQ(read_once(relayed()), hello_of(0, 1));
}

TEST_F(RelayedTest, WaitsForEveryRankOfTheWorld) {
  const Descriptor second = rank_that_says(secret + "\n" + hello_of(1, 2));
  const Descriptor one = relayed();
  const Descriptor first = rank_that_says(secret + "\n" + hello_of(0, 2));
  const Descriptor other = relayed();
  EXPECT_EQ(read_once(one), hello_of(1, 2));
  EXPECT_EQ(read_once(other), hello_of(0, 2));
}

TEST_F(RelayedTest, GreetsRanksBesideConnectionsThatSayNothingMore) {
  testing::internal::CaptureStderr();
  const Descriptor silent = rank_that_says("");
  const Descriptor half_a_secret = rank_that_says("0123");
  const Descriptor without_hello = rank_that_says(secret + "\n");
  const Descriptor rank = rank_that_says(secret + "\n" + hello_of(0, 1));
  EXPECT_EQ(read_once(relayed()), hello_of(0, 1));
  for (const Descriptor* each : {&silent, &half_a_secret, &without_hello}) {
    EXPECT_EQ(read_once(*each), "");
  }
  // The relay complains of those whose time is over.
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST_F(RelayedTest, TakesAHelloThatArrivesInParts) {
  const std::string all = secret + "\n" + hello_of(0, 1);
  const Descriptor rank = rank_that_says(all.substr(0, 5));
  for (std::size_t i = 5; i < all.size(); i += 20) {
    const std::string part = all.substr(i, 20);
    ASSERT_EQ(::send(rank.get(), part.data(), part.size(), MSG_NOSIGNAL), std::ssize(part));
  }
  EXPECT_EQ(read_once(relayed()), hello_of(0, 1));
}

TEST_F(RelayedTest, LeavesFurtherRanksForTheNextSession) {
  const std::string greeting = secret + "\n" + hello_of(0, 1);
  Descriptor rank = rank_that_says(greeting);
  Descriptor session = relayed();
  EXPECT_EQ(read_once(session), hello_of(0, 1));
  const Descriptor next = rank_that_says(greeting);
  rank.reset();
  session.reset();
  await_end();
  const Descriptor waiting(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  EXPECT_EQ(read_once(waiting), greeting);
}

}  // namespace
}  // namespace rankcheck::harness::worker
