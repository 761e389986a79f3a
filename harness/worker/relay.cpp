#include "harness/worker/relay.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iterator>
#include <list>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include "reference/spec/to_size.hpp"

#include "harness/case/case.hpp"
#include "harness/worker/local_socket.hpp"
#include "harness/worker/protocol.hpp"

namespace rankcheck::harness::worker {

namespace {

using Clock = std::chrono::steady_clock;

/// Time that a connection gets to send the secret, and then again to send its hello.
constexpr std::chrono::seconds greeting_limit{10};
/// The most connections that are greeted at the same time. Others wait to be accepted.
constexpr std::size_t greeted_max = 256;

[[noreturn]] void refuse(const std::string& address, std::string_view why) {
  throw BadInput(fmt::format("listen:{:.60}: {}", address, why));
}

std::uint16_t port_of(const std::string& address, std::string_view text) {
  int port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  const bool is_whole = error == std::errc() && end == text.data() + text.size();
  if (!is_whole || port < 1 || port > 65535) refuse(address, "expected a port in 1..65535");
  return static_cast<std::uint16_t>(port);
}

/// An address as the system wants it.
struct SocketAddress {
  sockaddr_storage bytes{};
  socklen_t size = 0;

  [[nodiscard]] const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&bytes); }
};

SocketAddress parsed(const std::string& address) {
  const std::size_t colon = address.rfind(':');
  if (colon == std::string::npos) refuse(address, "expected 127.0.0.1:PORT");
  const std::string host = address.substr(0, colon);
  const std::uint16_t port = port_of(address, std::string_view(address).substr(colon + 1));
  SocketAddress out;
  if (host == "[::1]") {
    auto& where = reinterpret_cast<sockaddr_in6&>(out.bytes);
    where = {.sin6_family = AF_INET6,
             .sin6_port = htons(port),
             .sin6_flowinfo = 0,
             .sin6_addr = in6addr_loopback,
             .sin6_scope_id = 0};
    out.size = sizeof(where);
    return out;
  }
  auto& where = reinterpret_cast<sockaddr_in&>(out.bytes);
  where.sin_family = AF_INET;
  where.sin_port = htons(port);
  const std::string number = host == "localhost" ? "127.0.0.1" : host;
  const bool is_number = ::inet_pton(AF_INET, number.c_str(), &where.sin_addr) == 1;
  if (!is_number || ntohl(where.sin_addr.s_addr) >> 24 != 127) {
    refuse(address, "expected an address of the loopback, such as 127.0.0.1:PORT");
  }
  out.size = sizeof(where);
  return out;
}

/// Compares a line with the secret. The time does not depend on where they differ.
bool is_secret(std::span<const std::byte> line, const std::string& secret) {
  unsigned differs = line.size() == secret.size() ? 0 : 1;
  for (std::size_t i = 0; i < secret.size(); ++i) {
    const unsigned said = i < line.size() ? std::to_integer<unsigned>(line[i]) : 0;
    differs |= said ^ static_cast<unsigned char>(secret[i]);
  }
  return differs == 0;
}

/// Looks at the line that a rank sends first. Returns what is wrong with it. The text is empty if
/// the line is the secret, which is then dropped. Returns nothing if the line is not complete yet.
std::optional<std::string> why_unknown(Connection& rank, const std::string& secret) {
  const auto said = rank.unread().first(std::min(rank.unread().size(), secret_length_max + 1));
  const auto end = std::ranges::find(said, std::byte{'\n'});
  if (end != said.end()) {
    const auto length = spec::to_size(end - said.begin());
    const std::span<const std::byte> line = said.first(length);
    if (is_secret(line, secret)) {
      rank.skip(length + 1);
      return std::string();
    }
    return fmt::format("a rank connected {} {}",
                       line.empty() ? "without a secret in" : "with a wrong secret in",
                       secret_variable);
  }
  if (said.size() <= secret_length_max) return std::nullopt;
  return fmt::format(
      "a connection began with a line of more than {} bytes: expected the secret in {}",
      secret_length_max,
      secret_variable);
}

/// The first frame of a rank. It is no hello if `hello` is empty; the session then says why.
struct FirstFrame {
  std::span<const std::byte> bytes;
  std::optional<Hello> hello = std::nullopt;
};

/// Returns the first frame of a rank. Empty if the frame has not arrived as a whole.
std::optional<FirstFrame> first_frame(Connection& rank) {
  FirstFrame first;
  try {
    const std::optional<Frame> frame = rank.next();
    if (!frame) return std::nullopt;
    first.bytes = frame->bytes;
    first.hello = hello_from_json(frame->header);
  } catch (const std::exception&) {
    if (first.bytes.empty()) {
      first.bytes = rank.unread();
      rank.skip(first.bytes.size());
    }
  }
  return first;
}

/// Passes bytes on until the end, which it passes on, too.
void copy(Connection& from, const Connection& to) {
  do {
    if (!to.write(from.unread())) break;
    from.skip(from.unread().size());
  } while (from.fill());
  ::shutdown(to.descriptor(), SHUT_WR);
  ::shutdown(from.descriptor(), SHUT_RD);
}

/// Greets connections, each independently of the others, and relays those of ranks.
class Relay {
 public:
  Relay(int listener, const std::string& path, const std::string& secret)
      : listener_(listener), path_(path), secret_(secret) {}

  /// Returns when the ranks of a whole world are relayed.
  void greet_world() {
    while (hosted_.size() < world_) {
      wait();
      // The listener's entry is the last one. Greetings come first, because the world may then be
      // complete, and further ranks must wait for the next session.
      auto entry = entries_.begin();
      for (auto each = greetings_.begin(); each != greetings_.end(); ++entry) {
        const bool goes_on = entry->revents == 0 ? is_in_time(*each) : advance(*each);
        each = goes_on ? std::next(each) : greetings_.erase(each);
      }
      if (entry != entries_.end() && entry->revents != 0 && hosted_.size() < world_) accept();
    }
    greetings_.clear();
  }

  void wait_for_end() {
    for (std::thread& each : copies_) each.join();
  }

 private:
  /// A connection that has not said hello yet.
  struct Greeting {
    Connection rank;
    Clock::time_point deadline;
    /// Whether it has sent the secret.
    bool is_known = false;
  };

  /// Waits until something has arrived or a greeting takes too long.
  void wait() {
    entries_.clear();
    auto deadline = Clock::time_point::max();
    for (const Greeting& each : greetings_) {
      entries_.push_back({.fd = each.rank.descriptor(), .events = POLLIN, .revents = 0});
      deadline = std::min(deadline, each.deadline);
    }
    if (greetings_.size() < greeted_max) {
      entries_.push_back({.fd = listener_, .events = POLLIN, .revents = 0});
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(
        std::max(deadline - Clock::now(), Clock::duration::zero()));
    const int wait_ms = greetings_.empty() ? -1 : static_cast<int>(left.count());
    // An interrupted wait leaves all entries without an event.
    ::poll(entries_.data(), entries_.size(), wait_ms);
  }

  void accept() {
    const int accepted = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (accepted < 0) return;
    // A header and its payload are two writes. The second one must not wait for an answer.
    const int yes = 1;
    ::setsockopt(accepted, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
    greetings_.push_back(
        {.rank = Connection(accepted, accepted), .deadline = Clock::now() + greeting_limit});
  }

  static bool is_in_time(const Greeting& greeting) {
    if (Clock::now() < greeting.deadline) return true;
    if (!greeting.is_known) complain_of_silence();
    return false;
  }

  static void complain_of_silence() {
    std::fprintf(stderr, "a connection ended, or said nothing more, before its secret\n");
  }

  /// Reads what has arrived. Returns whether the greeting goes on.
  bool advance(Greeting& greeting) {
    if (!greeting.rank.fill()) {
      if (!greeting.is_known) complain_of_silence();
      return false;
    }
    if (!greeting.is_known) {
      const std::optional<std::string> why = why_unknown(greeting.rank, secret_);
      if (!why) return is_in_time(greeting);
      if (!why->empty()) {
        std::fprintf(stderr, "%s\n", why->c_str());
        return false;
      }
      greeting.is_known = true;
      greeting.deadline = Clock::now() + greeting_limit;
    }
    const std::optional<FirstFrame> first = first_frame(greeting.rank);
    if (!first) return is_in_time(greeting);
    pass_on(greeting, *first);
    return false;
  }

  void pass_on(Greeting& greeting, const FirstFrame& first) {
    const int descriptor = connect_to(path_).release();
    Connection session(descriptor, descriptor);
    if (session.write(first.bytes) && first.hello) {
      world_ = spec::to_size(first.hello->world);
      hosted_.insert(first.hello->ranks.begin(), first.hello->ranks.end());
    }
    auto& [one, other] = ends_.emplace_back(std::move(greeting.rank), std::move(session));
    copies_.emplace_back([&from = one, &to = other] { copy(from, to); });
    copies_.emplace_back([&from = other, &to = one] { copy(from, to); });
  }

  const int listener_;
  const std::string& path_;
  const std::string& secret_;
  std::list<Greeting> greetings_;
  std::vector<pollfd> entries_;
  std::list<std::pair<Connection, Connection>> ends_;
  std::vector<std::thread> copies_;
  std::size_t world_ = 1;
  std::set<int> hosted_;
};

}  // namespace

void require_loopback(const std::string& address) {
  static_cast<void>(parsed(address));
}

Descriptor listen_on_loopback(const std::string& address) {
  const SocketAddress where = parsed(address);
  Descriptor listener(::socket(where.bytes.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int yes = 1;
  ::setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  if (listener.get() < 0 || ::bind(listener.get(), where.get(), where.size) != 0 ||
      ::listen(listener.get(), SOMAXCONN) != 0) {
    throw std::runtime_error(fmt::format("cannot listen: {}", std::strerror(errno)));
  }
  return listener;
}

void relay(int listener, const std::string& path, const std::string& secret) {
  Relay relay(listener, path, secret);
  relay.greet_world();
  relay.wait_for_end();
}

}  // namespace rankcheck::harness::worker
