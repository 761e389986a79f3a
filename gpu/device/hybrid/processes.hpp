#pragma once

#include <cstddef>
#include <cstdint>

namespace rankcheck::gpu::hybrid {

/// The processes of a world, and messages between them. Messages from one process to another arrive
/// in the order in which they were sent.
class Processes {
 public:
  virtual ~Processes() = default;

  /// The number of this process, from 0 on.
  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int size() const = 0;
  /// Sends a message. Returns when the caller may change `data`, which may be later than the
  /// moment at which the other process asks for the message.
  virtual void send(int process, const std::byte* data, std::int64_t bytes) = 0;
  /// Waits for the next message of the process, which must have this size.
  virtual void receive(int process, std::byte* data, std::int64_t bytes) = 0;
};

}  // namespace rankcheck::gpu::hybrid
