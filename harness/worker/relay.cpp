#include "harness/worker/relay.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdio>
#include <cstring>
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
#include <sys/socket.h>

#include "reference/spec/to_size.hpp"

#include "harness/case.hpp"
#include "harness/worker/local_socket.hpp"
#include "harness/worker/protocol.hpp"

namespace rankcheck::harness::worker {

namespace {

/// Time that a rank gets to send its secret and its hello.
constexpr int greeting_s = 10;

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

/// Reads the line that a rank sends first. Returns what is wrong with it. Empty if it is the
/// secret.
std::string why_unknown(Connection& rank, const std::string& secret) {
  while (true) {
    const auto said = rank.unread().first(std::min(rank.unread().size(), secret_length_max + 1));
    const auto end = std::find(said.begin(), said.end(), std::byte{'\n'});
    if (end != said.end()) {
      const auto length = spec::to_size(end - said.begin());
      const std::span<const std::byte> line = said.first(length);
      if (is_secret(line, secret)) {
        rank.skip(length + 1);
        return {};
      }
      return fmt::format("a rank connected {} {}",
                         line.empty() ? "without a secret in" : "with a wrong secret in",
                         secret_variable);
    }
    if (said.size() > secret_length_max) {
      return fmt::format(
          "a connection began with a line of more than {} bytes: expected the "
          "secret in {}",
          secret_length_max,
          secret_variable);
    }
    if (!rank.fill()) return "a connection ended, or said nothing more, before its secret";
  }
}

/// Reads the first frame of a rank and passes its bytes on. Returns what the rank says about the
/// world. Empty if it is no hello; the session then says why.
std::optional<Hello> pass_hello(Connection& rank, const std::string& path, Connection& session) {
  std::optional<Hello> hello;
  std::span<const std::byte> bytes;
  try {
    std::optional<Frame> frame;
    while (!(frame = rank.next())) {
      if (!rank.fill()) return std::nullopt;
    }
    bytes = frame->bytes;
    hello = hello_from_json(frame->header);
  } catch (const std::exception&) {
    if (bytes.empty()) {
      bytes = rank.unread();
      rank.skip(bytes.size());
    }
  }
  const int descriptor = connect_to(path).release();
  session = Connection(descriptor, descriptor);
  return session.write(bytes) ? hello : std::nullopt;
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

void limit_receiving(int socket, int seconds) {
  const timeval value{.tv_sec = seconds, .tv_usec = 0};
  ::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &value, sizeof(value));
}

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
  std::list<std::pair<Connection, Connection>> ends;
  std::vector<std::thread> copies;
  std::set<int> hosted;
  for (std::size_t world = 1; hosted.size() < world;) {
    const int accepted = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    if (accepted < 0) continue;
    Connection rank(accepted, accepted);
    limit_receiving(accepted, greeting_s);
    // A header and its payload are two writes. The second one must not wait for an answer.
    const int yes = 1;
    ::setsockopt(accepted, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
    if (const std::string why = why_unknown(rank, secret); !why.empty()) {
      std::fprintf(stderr, "%s\n", why.c_str());
      continue;
    }
    Connection session(-1, -1);
    const std::optional<Hello> hello = pass_hello(rank, path, session);
    if (session.descriptor() < 0) continue;
    limit_receiving(accepted, 0);
    if (hello) {
      world = spec::to_size(hello->world);
      hosted.insert(hello->ranks.begin(), hello->ranks.end());
    }
    auto& [first, second] = ends.emplace_back(std::move(rank), std::move(session));
    copies.emplace_back([&first, &second] { copy(first, second); });
    copies.emplace_back([&first, &second] { copy(second, first); });
  }
  for (std::thread& each : copies) each.join();
}

}  // namespace rankcheck::harness::worker
