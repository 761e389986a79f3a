#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "harness/backend/backend.hpp"
#include "harness/base/descriptor.hpp"
#include "harness/case/case.hpp"

/// The framed protocol between the harness and worker processes. PROTOCOL.md describes it.
namespace rankcheck::harness::worker {

/// In version 2, a worker may ask for its inputs. A worker of version 1 derives them.
inline constexpr int protocol_version = 1;
inline constexpr int protocol_version_max = 2;
/// The environment variable with the path of the harness's socket.
inline constexpr const char* socket_variable = "RANKCHECK_SOCKET";
/// The environment variable with the path of a file that the harness shares with workers. A worker
/// that can open it may take large images in such files.
inline constexpr const char* file_variable = "RANKCHECK_SHARED_FILE";
/// The size from which on images come in a shared file.
inline constexpr std::size_t shared_bytes_min = std::size_t{1} << 20;
/// Maximum length of a header in bytes, and maximum number of ranks in a hello.
inline constexpr std::size_t header_bytes_max = std::size_t{16} << 20;
inline constexpr int world_ranks_max = 4096;

/// The other side does not follow the protocol. The message is one line that says what was wrong.
class ProtocolError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// One message. The views are valid until the next read from its connection.
struct Frame {
  nlohmann::json header;
  std::span<const std::byte> payload;
  /// The whole message as it came.
  std::span<const std::byte> bytes = {};
};

/// One end of a framed byte stream. It owns its file descriptors.
class Connection {
 public:
  /// Takes ownership of both descriptors, which may be the same.
  Connection(int in, int out) : in_(in), own_out_(out == in ? -1 : out), out_(out) {}

  /// The descriptor to poll for input.
  [[nodiscard]] int descriptor() const { return in_.get(); }

  /// For a socket with a send time-out: `is_patient` is called after each time-out while the other
  /// side does not read. If it returns false or is not set, the message is given up.
  void wait_while(std::function<bool()> is_patient) { is_patient_ = std::move(is_patient); }

  /// Sends a frame with the concatenated parts as its payload. Returns false if the other side is
  /// gone, or does not read from a socket with a send time-out.
  [[nodiscard]] bool send(nlohmann::ordered_json header,
                          std::span<const std::span<const std::byte>> parts = {});

  /// Waits for input and reads what is available, at least one byte. Returns false at the end of
  /// the stream.
  [[nodiscard]] bool fill();

  /// Returns the next whole frame of the bytes read so far; empty if it is not complete. Throws
  /// ProtocolError if the frame is malformed or too large.
  [[nodiscard]] std::optional<Frame> next(std::uint64_t payload_bytes_max = 0);

  /// For bytes that are no frames: what was read and is still there. Valid until the next read.
  [[nodiscard]] std::span<const std::byte> unread() const {
    return std::span(buffer_).subspan(begin_, end_ - begin_);
  }
  /// Drops the first bytes of unread().
  void skip(std::size_t bytes) { begin_ += bytes; }
  /// Sends bytes as they are. Returns false like send().
  [[nodiscard]] bool write(std::span<const std::byte> bytes) const;

 private:
  Descriptor in_;
  /// Invalid if the same descriptor serves for input and output.
  Descriptor own_out_;
  int out_ = -1;
  std::function<bool()> is_patient_;
  std::vector<std::byte> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

/// An algorithm of a worker, and the environment variables with which the worker must be started to
/// run it.
struct Algorithm {
  AlgorithmInfo info;
  std::map<std::string, std::string> environment;
  /// What the algorithm takes. Null if the worker did not declare it, and has to be asked.
  std::shared_ptr<const Capabilities> takes = nullptr;
};

/// The first message of a worker.
struct Hello {
  /// Number of ranks of all connections together, and the ranks that this connection hosts.
  int world = 1;
  std::vector<int> ranks;
  BackendTraits traits;
  std::vector<Algorithm> algorithms;
  /// Whether every process gets every run, even if it hosts no member. NCCL needs this: all ranks
  /// of the world take part when a group is split off.
  bool everyone = false;
  /// Whether the harness sends every member's filled image, one stage after another.
  bool takes_inputs = false;
  /// Whether it takes large images in a file.
  bool takes_file = false;
  /// Whether it reads all messages that belong together before it makes the first of their calls.
  bool takes_together = false;
  /// Whether a worker that derives its inputs also takes those that a user gave.
  bool takes_given = false;
  /// Names and versions of the libraries and drivers that the worker uses.
  nlohmann::json versions = nlohmann::json::object();
  /// What a reader should know of a hello that is legal: for example fields that nobody reads.
  std::vector<std::string> hints = {};
};

[[nodiscard]] nlohmann::ordered_json to_json(const Hello& hello);
/// Throws ProtocolError that names the field.
[[nodiscard]] Hello hello_from_json(const nlohmann::json& header);

/// The message that a rank of a worker enters a stage of a run.
struct Progress {
  std::uint64_t run = 0;
  int rank = 0;
  std::uint64_t stage = 0;
};

/// Throws ProtocolError that names the field.
[[nodiscard]] Progress progress_from_json(const nlohmann::json& header);

[[nodiscard]] std::string_view name(RunStatus status);

/// Sends the results of a run on the ranks of this connection. For every stage, it sends the images
/// and stamps of the hosted members in group order. Returns false like Connection::send().
[[nodiscard]] bool send_result(Connection& connection,
                               std::uint64_t run,
                               const Observation& result);

/// Reads the header of a result and cuts its payload into images. Throws ProtocolError if the sizes
/// do not add up. `result` keeps its capacity. `placed` has the images of members that are not in
/// the payload; it is empty for the others.
void read_result(const Frame& frame,
                 Observation& result,
                 std::span<const std::span<const std::byte>> placed = {});

}  // namespace rankcheck::harness::worker
