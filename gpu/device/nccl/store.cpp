#include "gpu/device/nccl/store.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <list>
#include <map>
#include <optional>
#include <vector>

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

namespace rankcheck::gpu::nccl {

namespace {

using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::milliseconds;

constexpr std::size_t length_bytes = 4;
/// The verb and the length of the key.
constexpr std::size_t head_bytes = 3;
constexpr std::size_t request_bytes_max =
    head_bytes + store_limits::key_bytes + store_limits::value_bytes;
/// Of a connection that has not shown the secret.
constexpr std::size_t greeting_bytes_max = head_bytes + store_limits::key_bytes;
/// Answers that nobody takes.
constexpr std::size_t unread_bytes_max = 4 * store_limits::value_bytes;
/// Time that an answer may take on its way.
constexpr Milliseconds grace{2000};

enum Verb : char { hello = 'h', set = 's', get = 'g', wait = 'w', barrier = 'b' };
enum Status : char { success = 0, failure = 1 };

std::string number(std::uint64_t value, std::size_t bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i) & 0xffU);
  return text;
}

std::uint64_t number_at(std::string_view text, std::size_t at, std::size_t bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes; ++i) {
    value |= std::uint64_t{static_cast<unsigned char>(text[at + i])} << (8 * i);
  }
  return value;
}

/// Takes as long whatever the texts have in common.
bool equal(std::string_view a, std::string_view b) {
  std::size_t difference = a.size() ^ b.size();
  for (std::size_t i = 0; i < a.size(); ++i) {
    const char other = b.empty() ? '\0' : b[i % b.size()];
    difference |= static_cast<std::size_t>(static_cast<unsigned char>(a[i] ^ other));
  }
  return difference == 0;
}

/// A key as it may stand in a message: on one line, and short.
std::string quoted(std::string_view key) {
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

using AddressList = std::unique_ptr<addrinfo, void (*)(addrinfo*)>;

std::string text_of(const StoreAddress& address) {
  return address.host + ":" + std::to_string(address.port);
}

AddressList resolve(const StoreAddress& address) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const std::string port = std::to_string(address.port);
  const int code = ::getaddrinfo(address.host.c_str(), port.c_str(), &hints, &found);
  if (code != 0) throw StoreError("store at " + text_of(address) + ": " + ::gai_strerror(code));
  return {found, ::freeaddrinfo};
}

int milliseconds_until(Clock::time_point deadline) {
  const auto left = std::chrono::ceil<Milliseconds>(deadline - Clock::now());
  return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 3'600'000));
}

int port_of(const Socket& socket) {
  sockaddr_storage bound{};
  socklen_t size = sizeof(bound);
  ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&bound), &size);
  return ntohs(bound.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(bound).sin6_port
                                           : reinterpret_cast<sockaddr_in&>(bound).sin_port);
}

/// Everything that the server knows, served by one thread: so no two requests ever overlap.
class Service {
 public:
  Service(int listener, int stop, std::string secret)
      : listener_(listener), stop_(stop), secret_(std::move(secret)) {}

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
    /// It broke the rules: what it sends is dropped, until it goes or its time is over.
    bool ends = false;
    Waits waits = Waits::no;
    std::string key = {};
    int rank = 0;
    /// Of the greeting, or of what it waits for.
    Clock::time_point deadline = Clock::time_point::max();
  };

  struct Barrier {
    int ranks = 0;
    std::map<int, Connection*> arrived;
  };

  bool serve_once() {
    std::vector<pollfd> entries{{.fd = stop_, .events = POLLIN, .revents = 0},
                                {.fd = listener_, .events = POLLIN, .revents = 0}};
    Clock::time_point next = Clock::time_point::max();
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
    if (socket.get() < 0) return;
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

  /// Reads, answers and writes what can be. False where the other side is gone.
  bool exchange(Connection& connection, int events) {
    if ((events & (POLLIN | POLLHUP | POLLERR)) != 0) {
      std::array<char, 65536> chunk;
      const ssize_t got = ::recv(connection.socket.get(), chunk.data(), chunk.size(), 0);
      if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) return false;
      if (got > 0 && !connection.ends) {
        connection.in.append(chunk.data(), static_cast<std::size_t>(got));
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
    connection.out.erase(0, static_cast<std::size_t>(sent));
    // Closed at once, with something unread, the other side might never see the answer.
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

  /// Complains and ends the connection.
  static void refuse(Connection& connection, const std::string& complaint) {
    reply(connection, failure, complaint);
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
                        " bytes: expected a verb, a key and what belongs to them");
    }
    const std::string key = request.substr(head_bytes, key_bytes);
    const std::string rest = request.substr(head_bytes + key_bytes);
    if (key_bytes > store_limits::key_bytes) {
      return reply(connection,
                   failure,
                   "a key of " + std::to_string(key_bytes) + " bytes: at most " +
                       std::to_string(store_limits::key_bytes) + " are accepted");
    }
    if (!connection.greeted) return greet(connection, request[0], key);
    if (key.empty()) return reply(connection, failure, "an empty key: expected a name");
    const std::size_t expected = request[0] == wait ? 4 : request[0] == barrier ? 12 : 0;
    if (request[0] != set && rest.size() != expected) {
      return reply(connection, failure, "a malformed request about " + quoted(key));
    }
    switch (request[0]) {
      case set:
        return put(connection, key, rest);
      case get:
      case wait:
        return look_up(connection, key, rest);
      case barrier:
        return arrive(connection, key, rest);
      default:
        return reply(connection, failure, "an unknown request");
    }
  }

  void greet(Connection& connection, char verb, const std::string& secret) {
    if (verb != hello || !equal(secret, secret_)) {
      return refuse(connection, "the secret is not the store's");
    }
    connection.greeted = true;
    reply(connection, success, {});
  }

  void put(Connection& connection, const std::string& key, const std::string& value) {
    if (value.size() > store_limits::value_bytes) {
      return reply(connection,
                   failure,
                   "a value of " + std::to_string(value.size()) + " bytes: at most " +
                       std::to_string(store_limits::value_bytes) + " are accepted");
    }
    const auto found = values_.find(key);
    const std::size_t old = found == values_.end() ? 0 : key.size() + found->second.size();
    const std::size_t total = bytes_ - old + key.size() + value.size();
    if (total > store_limits::total_bytes) {
      return reply(connection,
                   failure,
                   "the store is full: at most " + std::to_string(store_limits::total_bytes) +
                       " bytes are accepted");
    }
    bytes_ = total;
    values_[key] = value;
    reply(connection, success, {});
    for (Connection& each : connections_) {
      if (each.waits == Waits::for_key && each.key == key) reply_later(each, success, value);
    }
  }

  void look_up(Connection& connection, const std::string& key, const std::string& rest) {
    const auto found = values_.find(key);
    if (found != values_.end()) return reply(connection, success, found->second);
    if (rest.empty()) return reply(connection, failure, "no value for " + quoted(key));
    suspend(connection, Waits::for_key, key, rest);
  }

  void arrive(Connection& connection, const std::string& name, const std::string& rest) {
    const auto rank = static_cast<std::int64_t>(number_at(rest, 4, 4));
    const auto ranks = static_cast<std::int64_t>(number_at(rest, 8, 4));
    if (ranks < 1 || ranks > store_limits::ranks || rank >= ranks) {
      return reply(connection,
                   failure,
                   "barrier " + quoted(name) + ": rank " + std::to_string(rank) + " of " +
                       std::to_string(ranks) + " ranks");
    }
    Barrier& round = barriers_[name];
    if (round.arrived.empty()) round.ranks = static_cast<int>(ranks);
    if (round.ranks != ranks || round.arrived.contains(static_cast<int>(rank))) {
      return reply(connection,
                   failure,
                   "barrier " + quoted(name) + ": rank " + std::to_string(rank) + " of " +
                       std::to_string(ranks) + " came, but " +
                       (round.ranks != ranks ? "others wait for " + std::to_string(round.ranks)
                                             : std::string("that rank waits already")));
    }
    suspend(connection, Waits::for_ranks, name, rest);
    connection.rank = static_cast<int>(rank);
    round.arrived[connection.rank] = &connection;
    if (round.arrived.size() < static_cast<std::size_t>(ranks)) return;
    const Barrier complete = std::move(round);
    barriers_.erase(name);
    for (const auto& [each, waiting] : complete.arrived) reply_later(*waiting, success, {});
  }

  void suspend(Connection& connection,
               Waits waits,
               const std::string& key,
               const std::string& rest) {
    connection.waits = waits;
    connection.key = key;
    connection.deadline = Clock::now() + Milliseconds(number_at(rest, 0, 4));
  }

  /// An answer to a connection whose turn it is not.
  static void reply_later(Connection& connection, Status status, std::string_view text) {
    reply(connection, status, text);
    static_cast<void>(write(connection));
  }

  /// False where a connection has been silent for too long.
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
      break_barrier(connection.key, "rank " + missing + " did not come in time");
    } else {
      reply_later(connection, failure, "no value for " + quoted(connection.key) + " in time");
    }
    return true;
  }

  /// Tells all that wait why they wait for nothing.
  void break_barrier(const std::string& name, const std::string& why) {
    const Barrier broken = std::move(barriers_.at(name));
    barriers_.erase(name);
    for (const auto& [rank, waiting] : broken.arrived) {
      reply_later(*waiting, failure, "barrier " + quoted(name) + ": " + why);
    }
  }

  void close(std::list<Connection>::iterator connection) {
    if (connection->waits == Waits::for_ranks) {
      barriers_.at(connection->key).arrived.erase(connection->rank);
      break_barrier(connection->key,
                    "rank " + std::to_string(connection->rank) + " went away while it waited");
    }
    connections_.erase(connection);
  }

  int listener_;
  int stop_;
  std::string secret_;
  std::list<Connection> connections_;
  std::map<std::string, std::string> values_;
  std::size_t bytes_ = 0;
  std::map<std::string, Barrier> barriers_;
};

}  // namespace

Socket::~Socket() {
  if (value_ >= 0) ::close(value_);
}

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
                       ": others could reach it: expected a secret, or a loopback address");
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
  thread_ =
      std::thread([listener = listener_.get(), stop = stop_.get(), secret = std::move(secret)] {
        Service(listener, stop, secret).run();
      });
}

StoreServer::~StoreServer() {
  const std::uint64_t one = 1;
  static_cast<void>(!::write(stop_.get(), &one, sizeof(one)));
  thread_.join();
}

namespace {

/// Invalid where nobody answers there.
Socket try_connect(const addrinfo& address) {
  Socket socket(::socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (socket.get() < 0 || ::connect(socket.get(), address.ai_addr, address.ai_addrlen) != 0) {
    return {};
  }
  const int on = 1;
  ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  return socket;
}

}  // namespace

StoreClient::StoreClient(const StoreAddress& address, std::string_view secret, Patience patience)
    : address_(text_of(address)) {
  const auto deadline = Clock::now() + patience;
  const AddressList found = resolve(address);
  while (socket_.get() < 0) {
    for (const addrinfo* each = found.get(); each != nullptr && socket_.get() < 0;
         each = each->ai_next) {
      socket_ = try_connect(*each);
    }
    if (socket_.get() >= 0) break;
    const int error = errno;
    if (Clock::now() >= deadline) {
      throw StoreError("store at " + address_ + ": " + std::strerror(error));
    }
    std::this_thread::sleep_for(Milliseconds(10));
  }
  static_cast<void>(ask(hello, secret, {}, patience));
}

void StoreClient::set(std::string_view key, std::string_view value) {
  static_cast<void>(ask(Verb::set, key, value, Patience(0)));
}

std::string StoreClient::get(std::string_view key) {
  return ask(Verb::get, key, {}, Patience(0));
}

std::string StoreClient::wait(std::string_view key, Patience patience) {
  const auto time = static_cast<std::uint64_t>(patience.count());
  return ask(Verb::wait, key, number(time, 4), patience);
}

void StoreClient::barrier(std::string_view name, int rank, int ranks, Patience patience) {
  std::string rest = number(static_cast<std::uint64_t>(patience.count()), 4);
  rest +=
      number(static_cast<std::uint32_t>(rank), 4) + number(static_cast<std::uint32_t>(ranks), 4);
  static_cast<void>(ask(Verb::barrier, name, rest, patience));
}

void StoreClient::lose(const std::string& why) {
  // An answer that comes later would be taken for that to another question.
  socket_ = Socket();
  throw StoreError("store at " + address_ + ": " + why);
}

void StoreClient::expect_ready(short events, Clock::time_point deadline) {
  pollfd entry{.fd = socket_.get(), .events = events, .revents = 0};
  while (::poll(&entry, 1, milliseconds_until(deadline)) <= 0) {
    if (Clock::now() >= deadline) lose("no answer in time");
  }
}

void StoreClient::send(std::string_view request, Clock::time_point deadline) {
  while (!request.empty()) {
    expect_ready(POLLOUT, deadline);
    const ssize_t sent =
        ::send(socket_.get(), request.data(), request.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    // The other side may have said why it does not want more.
    if (sent < 0 && errno != EAGAIN && errno != EINTR) return;
    if (sent > 0) request.remove_prefix(static_cast<std::size_t>(sent));
  }
}

std::string StoreClient::receive(Clock::time_point deadline) {
  std::string text;
  std::size_t expected = length_bytes;
  while (text.size() < expected) {
    expect_ready(POLLIN, deadline);
    std::array<char, 65536> chunk;
    const std::size_t room = std::min(chunk.size(), expected - text.size());
    const ssize_t got = ::recv(socket_.get(), chunk.data(), room, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) lose("the connection was closed");
    text.append(chunk.data(), static_cast<std::size_t>(got));
    if (text.size() != length_bytes) continue;
    const std::size_t length = number_at(text, 0, length_bytes);
    if (length < 1 || length > store_limits::value_bytes + 1) lose("a malformed answer");
    expected += length;
  }
  return text.substr(length_bytes);
}

std::string StoreClient::ask(char verb,
                             std::string_view key,
                             std::string_view rest,
                             Patience patience) {
  const auto expect_at_most = [&](const char* what, std::size_t size, std::size_t limit) {
    if (size <= limit) return;
    throw StoreError("store at " + address_ + ": a " + what + " of " + std::to_string(size) +
                     " bytes: at most " + std::to_string(limit) + " are accepted");
  };
  expect_at_most("key", key.size(), store_limits::key_bytes);
  expect_at_most("value", rest.size(), store_limits::value_bytes);
  if (socket_.get() < 0) lose("the connection was closed");
  std::string request = number(head_bytes + key.size() + rest.size(), length_bytes);
  request += verb;
  request += number(key.size(), 2);
  request += key;
  request += rest;
  const auto deadline = Clock::now() + patience + grace;
  send(request, deadline);
  const std::string reply = receive(deadline);
  if (reply[0] != success) throw StoreError("store at " + address_ + ": " + reply.substr(1));
  return reply.substr(1);
}

}  // namespace rankcheck::gpu::nccl
