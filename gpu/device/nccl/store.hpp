#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

/// Where the processes of a world meet before they can communicate: a small store of texts over
/// TCP, with waiting and barriers.
///
/// A client sends one request at a time over one connection: four bytes of length (little endian)
/// and so many bytes; the first one says which request it is, two give the length of a key, then
/// the key and what else the request has. The first request shows the secret. Answers are four
/// bytes of length, one that is 0 for success, and the value or the complaint. Whatever a client
/// sends, others are served on: a request that breaks the rules is answered with a complaint, and
/// where its end is unknown its connection closed.
namespace rankcheck::gpu::nccl {

/// Bytes and connections that the store accepts.
namespace store_limits {
inline constexpr std::size_t key_bytes = 256;
inline constexpr std::size_t value_bytes = std::size_t{1} << 20;
/// Of all keys and values together.
inline constexpr std::size_t total_bytes = std::size_t{64} << 20;
inline constexpr std::size_t connections = 1024;
inline constexpr int ranks = 4096;
/// How long a connection may stay without having shown the secret.
inline constexpr std::chrono::seconds greeting{5};
}  // namespace store_limits

/// What the store complained of, or why it cannot be reached: one line.
class StoreError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A socket or another descriptor that closes itself.
class Socket {
 public:
  Socket() = default;
  explicit Socket(int value) : value_(value) {}
  Socket(Socket&& other) noexcept : value_(std::exchange(other.value_, -1)) {}
  Socket& operator=(Socket&& other) noexcept {
    std::swap(value_, other.value_);
    return *this;
  }
  ~Socket();

  [[nodiscard]] int get() const { return value_; }

 private:
  int value_ = -1;
};

/// Where a store is.
struct StoreAddress {
  std::string host = "127.0.0.1";
  /// 0: any that is free.
  int port = 0;
};

/// Serves a store from a thread of its own as long as it lives. The secret travels as it is: a
/// network that others listen to needs a tunnel.
class StoreServer {
 public:
  /// Throws StoreError where the address cannot be had, or others than this machine could reach it
  /// and no secret keeps them out.
  StoreServer(const StoreAddress& address, std::string secret);
  StoreServer(const StoreServer&) = delete;
  StoreServer& operator=(const StoreServer&) = delete;
  ~StoreServer();

  [[nodiscard]] int port() const { return port_; }

 private:
  Socket listener_;
  /// Written to when the thread is to end.
  Socket stop_;
  int port_ = 0;
  std::thread thread_;
};

/// What a request asks for; see gpu/device/nccl/store_wire.hpp.
enum class Verb : char;

/// A connection to a store. Serves one thread. Every call throws StoreError.
class StoreClient {
 public:
  using Patience = std::chrono::milliseconds;

  /// Tries again until a server is there or the time is over; a negative patience is none.
  StoreClient(const StoreAddress& address, std::string_view secret, Patience patience);

  void set(std::string_view key, std::string_view value);
  /// The value of a key, which must be there.
  [[nodiscard]] std::string get(std::string_view key);
  /// The value of a key, once it is there.
  [[nodiscard]] std::string wait(std::string_view key, Patience patience);
  /// Returns when all `ranks` have called it with this name, as often as this one has. Where one of
  /// them does not come in time or goes away, all that wait are told which.
  void barrier(std::string_view name, int rank, int ranks, Patience patience);

 private:
  using Deadline = std::chrono::steady_clock::time_point;

  std::string ask(Verb verb, std::string_view key, std::string_view rest, Patience patience);
  void send(std::string_view request, Deadline deadline);
  [[nodiscard]] std::string receive(Deadline deadline);
  void expect_ready(short events, Deadline deadline);
  [[noreturn]] void lose(const std::string& why);

  Socket socket_;
  std::string address_;
};

}  // namespace rankcheck::gpu::nccl
