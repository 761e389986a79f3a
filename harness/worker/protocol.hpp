#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "harness/backend.hpp"
#include "harness/case.hpp"

/// The framed protocol between the harness and worker processes; described in PROTOCOL.md.
namespace rankcheck::harness::worker {

inline constexpr int protocol_version = 1;
/// Name of the environment variable with the path of the harness's socket.
inline constexpr const char* socket_variable = "RANKCHECK_SOCKET";
/// Longest header in bytes, and most ranks that a hello may announce.
inline constexpr std::size_t header_bytes_max = std::size_t{16} << 20;
inline constexpr int world_ranks_max = 4096;

/// The other side does not speak the protocol; one line that says what was wrong.
class ProtocolError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// One message. The payload is a view that lasts until the next read from its connection.
struct Frame {
  nlohmann::json header;
  std::span<const std::byte> payload;
};

/// One end of a framed byte stream; owns its file descriptors.
class Connection {
 public:
  /// Takes both descriptors, which may be the same.
  Connection(int in, int out) : in_(in), out_(out) {}
  Connection(Connection&& other) noexcept;
  Connection& operator=(Connection&& other) noexcept;
  ~Connection();

  /// The descriptor to poll for input.
  [[nodiscard]] int descriptor() const { return in_; }

  /// On a socket with a send time-out: what to ask after each, as long as the other side does not
  /// read. False gives the message up; so does nothing to ask.
  void wait_while(std::function<bool()> is_patient) { is_patient_ = std::move(is_patient); }

  /// Sends a frame with the concatenated parts as its payload. False when the other side is gone
  /// or, on a socket with a send time-out, does not read.
  [[nodiscard]] bool send(nlohmann::ordered_json header,
                          std::span<const std::span<const std::byte>> parts = {});

  /// Reads what is there, at least a byte, and waits for that. False at the end of the stream.
  [[nodiscard]] bool fill();

  /// Takes the next whole frame out of what was read. Throws ProtocolError on a malformed or
  /// oversized one.
  [[nodiscard]] std::optional<Frame> next(std::uint64_t payload_bytes_max = 0);

 private:
  /// Writes everything; false as send().
  [[nodiscard]] bool write_all(std::span<const std::byte> bytes) const;

  int in_ = -1;
  int out_ = -1;
  std::function<bool()> is_patient_;
  std::vector<std::byte> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

/// An algorithm of a worker, and the environment that the worker must be started with to run it.
struct Algorithm {
  AlgorithmInfo info;
  std::map<std::string, std::string> environment;
};

/// What a worker says first.
struct Hello {
  /// Ranks of all connections together, and those that this connection hosts.
  int world = 1;
  std::vector<int> ranks;
  BackendTraits traits;
  std::vector<Algorithm> algorithms;
  /// Every process gets every run, also where it hosts no member: as NCCL has it, groups are split
  /// from the world by all of its ranks.
  bool everyone = false;
  /// Names and versions of what is underneath.
  nlohmann::json versions = nlohmann::json::object();
};

[[nodiscard]] nlohmann::ordered_json to_json(const Hello& hello);
/// Throws ProtocolError that names the field.
[[nodiscard]] Hello hello_from_json(const nlohmann::json& header);

/// That a rank of a worker enters a stage of a run.
struct Progress {
  std::uint64_t run = 0;
  std::int64_t rank = 0;
  std::uint64_t stage = 0;
};

/// Throws ProtocolError that names the field.
[[nodiscard]] Progress progress_from_json(const nlohmann::json& header);

[[nodiscard]] std::string_view name(RunStatus status);

/// Sends what a run left in the ranks of this connection: in every stage, the images and stamps of
/// the hosted members in group order.
[[nodiscard]] bool send_result(Connection& connection,
                               std::uint64_t run,
                               const Observation& result);

/// Reads the header of a result and cuts its payload into images. Throws ProtocolError unless the
/// sizes add up. `result` keeps its capacity.
void read_result(const Frame& frame, Observation& result);

}  // namespace rankcheck::harness::worker
