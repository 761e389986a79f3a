#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <limits>

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include "reference/spec/to_size.hpp"

#include "gpu/device/nccl/store.hpp"
#include "gpu/device/nccl/store_wire.hpp"

namespace rankcheck::gpu::nccl {

namespace {

using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::milliseconds;

/// The time allowed for an answer to travel, in addition to the request's own time.
constexpr Milliseconds grace{2000};

/// Waits for a connection in progress. Returns 0 when it is established, else the error number,
/// ETIMEDOUT after the deadline.
int error_of(const Socket& socket, Clock::time_point deadline) {
  pollfd entry{.fd = socket.get(), .events = POLLOUT, .revents = 0};
  while (::poll(&entry, 1, milliseconds_until(deadline)) <= 0) {
    if (Clock::now() >= deadline) return ETIMEDOUT;
  }
  int error = 0;
  socklen_t size = sizeof(error);
  ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size);
  return error;
}

/// Returns an invalid socket, with the error number in `error`, if there is no connection before
/// the deadline.
Socket try_connect(const addrinfo& address, Clock::time_point deadline, int& error) {
  Socket socket(::socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  error = 0;
  if (socket.get() < 0 || ::connect(socket.get(), address.ai_addr, address.ai_addrlen) != 0) {
    error = errno;
  }
  if (error == EINPROGRESS) error = error_of(socket, deadline);
  if (error != 0) return {};
  const int on = 1;
  ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  return socket;
}

/// The time in the form that requests use: four bytes of milliseconds. A negative time becomes 0,
/// and a time that is too long becomes the largest possible one.
std::string number_of(StoreClient::Timeout timeout) {
  constexpr std::int64_t most = std::numeric_limits<std::uint32_t>::max();
  return number(static_cast<std::uint64_t>(std::clamp<std::int64_t>(timeout.count(), 0, most)), 4);
}

}  // namespace

void StoreClient::pause_briefly() {
  std::this_thread::sleep_for(Milliseconds(10));
}

StoreClient::StoreClient(const StoreAddress& address,
                         std::string_view secret,
                         Timeout timeout,
                         const std::function<void()>& pause)
    : address_(text_of(address)) {
  const auto deadline = Clock::now() + timeout;
  const AddressList found = resolve(address);
  int addresses = 0;
  for (const addrinfo* each = found.get(); each != nullptr; each = each->ai_next) ++addresses;
  while (socket_.get() < 0) {
    int error = 0;
    for (const addrinfo* each = found.get(); each != nullptr && socket_.get() < 0;
         each = each->ai_next) {
      // An address that does not answer must leave time for the others.
      const auto turn = std::min(deadline, Clock::now() + timeout / addresses);
      socket_ = try_connect(*each, turn, error);
    }
    if (socket_.get() >= 0) break;
    if (Clock::now() >= deadline) {
      throw StoreError("store at " + address_ + ": " + std::strerror(error));
    }
    pause();
  }
  static_cast<void>(ask(Verb::hello, secret, {}, timeout));
}

void StoreClient::set(std::string_view key, std::string_view value) {
  static_cast<void>(ask(Verb::set, key, value, Timeout(0)));
}

std::string StoreClient::get(std::string_view key) {
  return ask(Verb::get, key, {}, Timeout(0));
}

std::string StoreClient::wait(std::string_view key, Timeout timeout) {
  return ask(Verb::wait, key, number_of(timeout), timeout);
}

void StoreClient::barrier(std::string_view name, int rank, int ranks, Timeout timeout) {
  const std::string rest = number_of(timeout) + number(static_cast<std::uint32_t>(rank), 4) +
                           number(static_cast<std::uint32_t>(ranks), 4);
  static_cast<void>(ask(Verb::barrier, name, rest, timeout));
}

void StoreClient::lose(const std::string& why) {
  // Close the connection: a late answer would be taken for the answer to another request.
  socket_ = Socket();
  throw StoreError("store at " + address_ + ": " + why);
}

void StoreClient::require_ready(short events, Clock::time_point deadline) {
  pollfd entry{.fd = socket_.get(), .events = events, .revents = 0};
  while (::poll(&entry, 1, milliseconds_until(deadline)) <= 0) {
    if (Clock::now() >= deadline) lose("no answer in time");
  }
}

void StoreClient::send(std::string_view request, Clock::time_point deadline) {
  while (!request.empty()) {
    require_ready(POLLOUT, deadline);
    const ssize_t sent = ::send(socket_.get(), request.data(), request.size(), MSG_NOSIGNAL);
    // The server may have sent the reason why it closed the connection, so receive() reads it.
    if (sent < 0 && errno != EAGAIN && errno != EINTR) return;
    if (sent > 0) request.remove_prefix(spec::to_size(sent));
  }
}

std::string StoreClient::receive(Clock::time_point deadline) {
  std::string text;
  std::size_t expected = length_bytes;
  while (text.size() < expected) {
    require_ready(POLLIN, deadline);
    std::array<char, 65536> chunk;
    const std::size_t room = std::min(chunk.size(), expected - text.size());
    const ssize_t got = ::recv(socket_.get(), chunk.data(), room, 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (got <= 0) lose("the connection was closed");
    text.append(chunk.data(), spec::to_size(got));
    if (text.size() != length_bytes) continue;
    const std::size_t length = number_at(text, 0, length_bytes);
    if (length < 1 || length > store_limits::value_bytes + 1) lose("a malformed answer");
    expected += length;
  }
  return text.substr(length_bytes);
}

std::string StoreClient::ask(Verb verb,
                             std::string_view key,
                             std::string_view rest,
                             Timeout timeout) {
  const auto require_at_most = [&](const char* what, std::size_t size, std::size_t limit) {
    if (size <= limit) return;
    throw StoreError("store at " + address_ + ": a " + what + " of " + std::to_string(size) +
                     " bytes: at most " + std::to_string(limit) + " are accepted");
  };
  require_at_most("key", key.size(), store_limits::key_bytes);
  require_at_most("value", rest.size(), store_limits::value_bytes);
  if (socket_.get() < 0) lose("the connection was closed");
  std::string request = number(head_bytes + key.size() + rest.size(), length_bytes);
  request += static_cast<char>(verb);
  request += number(key.size(), 2);
  request += key;
  request += rest;
  const auto deadline = Clock::now() + std::max(timeout, Timeout(0)) + grace;
  send(request, deadline);
  const std::string reply = receive(deadline);
  if (Status{reply[0]} != Status::success)
    throw StoreError("store at " + address_ + ": " + reply.substr(1));
  return reply.substr(1);
}

}  // namespace rankcheck::gpu::nccl
