#include "harness/worker/local_socket.hpp"

#include <cerrno>
#include <cstring>
#include <stdexcept>

#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

namespace rankcheck::harness::worker {

namespace {

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof(address.sun_path) - 1);
  return address;
}

}  // namespace

Descriptor listen_at(const std::string& path) {
  Descriptor listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_un address = address_of(path);
  if (listener.get() < 0 ||
      ::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 ||
      ::listen(listener.get(), SOMAXCONN) != 0) {
    throw std::runtime_error(std::string("cannot listen for the workers: ") + std::strerror(errno));
  }
  return listener;
}

Descriptor connect_to(const std::string& path) {
  Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_un address = address_of(path);
  const auto* where = reinterpret_cast<const sockaddr*>(&address);
  if (socket.get() < 0 || ::connect(socket.get(), where, sizeof(address)) != 0) {
    throw std::runtime_error("cannot connect to " + path + ": " + std::strerror(errno));
  }
  return socket;
}

std::array<Descriptor, 2> connected_sockets() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    throw std::runtime_error(std::string("cannot make a connection: ") + std::strerror(errno));
  }
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

void limit_sending(int socket, std::chrono::duration<double> limit) {
  const auto whole = std::chrono::duration_cast<std::chrono::microseconds>(limit);
  const timeval value{.tv_sec = whole.count() / 1'000'000, .tv_usec = whole.count() % 1'000'000};
  ::setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &value, sizeof(value));
}

pid_t number_behind(int socket) {
  ucred credentials{};
  socklen_t size = sizeof(credentials);
  ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &size);
  return credentials.pid;
}

Descriptor process_behind(int socket) {
  return Descriptor(static_cast<int>(::syscall(SYS_pidfd_open, number_behind(socket), 0U)));
}

bool is_ready(int descriptor, int wait_ms) {
  pollfd entry{.fd = descriptor, .events = POLLIN, .revents = 0};
  return ::poll(&entry, 1, wait_ms) > 0;
}

}  // namespace rankcheck::harness::worker
