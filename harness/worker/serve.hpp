#pragma once

#include <functional>
#include <span>
#include <string>

#include "harness/worker/protocol.hpp"

namespace rankcheck::harness::worker {

/// Called when a rank is about to enter a stage.
using Entered = std::function<void(int world_rank, std::size_t stage)>;

/// The ranks that a worker process hosts.
class Subject {
 public:
  virtual ~Subject() = default;

  [[nodiscard]] virtual Hello hello() const = 0;
  /// Why the worker does not take a case; empty if it takes the case. Every process of a worker
  /// must give the same answer.
  [[nodiscard]] virtual std::string why_refused(const Case& c) const = 0;
  /// Runs the stages. Stores the images and stamps of its own members for every stage, in group
  /// order.
  virtual void run(std::span<const Case> stages, const Entered& entered, Observation& result) = 0;
};

/// The connection to the harness: the socket of RANKCHECK_SOCKET, or else standard input and
/// output, which only the protocol may then use. Throws std::runtime_error.
[[nodiscard]] Connection connect_to_harness();

/// Makes the system kill this process when its parent ends.
void end_with_parent();

/// Answers the harness until it closes the connection. Throws ProtocolError on an invalid message.
void serve(Subject& subject, Connection connection);

}  // namespace rankcheck::harness::worker
