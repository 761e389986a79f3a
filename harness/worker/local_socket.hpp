#pragma once

#include <chrono>
#include <string>

#include "harness/worker/process.hpp"

/// Sockets between processes of one machine.
namespace rankcheck::harness::worker {

/// A socket that others connect to by its path. Throws std::runtime_error.
[[nodiscard]] Descriptor listen_at(const std::string& path);

/// Makes sending fail that takes longer.
void limit_sending(int socket, std::chrono::duration<double> limit);

/// The process that connected, for pidfd_send_signal; invalid where the system does not tell.
[[nodiscard]] Descriptor process_behind(int socket);

/// Whether there is something to read, or nobody left to write it, within that time.
[[nodiscard]] bool is_ready(int descriptor, int wait_ms);

}  // namespace rankcheck::harness::worker
