#pragma once

#include <string>

#include "harness/worker/process.hpp"

/// Ranks that somebody else starts, for example torchrun or srun. They connect over TCP on the
/// loopback. A relay, which is a process of its own, connects each of them with the socket of a
/// session, so that a session knows nothing about them.
namespace rankcheck::harness::worker {

/// The environment variables with the address that the ranks connect to, and with the secret that
/// they send first.
inline constexpr const char* address_variable = "RANKCHECK_ADDRESS";
inline constexpr const char* secret_variable = "RANKCHECK_SECRET";
inline constexpr std::size_t secret_length_min = 16;
inline constexpr std::size_t secret_length_max = 256;

/// Throws BadInput unless this is an address of the loopback: 127.0.0.1:PORT, localhost:PORT or
/// [::1]:PORT.
void require_loopback(const std::string& address);

/// Listens at an address of the loopback. Throws BadInput as require_loopback() does, and
/// std::runtime_error if the system refuses.
[[nodiscard]] Descriptor listen_on_loopback(const std::string& address);

/// Accepts ranks until they host a whole world, and passes their bytes on to the Unix socket at
/// `path` and back. A connection that does not begin with the secret and a line end is closed,
/// after some seconds also one that is silent. No connection waits for another one's greeting.
/// Returns when all connections are closed. Throws std::runtime_error if `path` cannot be connected
/// to.
void relay(int listener, const std::string& path, const std::string& secret);

}  // namespace rankcheck::harness::worker
