#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <list>
#include <map>
#include <vector>

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "reference/spec/to_size.hpp"

#include "gpu/device/nccl/store.hpp"
#include "gpu/device/nccl/store_wire.hpp"

namespace rankcheck::gpu::nccl {

namespace {

using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::milliseconds;

/// The largest request of a connection that has not shown the secret.
constexpr std::size_t greeting_bytes_max = head_bytes + store_limits::key_bytes;
/// The pause before the next accept if there is no descriptor for another connection.
constexpr Milliseconds accept_pause{100};
/// The largest backlog of answers that a client does not read.
constexpr std::size_t unread_bytes_max = 4 * store_limits::value_bytes;

/// Compares in a time that does not depend on how much the texts have in common.
bool equal(std::string_view a, std::string_view b) {
  std::size_t difference = a.size() ^ b.size();
  for (std::size_t i = 0; i < a.size(); ++i) {
    const char other = b.empty() ? '\0' : b[i % b.size()];
    difference |= spec::to_size(static_cast<unsigned char>(a[i] ^ other));
  }
  return difference == 0;
}

/// A key in the form that a message can contain: on one line, and short.
std::string in_quotes(std::string_view key) {
  std::string text = "'";
  for (const char c : key.substr(0, 64)) text += c >= ' ' && c <= '~' ? c : '?';
  return text + (key.size() > 64 ? "…'" : "'");
}

bool is_loopback(const addrinfo& each) {
  if (each.ai_family == AF_INET) {
    const auto& address = *reinterpret_cast<const sockaddr_in*>(each.ai_addr);
    return (ntohl(address.sin_addr.s_addr) >> 24) == 127;
  }
  const auto& address = *reinterpret_cast<const sockaddr_in6*>(each.ai_addr);
  return IN6_IS_ADDR_LOOPBACK(&address.sin6_addr);
}

int port_of(const Socket& socket) {
  sockaddr_storage bound{};
  socklen_t size = sizeof(bound);
  ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&bound), &size);
  return ntohs(bound.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(bound).sin6_port
                                           : reinterpret_cast<sockaddr_in&>(bound).sin_port);
}

/// The server's state. One thread serves it, so no two requests overlap.
class Service {
 public:
  Service(int listener, int stop, std::string secret, std::atomic<std::uint64_t>& polls)
      : listener_(listener), stop_(stop), secret_(std::move(secret)), polls_(polls) {}

  void run() {
    while (serve_once()) continue;
  }

 private:
  enum class Waits { no, for_key, for_ranks };

  struct Connection {
    Socket socket;
    std::string in = {};
    std::string out = {};
    bool greeted = false;
    /// True if the client broke the rules. Its further input is dropped until it disconnects or its
    /// time is over.
    bool ends = false;
    Waits waits = Waits::no;
    std::string key = {};
    int rank = 0;
    /// The deadline of the greeting, or of the request that waits.
    Clock::time_point deadline = Clock::time_point::max();
  };

  struct Barrier {
    int ranks = 0;
    std::map<int, Connection*> arrived;
  };

  bool serve_once() {
    const bool accepts = Clock::now() >= accepts_again_;
    // poll() ignores negative descriptors.
    std::vector<pollfd> entries{{.fd = stop_, .events = POLLIN, .revents = 0},
                                {.fd = accepts ? listener_ : -1, .events = POLLIN, .revents = 0}};
    Clock::time_point next = accepts ? Clock::time_point::max() : accepts_again_;
    for (const Connection& each : connections_) {
      const bool has_more = each.in.size() <= request_bytes_max + length_bytes;
      const int events = (has_more ? POLLIN : 0) | (each.out.empty() ? 0 : POLLOUT);
      entries.push_back(
          {.fd = each.socket.get(), .events = static_cast<short>(events), .revents = 0});
      next = std::min(next, each.deadline);
    }
    const int patience_ms = next == Clock::time_point::max() ? -1 : milliseconds_until(next);
    if (::poll(entries.data(), entries.size(), patience_ms) < 0 && errno != EINTR) return false;
    if (entries[0].revents != 0) return false;
    ++polls_;
    polls_.notify_all();
    std::size_t i = 2;
    for (auto each = connections_.begin(); each != connections_.end();) {
      const auto current = each++;
      if (!exchange(*current, entries[i++].revents) || !in_time(*current)) close(current);
    }
    if (entries[1].revents != 0) accept();
    return true;
  }

  void accept() {
    Socket socket(::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (socket.get() < 0) {
      // The pending connection would make the next poll() return at once, so accepting pauses.
      const bool is_gone = errno == EAGAIN || errno == EINTR || errno == ECONNABORTED;
      if (!is_gone) accepts_again_ = Clock::now() + accept_pause;
      return;
    }
    const int on = 1;
    ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    Connection& made = connections_.emplace_back();
    made.socket = std::move(socket);
    made.deadline = Clock::now() + store_limits::greeting;
    if (connections_.size() > store_limits::connections) {
      refuse(made,
             "the store has " + std::to_string(store_limits::connections) +
                 " connections: no more are accepted");
    }
  }

  /// Reads, answers and writes as far as possible without waiting. Returns false if the client has
  /// disconnected or does not read its answers.
  bool exchange(Connection& connection, int events) {
    if ((events & (POLLIN | POLLHUP | POLLERR)) != 0) {
      std::array<char, 65536> chunk;
      const ssize_t got = ::recv(connection.socket.get(), chunk.data(), chunk.size(), 0);
      if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) return false;
      if (got > 0 && !connection.ends) {
        connection.in.append(chunk.data(), spec::to_size(got));
      }
    }
    take_requests(connection);
    return write(connection);
  }

  static bool write(Connection& connection) {
    if (connection.out.empty()) return true;
    const ssize_t sent =
        ::send(connection.socket.get(), connection.out.data(), connection.out.size(), MSG_NOSIGNAL);
    if (sent < 0) return errno == EAGAIN || errno == EINTR;
    connection.out.erase(0, spec::to_size(sent));
    // If the connection were closed at once, with unread input, the client might never see the
    // answer.
    if (connection.out.empty() && connection.ends) ::shutdown(connection.socket.get(), SHUT_WR);
    return connection.out.size() <= unread_bytes_max;
  }

  void take_requests(Connection& connection) {
    while (connection.waits == Waits::no && !connection.ends) {
      if (connection.in.size() < length_bytes) return;
      const std::size_t length = number_at(connection.in, 0, length_bytes);
      const std::size_t limit = connection.greeted ? request_bytes_max : greeting_bytes_max;
      if (length > limit) {
        return refuse(connection,
                      "a request of " + std::to_string(length) + " bytes: at most " +
                          std::to_string(limit) + " are accepted");
      }
      if (connection.in.size() < length_bytes + length) return;
      const std::string request = connection.in.substr(length_bytes, length);
      connection.in.erase(0, length_bytes + length);
      answer(connection, request);
    }
  }

  /// Sends a complaint and ends the connection.
  static void refuse(Connection& connection, const std::string& complaint) {
    reply(connection, Status::failure, complaint);
    connection.deadline = Clock::now() + store_limits::greeting;
    connection.ends = true;
    connection.in.clear();
  }

  static void reply(Connection& connection, Status status, std::string_view text) {
    connection.out += number(text.size() + 1, length_bytes) + static_cast<char>(status);
    connection.out += text;
    connection.waits = Waits::no;
    connection.deadline = Clock::time_point::max();
  }

  void answer(Connection& connection, const std::string& request) {
    const std::size_t key_bytes = request.size() < head_bytes ? 0 : number_at(request, 1, 2);
    if (request.size() < head_bytes + key_bytes) {
      return refuse(connection,
                    "a malformed request of " + std::to_string(request.size()) +
                        " bytes: expected a verb, a key and their data");
    }
    const std::string key = request.substr(head_bytes, key_bytes);
    const std::string rest = request.substr(head_bytes + key_bytes);
    if (key_bytes > store_limits::key_bytes) {
      return reply(connection,
                   Status::failure,
                   "a key of " + std::to_string(key_bytes) + " bytes: at most " +
                       std::to_string(store_limits::key_bytes) + " are accepted");
    }
    const auto verb = static_cast<Verb>(request[0]);
    if (!connection.greeted) return greet(connection, verb, key);
    if (key.empty()) return reply(connection, Status::failure, "an empty key: expected a name");
    const std::size_t expected = verb == Verb::wait ? 4 : verb == Verb::barrier ? 12 : 0;
    if (verb != Verb::set && rest.size() != expected) {
      return reply(connection, Status::failure, "a malformed request about " + in_quotes(key));
    }
    switch (verb) {
      case Verb::set:
        return put(connection, key, rest);
      case Verb::get:
      case Verb::wait:
        return look_up(connection, key, rest);
      case Verb::barrier:
        return arrive(connection, key, rest);
      default:
        return reply(connection, Status::failure, "an unknown request");
    }
  }

  void greet(Connection& connection, Verb verb, const std::string& secret) {
    if (verb != Verb::hello || !equal(secret, secret_)) {
      return refuse(connection, "the secret is not the store's");
    }
    connection.greeted = true;
    reply(connection, Status::success, {});
  }

  void put(Connection& connection, const std::string& key, const std::string& value) {
    if (value.size() > store_limits::value_bytes) {
      return reply(connection,
                   Status::failure,
                   "a value of " + std::to_string(value.size()) + " bytes: at most " +
                       std::to_string(store_limits::value_bytes) + " are accepted");
    }
    const auto found = values_.find(key);
    const std::size_t old = found == values_.end() ? 0 : key.size() + found->second.size();
    const std::size_t total = bytes_ - old + key.size() + value.size();
    if (total > store_limits::total_bytes) {
      return reply(connection,
                   Status::failure,
                   "the store is full: at most " + std::to_string(store_limits::total_bytes) +
                       " bytes are accepted");
    }
    bytes_ = total;
    values_[key] = value;
    reply(connection, Status::success, {});
    for (Connection& each : connections_) {
      if (each.waits == Waits::for_key && each.key == key)
        reply_later(each, Status::success, value);
    }
  }

  void look_up(Connection& connection, const std::string& key, const std::string& rest) {
    const auto found = values_.find(key);
    if (found != values_.end()) return reply(connection, Status::success, found->second);
    if (rest.empty()) return reply(connection, Status::failure, "no value for " + in_quotes(key));
    suspend(connection, Waits::for_key, key, rest);
  }

  void arrive(Connection& connection, const std::string& name, const std::string& rest) {
    const auto rank = static_cast<std::int64_t>(number_at(rest, 4, 4));
    const auto ranks = static_cast<std::int64_t>(number_at(rest, 8, 4));
    if (ranks < 1 || ranks > store_limits::ranks || rank >= ranks) {
      return reply(connection,
                   Status::failure,
                   "barrier " + in_quotes(name) + ": rank " + std::to_string(rank) + " of " +
                       std::to_string(ranks) + " ranks");
    }
    Barrier& round = barriers_[name];
    if (round.arrived.empty()) round.ranks = static_cast<int>(ranks);
    if (round.ranks != ranks || round.arrived.contains(static_cast<int>(rank))) {
      return reply(connection,
                   Status::failure,
                   "barrier " + in_quotes(name) + ": rank " + std::to_string(rank) + " of " +
                       std::to_string(ranks) + " came, but " +
                       (round.ranks != ranks ? "others wait for " + std::to_string(round.ranks)
                                             : std::string("that rank already waits")));
    }
    suspend(connection, Waits::for_ranks, name, rest);
    connection.rank = static_cast<int>(rank);
    round.arrived[connection.rank] = &connection;
    if (round.arrived.size() < spec::to_size(ranks)) return;
    const Barrier complete = std::move(round);
    barriers_.erase(name);
    for (const auto& [each, waiting] : complete.arrived) reply_later(*waiting, Status::success, {});
  }

  void suspend(Connection& connection,
               Waits waits,
               const std::string& key,
               const std::string& rest) {
    connection.waits = waits;
    connection.key = key;
    connection.deadline = Clock::now() + Milliseconds(number_at(rest, 0, 4));
  }

  /// Answers a connection other than the one being served.
  static void reply_later(Connection& connection, Status status, std::string_view text) {
    reply(connection, status, text);
    static_cast<void>(write(connection));
  }

  /// Returns false if a connection has been silent for too long and must be closed.
  bool in_time(Connection& connection) {
    if (Clock::now() < connection.deadline) return true;
    if (connection.waits == Waits::no) return false;
    if (connection.waits == Waits::for_ranks) {
      const Barrier& round = barriers_.at(connection.key);
      std::string missing;
      for (int rank = 0; rank < round.ranks; ++rank) {
        if (round.arrived.contains(rank)) continue;
        missing += (missing.empty() ? "" : ",") + std::to_string(rank);
      }
      break_barrier(connection.key, "rank " + missing + " did not arrive in time");
    } else {
      reply_later(
          connection, Status::failure, "no value for " + in_quotes(connection.key) + " in time");
    }
    return true;
  }

  /// Tells all waiting ranks why the barrier failed.
  void break_barrier(const std::string& name, const std::string& why) {
    const Barrier broken = std::move(barriers_.at(name));
    barriers_.erase(name);
    for (const auto& [rank, waiting] : broken.arrived) {
      reply_later(*waiting, Status::failure, "barrier " + in_quotes(name) + ": " + why);
    }
  }

  void close(std::list<Connection>::iterator connection) {
    if (connection->waits == Waits::for_ranks) {
      barriers_.at(connection->key).arrived.erase(connection->rank);
      break_barrier(connection->key,
                    "rank " + std::to_string(connection->rank) + " disconnected while it waited");
    }
    connections_.erase(connection);
  }

  int listener_;
  int stop_;
  std::string secret_;
  std::atomic<std::uint64_t>& polls_;
  std::list<Connection> connections_;
  Clock::time_point accepts_again_ = Clock::time_point::min();
  std::map<std::string, std::string> values_;
  std::size_t bytes_ = 0;
  std::map<std::string, Barrier> barriers_;
};

}  // namespace

StoreServer::StoreServer(const StoreAddress& address, std::string secret)
    : stop_(::eventfd(0, EFD_CLOEXEC)) {
  if (secret.size() > store_limits::key_bytes) {
    throw StoreError("store: a secret of " + std::to_string(secret.size()) + " bytes: at most " +
                     std::to_string(store_limits::key_bytes) + " are accepted");
  }
  const AddressList found = resolve(address);
  int error = 0;
  for (const addrinfo* each = found.get(); each != nullptr && listener_.get() < 0;
       each = each->ai_next) {
    if (secret.empty() && !is_loopback(*each)) {
      throw StoreError("store at " + text_of(address) +
                       ": others can reach it: expected a secret, or a loopback address");
    }
    Socket made(::socket(each->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const int on = 1;
    ::setsockopt(made.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (made.get() >= 0 && ::bind(made.get(), each->ai_addr, each->ai_addrlen) == 0 &&
        ::listen(made.get(), SOMAXCONN) == 0) {
      listener_ = std::move(made);
    } else {
      error = errno;
    }
  }
  if (listener_.get() < 0 || stop_.get() < 0) {
    throw StoreError("store at " + text_of(address) + ": " + std::strerror(error));
  }
  port_ = port_of(listener_);
  thread_ = std::thread([this, secret = std::move(secret)] {
    Service(listener_.get(), stop_.get(), secret, polls_).run();
  });
}

void StoreServer::await_polls(std::uint64_t polls) const {
  std::uint64_t now = polls_;
  for (const std::uint64_t end = now + polls; now < end; now = polls_) polls_.wait(now);
}

StoreServer::~StoreServer() {
  const std::uint64_t one = 1;
  static_cast<void>(!::write(stop_.get(), &one, sizeof(one)));
  thread_.join();
}

}  // namespace rankcheck::gpu::nccl
