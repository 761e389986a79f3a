#include "gpu/device/nccl/store.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gpu/device/nccl/store_wire.hpp"

namespace rankcheck::gpu::nccl {
namespace {

using Milliseconds = std::chrono::milliseconds;

constexpr Milliseconds long_enough{20000};

class StoreTest : public testing::Test {
 protected:
  [[nodiscard]] StoreClient connect(const std::string& secret = "open sesame") const {
    return {{.port = server_.port()}, secret, long_enough};
  }

  static sockaddr_in loopback(int port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
  }

  static bool join(const Socket& socket, int port) {
    const sockaddr_in address = loopback(port);
    return ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) ==
           0;
  }

  /// Returns the store's answer to raw bytes.
  [[nodiscard]] std::string answer_to(const std::string& bytes) const {
    const Socket socket(::socket(AF_INET, SOCK_STREAM, 0));
    if (!join(socket, server_.port())) return "no connection";
    static_cast<void>(!::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL));
    ::shutdown(socket.get(), SHUT_WR);
    std::string text;
    char chunk[4096];
    for (ssize_t got = 0; (got = ::recv(socket.get(), chunk, sizeof(chunk), 0)) > 0;) {
      text.append(chunk, static_cast<std::size_t>(got));
    }
    return text;
  }

  /// A client that sends a request without waiting for the answer. The store answers what is sent
  /// on a later connection afterwards.
  class Asking {
   public:
    explicit Asking(int port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
      EXPECT_TRUE(join(socket_, port));
      send(request('h', "open sesame"));
      EXPECT_EQ(answer(), "");
    }

    void wait(const std::string& key) const {
      send(request('w', key, number(milliseconds(long_enough), 4)));
    }
    void barrier(const std::string& name, unsigned rank, unsigned ranks) const {
      const std::string patience = number(milliseconds(long_enough), 4);
      send(request('b', name, patience + number(rank, 4) + number(ranks, 4)));
    }
    /// Waits for the answer. Returns it without its first byte, or "closed".
    [[nodiscard]] std::string answer() const {
      std::string bytes = receive(length_bytes);
      if (bytes.empty()) return "closed";
      bytes = receive(number_at(bytes, 0, length_bytes));
      return bytes.empty() ? "closed" : bytes.substr(1);
    }

   private:
    static std::uint64_t milliseconds(Milliseconds time) {
      return static_cast<std::uint64_t>(time.count());
    }
    void send(const std::string& bytes) const {
      EXPECT_EQ(::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL), std::ssize(bytes));
    }
    [[nodiscard]] std::string receive(std::size_t bytes) const {
      std::string text(bytes, '\0');
      const ssize_t got = ::recv(socket_.get(), text.data(), bytes, MSG_WAITALL);
      return got == std::ssize(text) ? text : "";
    }

    Socket socket_;
  };
  [[nodiscard]] Asking asking() const { return Asking(server_.port()); }

  /// Returns a request as it is sent.
  static std::string request(char verb, const std::string& key, const std::string& rest = {}) {
    std::string body{verb, static_cast<char>(key.size()), static_cast<char>(key.size() >> 8)};
    body += key + rest;
    std::string text;
    for (int i = 0; i < 4; ++i) text += static_cast<char>(body.size() >> (8 * i) & 0xffU);
    return text + body;
  }

  /// Returns the message of the StoreError that the function must throw.
  template <class Function>
  static std::string complaint(Function function) {
    try {
      function();
    } catch (const StoreError& error) {
      return error.what();
    }
    return "no complaint";
  }

  /// Runs function(rank, client) in a thread for each rank. Returns their complaints.
  template <class Function>
  std::vector<std::string> together(int ranks, Function function) {
    std::vector<std::future<std::string>> all;
    for (int rank = 0; rank < ranks; ++rank) {
      all.push_back(std::async(std::launch::async, [this, rank, &function] {
        StoreClient client = connect();
        return complaint([&] { function(rank, client); });
      }));
    }
    std::vector<std::string> complaints;
    for (auto& each : all) complaints.push_back(each.get());
    return complaints;
  }

  static void expect_says(const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  }

  StoreServer server_{{}, "open sesame"};
};

TEST_F(StoreTest, KeepsEveryByteOfKeysAndValues) {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);
  StoreClient one = connect();
  StoreClient other = connect();
  one.set(bytes, bytes + bytes);
  one.set("empty", "");
  EXPECT_EQ(other.get(bytes), bytes + bytes);
  EXPECT_EQ(other.get("empty"), "");
  one.set("empty", "no more");
  EXPECT_EQ(other.get("empty"), "no more");
}

TEST_F(StoreTest, SaysWhichKeyIsMissing) {
  StoreClient client = connect();
  expect_says(complaint([&] { static_cast<void>(client.get("nobody\n")); }),
              "no value for 'nobody?'");
  client.set("a", "b");
  EXPECT_EQ(client.get("a"), "b");
}

TEST_F(StoreTest, WaitsForAKeyThatComesLater) {
  StoreClient waiting = connect();
  const Asking asked = asking();
  auto value = std::async(std::launch::async, [&] { return waiting.wait("later", long_enough); });
  asked.wait("later");
  connect().set("later", "here");
  EXPECT_EQ(asked.answer(), "here");
  EXPECT_EQ(value.get(), "here");
  EXPECT_EQ(waiting.wait("later", Milliseconds(0)), "here");
}

TEST_F(StoreTest, WaitsNoLongerThanItWasTold) {
  StoreClient client = connect();
  const auto begin = std::chrono::steady_clock::now();
  expect_says(complaint([&] { static_cast<void>(client.wait("never", Milliseconds(30))); }),
              "no value for 'never' in time");
  EXPECT_GE(std::chrono::steady_clock::now() - begin, Milliseconds(30));
  client.set("still", "usable");
  EXPECT_EQ(client.get("still"), "usable");
}

/// CuPy's store hangs in this case: a thread that wakes late in one round takes away the barrier of
/// the next round.
TEST_F(StoreTest, SeparatesManyConsecutiveBarriers) {
  constexpr int rounds = 100;
  for (const int ranks : {2, 3, 4, 8}) {
    std::vector<std::atomic<int>> entered(static_cast<std::size_t>(ranks));
    const auto complaints = together(ranks, [&](int rank, StoreClient& client) {
      for (int round = 1; round <= rounds; ++round) {
        entered[static_cast<std::size_t>(rank)] = round;
        client.barrier("rounds", rank, ranks, long_enough);
        for (const auto& each : entered) {
          if (each < round) throw StoreError("left before all had entered");
        }
      }
    });
    for (const std::string& each : complaints) EXPECT_EQ(each, "no complaint") << ranks;
  }
}

TEST_F(StoreTest, KeepsBarriersOfDifferentNamesApart) {
  const auto complaints = together(4, [&](int rank, StoreClient& client) {
    for (int round = 0; round < 20; ++round) {
      client.barrier(rank < 2 ? "low" : "high", rank % 2, 2, long_enough);
    }
  });
  for (const std::string& each : complaints) EXPECT_EQ(each, "no complaint");
}

TEST_F(StoreTest, TellsAllWhichRankDidNotCome) {
  const Asking first = asking();
  first.barrier("b", 0, 3);
  StoreClient last = connect();
  expect_says(complaint([&] { last.barrier("b", 2, 3, Milliseconds(30)); }),
              "barrier 'b': rank 1 did not arrive in time");
  expect_says(first.answer(), "barrier 'b': rank 1 did not arrive in time");
  const auto next = together(
      3, [&](int rank, StoreClient& client) { client.barrier("b", rank, 3, long_enough); });
  for (const std::string& each : next) EXPECT_EQ(each, "no complaint");
}

TEST_F(StoreTest, TellsAllThatARankDied) {
  const Asking first = asking();
  first.barrier("b", 0, 3);
  const pid_t child = ::fork();
  if (child == 0) {
    const Asking second = asking();
    second.barrier("b", 1, 3);
    connect().set("child", "waits");
    for (;;) ::pause();
  }
  EXPECT_EQ(connect().wait("child", long_enough), "waits");
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  expect_says(first.answer(), "barrier 'b': rank 1 disconnected while it waited");
}

TEST_F(StoreTest, RefusesARankTwiceAndOtherNumbersOfRanks) {
  const Asking first = asking();
  first.barrier("b", 0, 2);
  StoreClient client = connect();
  expect_says(complaint([&] { client.barrier("b", 0, 2, long_enough); }),
              "rank 0 of 2 came, but that rank already waits");
  expect_says(complaint([&] { client.barrier("b", 1, 3, long_enough); }),
              "rank 1 of 3 came, but others wait for 2");
  expect_says(complaint([&] { client.barrier("b", 2, 2, long_enough); }), "rank 2 of 2 ranks");
  client.barrier("b", 1, 2, long_enough);
  EXPECT_EQ(first.answer(), "");
}

TEST_F(StoreTest, RefusesWhatIsTooLarge) {
  StoreClient client = connect();
  const std::string long_key(store_limits::key_bytes + 1, 'k');
  expect_says(complaint([&] { client.set(long_key, ""); }), "a key of 257 bytes: at most 256");
  const std::string large(store_limits::value_bytes + 1, 'v');
  expect_says(complaint([&] { client.set("k", large); }), "a value of 1048577 bytes: at most");
  client.set("k", large.substr(1));
  EXPECT_EQ(client.get("k").size(), store_limits::value_bytes);
  const std::string said = complaint([&] {
    for (int i = 0; i < 100; ++i) client.set("k" + std::to_string(i), large.substr(1));
  });
  expect_says(said, "the store is full");
  EXPECT_EQ(client.get("k").size(), store_limits::value_bytes);
}

TEST_F(StoreTest, AnswersNonsenseAndServesOn) {
  StoreClient client = connect();
  client.set("key", "value");
  const std::string greeting = request('h', "open sesame");
  expect_says(answer_to(greeting + std::string("\xff\xff\xff\x7f", 4)),
              "a request of 2147483647 bytes: at most");
  expect_says(answer_to(greeting + std::string("\x01\0\0\0g", 5)), "a malformed request");
  expect_says(answer_to(greeting + request('x', "key")), "an unknown request");
  expect_says(answer_to(greeting + request('g', "")), "an empty key");
  expect_says(answer_to(greeting + request('b', "key", "short")), "a malformed request about");
  expect_says(answer_to("GET / HTTP/1.1\r\n\r\n"), "bytes: at most");
  EXPECT_EQ(client.get("key"), "value");
}

TEST_F(StoreTest, TalksOnlyToThoseWhoKnowTheSecret) {
  for (const std::string secret : {"", "open", "open sesamf", "open sesame!", "open sesameopen"}) {
    expect_says(complaint([&] { static_cast<void>(connect(secret)); }),
                "the secret is not the store's");
  }
  expect_says(answer_to(request('g', "key")), "the secret is not the store's");
}

TEST_F(StoreTest, LetsNobodyInWithoutASecretFromElsewhere) {
  expect_says(complaint([] { StoreServer server({.host = "0.0.0.0"}, ""); }),
              "others can reach it: expected a secret");
  const StoreServer guarded({.host = "0.0.0.0"}, "secret");
  const StoreServer alone({.host = "127.0.0.1"}, "");
  StoreClient client({.port = alone.port()}, "", long_enough);
  client.set("a", "b");
}

TEST_F(StoreTest, SaysThatNobodyIsThere) {
  const int port = [] { return StoreServer({}, "").port(); }();
  expect_says(complaint([&] { StoreClient client({.port = port}, "", Milliseconds(20)); }),
              "Connection refused");
}

TEST_F(StoreTest, RefusesPortsThatAreNone) {
  for (const int port : {-1, 65536, 65536 + server_.port()}) {
    expect_says(complaint([&] { StoreServer server({.port = port}, ""); }),
                ":" + std::to_string(port) + ": expected a port of 0 to 65535");
    expect_says(
        complaint([&] { StoreClient client({.port = port}, "open sesame", Milliseconds(20)); }),
        "expected a port");
  }
}

/// The listener's queue is full, so a new connection gets no answer.
TEST_F(StoreTest, WaitsForNoConnectionLongerThanItWasTold) {
  const Socket listener(::socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof(address);
  auto* const at = reinterpret_cast<sockaddr*>(&address);
  ASSERT_EQ(::bind(listener.get(), at, size), 0);
  ASSERT_EQ(::listen(listener.get(), 0), 0);
  ASSERT_EQ(::getsockname(listener.get(), at, &size), 0);
  const int port = ntohs(address.sin_port);
  std::vector<Socket> queue;
  for (int i = 0; i < 8; ++i) {
    queue.emplace_back(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0));
    static_cast<void>(join(queue.back(), port));
  }
  const auto begin = std::chrono::steady_clock::now();
  expect_says(complaint([&] { StoreClient client({.port = port}, "", Milliseconds(50)); }),
              "Connection timed out");
  // Without its own limit, the client would wait for the system's, two minutes.
  EXPECT_LT(std::chrono::steady_clock::now() - begin, long_enough);
}

TEST_F(StoreTest, TakesNegativeTimeoutForNone) {
  StoreClient client = connect();
  expect_says(complaint([&] { static_cast<void>(client.wait("never", Milliseconds(-1))); }),
              "no value for 'never' in time");
  expect_says(complaint([&] { client.barrier("b", 0, 2, Milliseconds(-1)); }),
              "rank 1 did not arrive in time");
}

/// Limits the number of the process's descriptors during this object's lifetime.
class Descriptors {
 public:
  explicit Descriptors(rlim_t most) {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    rlimit now = before_;
    now.rlim_cur = std::min(most, before_.rlim_max);
    ::setrlimit(RLIMIT_NOFILE, &now);
  }
  Descriptors(const Descriptors&) = delete;
  Descriptors& operator=(const Descriptors&) = delete;
  ~Descriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }

  [[nodiscard]] rlim_t most_ever() const { return before_.rlim_max; }

 private:
  rlimit before_{};
};

TEST_F(StoreTest, SaysThatItHasTooManyConnections) {
  // Both ends of each connection belong to this process.
  constexpr std::size_t needed = 2 * store_limits::connections + 100;
  const Descriptors many(needed);
  if (many.most_ever() < needed) GTEST_SKIP() << "needs " << needed << " descriptors";
  StoreClient first = connect();
  const std::string greeting = request('h', "open sesame");
  std::vector<Socket> others;
  for (std::size_t i = 1; i < store_limits::connections; ++i) {
    others.emplace_back(::socket(AF_INET, SOCK_STREAM, 0));
    ASSERT_TRUE(join(others.back(), server_.port())) << i;
    // Whoever does not greet is disconnected after a time.
    ASSERT_EQ(::send(others.back().get(), greeting.data(), greeting.size(), MSG_NOSIGNAL),
              std::ssize(greeting));
  }
  // Earlier connections are still served.
  first.set("a", "b");
  expect_says(complaint([&] { static_cast<void>(connect()); }),
              "the store has 1024 connections: no more are accepted");
  EXPECT_EQ(first.get("a"), "b");
}

/// If the process has no descriptor for a connection, the kernel keeps the connection. It then
/// reports the connection at every poll, so the store must not poll in a loop.
TEST_F(StoreTest, WaitsForDescriptorsWithoutTurningInCircles) {
  StoreClient first = connect();
  const Socket late(::socket(AF_INET, SOCK_STREAM, 0));
  const std::string greeting = request('h', "open sesame");
  {
    const Descriptors none(static_cast<rlim_t>(late.get()) + 1);
    ASSERT_TRUE(join(late, server_.port()));
    static_cast<void>(!::send(late.get(), greeting.data(), greeting.size(), MSG_NOSIGNAL));
    first.set("a", "b");
    const auto begin = std::chrono::steady_clock::now();
    server_.await_polls(5);
    // Every other poll waits for 100 ms. The first one may have begun before.
    EXPECT_GE(std::chrono::steady_clock::now() - begin, Milliseconds(99));
    first.set("a", "c");
  }
  char answer[5];
  EXPECT_EQ(::recv(late.get(), answer, sizeof(answer), MSG_WAITALL), 5);
}

TEST_F(StoreTest, ComesBeforeOrAfterItsClients) {
  const int port = [] { return StoreServer({}, "").port(); }();
  std::promise<void> tried;
  auto value = std::async(std::launch::async, [&] {
    int tries = 0;
    StoreClient client({.port = port}, "", long_enough, [&] {
      if (++tries == 1) tried.set_value();
      std::this_thread::yield();
    });
    client.set("a", "b");
    return client.get("a");
  });
  tried.get_future().get();
  const StoreServer late({.port = port}, "");
  EXPECT_EQ(value.get(), "b");
}

TEST_F(StoreTest, TellsClientsWhenItEnds) {
  auto server = std::make_unique<StoreServer>(StoreAddress{}, "open sesame");
  StoreClient client({.port = server->port()}, "open sesame", long_enough);
  auto said = std::async(std::launch::async, [&] {
    return complaint([&] { static_cast<void>(client.wait("never", long_enough)); });
  });
  const Asking asked(server->port());
  asked.wait("never");
  StoreClient({.port = server->port()}, "open sesame", long_enough).set("all", "wait");
  server.reset();
  EXPECT_EQ(asked.answer(), "closed");
  expect_says(said.get(), "the connection was closed");
}

}  // namespace
}  // namespace rankcheck::gpu::nccl
