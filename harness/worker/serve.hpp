#pragma once

#include <functional>
#include <span>
#include <string>

#include "harness/worker/protocol.hpp"

namespace rankcheck::harness::worker {

/// Says that a rank is about to enter a stage.
using Entered = std::function<void(int world_rank, std::size_t stage)>;

/// What a worker process serves: the ranks that it hosts.
class Subject {
 public:
  virtual ~Subject() = default;

  [[nodiscard]] virtual Hello hello() const = 0;
  /// Why a case is not taken; empty where it is. Every process of a worker answers alike.
  [[nodiscard]] virtual std::string refuses(const Case& c) const = 0;
  /// Runs the stages; leaves the images and stamps of its own members in every stage, in group
  /// order.
  virtual void run(std::span<const Case> stages, const Entered& entered, Observation& result) = 0;
};

/// The connection to the harness: RANKCHECK_SOCKET, or standard input and output, which then belong
/// to the protocol alone. Throws std::runtime_error.
[[nodiscard]] Connection connect_to_harness();

/// Ties the life of this process to that of the process that started it.
void end_with_parent();

/// Answers the harness until it closes the connection. Throws ProtocolError on nonsense.
void serve(Subject& subject, Connection connection);

}  // namespace rankcheck::harness::worker
