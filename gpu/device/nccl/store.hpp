#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

/// A meeting place for the processes of a world before they can communicate: a small key-value
/// store over TCP, with waiting and barriers.
///
/// A client sends one request at a time over one connection:
/// - four bytes with the length of the rest (little endian)
/// - one byte with the verb, two bytes with the length of the key, the key, and further arguments.
/// The first request must show the secret. An answer is:
/// - four bytes with the length of the rest
/// - one byte, 0 for success, and the value or the complaint.
/// No client can stop the service for others: a request that breaks the rules is answered with a
/// complaint. If the end of such a request is unknown, its connection is closed.
namespace rankcheck::gpu::nccl {

/// Limits in bytes and in numbers of connections and ranks.
namespace store_limits {
inline constexpr std::size_t key_bytes = 256;
inline constexpr std::size_t value_bytes = std::size_t{1} << 20;
/// The limit for all keys and values together.
inline constexpr std::size_t total_bytes = std::size_t{64} << 20;
inline constexpr std::size_t connections = 1024;
inline constexpr int ranks = 4096;
/// The time within which a connection must show the secret.
inline constexpr std::chrono::seconds greeting{5};
}  // namespace store_limits

/// The store's complaint, or the reason why the store cannot be reached: one line.
class StoreError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A socket or another descriptor. It is closed with the object.
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

/// The address of a store.
struct StoreAddress {
  std::string host = "127.0.0.1";
  /// 0 means any free port.
  int port = 0;
};

/// Serves a store from its own thread during its life. The secret is sent unencrypted, so a network
/// that others can listen to needs a tunnel.
class StoreServer {
 public:
  /// Throws StoreError if the address is not available, or if other machines could reach it and the
  /// secret is empty.
  StoreServer(const StoreAddress& address, std::string secret);
  StoreServer(const StoreServer&) = delete;
  StoreServer& operator=(const StoreServer&) = delete;
  ~StoreServer();

  [[nodiscard]] int port() const { return port_; }
  /// Waits until the thread has polled so many times more.
  void await_polls(std::uint64_t polls) const;

 private:
  Socket listener_;
  /// Writing to it ends the thread.
  Socket stop_;
  int port_ = 0;
  /// How often the thread has polled.
  std::atomic<std::uint64_t> polls_{0};
  std::thread thread_;
};

/// The kind of a request; see gpu/device/nccl/store_wire.hpp.
enum class Verb : char;

/// A connection to a store. It serves one thread. Every call throws StoreError on failure.
class StoreClient {
 public:
  using Timeout = std::chrono::milliseconds;

  /// Repeats until a server answers or the time is over. A negative time counts as zero. Calls
  /// `pause` before it tries again.
  StoreClient(const StoreAddress& address,
              std::string_view secret,
              Timeout timeout,
              const std::function<void()>& pause = pause_briefly);

  void set(std::string_view key, std::string_view value);
  /// Returns the value of a key, which must exist.
  [[nodiscard]] std::string get(std::string_view key);
  /// Waits until the key exists, and returns its value.
  [[nodiscard]] std::string wait(std::string_view key, Timeout timeout);
  /// Returns when all `ranks` ranks have called it with this name as often as this one. If a rank
  /// does not come in time or disconnects, all waiting ranks get an error that names it.
  void barrier(std::string_view name, int rank, int ranks, Timeout timeout);

 private:
  static void pause_briefly();

  using Deadline = std::chrono::steady_clock::time_point;

  std::string ask(Verb verb, std::string_view key, std::string_view rest, Timeout timeout);
  void send(std::string_view request, Deadline deadline);
  [[nodiscard]] std::string receive(Deadline deadline);
  void require_ready(short events, Deadline deadline);
  [[noreturn]] void lose(const std::string& why);

  Socket socket_;
  std::string address_;
};

}  // namespace rankcheck::gpu::nccl
