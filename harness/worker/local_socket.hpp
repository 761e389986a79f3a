#pragma once

#include <array>
#include <chrono>
#include <string>

#include "harness/worker/process.hpp"

/// Sockets between processes on one machine.
namespace rankcheck::harness::worker {

/// A socket to which other processes connect by its path. Throws std::runtime_error.
[[nodiscard]] Descriptor listen_at(const std::string& path);

/// Connects to the socket at a path. Throws std::runtime_error.
[[nodiscard]] Descriptor connect_to(const std::string& path);

/// Two sockets that are connected with each other. Throws std::runtime_error.
[[nodiscard]] std::array<Descriptor, 2> connected_sockets();

/// Makes a send fail if it takes longer than `limit`.
void limit_sending(int socket, std::chrono::duration<double> limit);

/// The connected process, for pidfd_send_signal. Invalid if the system does not tell.
[[nodiscard]] Descriptor process_behind(int socket);
/// Its number, or 0.
[[nodiscard]] pid_t number_behind(int socket);

/// Waits up to `wait_ms` milliseconds. Returns whether there is something to read, or the writer is
/// gone.
[[nodiscard]] bool is_ready(int descriptor, int wait_ms);

}  // namespace rankcheck::harness::worker
