#include "harness/worker/relay.hpp"

#include <array>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <optional>
#include <set>
#include <stdexcept>
#include <string_view>
#include <thread>
#include <vector>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "reference/spec/to_size.hpp"

#include "harness/case.hpp"
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

bool read_exactly(int from, std::byte* out, std::size_t size) {
  while (size > 0) {
    const ssize_t got = ::read(from, out, size);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    out += got;
    size -= spec::to_size(got);
  }
  return true;
}

bool write_all(int to, const std::byte* bytes, std::size_t size) {
  while (size > 0) {
    const ssize_t written = ::send(to, bytes, size, MSG_NOSIGNAL);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes += written;
    size -= spec::to_size(written);
  }
  return true;
}

/// Reads a line and compares it with the secret. The time does not depend on where they differ.
bool knows_secret(int rank, const std::string& secret) {
  std::string line;
  std::byte next{};
  while (line.size() <= secret_length_max) {
    if (!read_exactly(rank, &next, 1)) return false;
    if (next == std::byte{'\n'}) break;
    line.push_back(static_cast<char>(next));
  }
  unsigned differs = line.size() == secret.size() ? 0 : 1;
  line.resize(secret.size());
  for (std::size_t i = 0; i < secret.size(); ++i) {
    differs |= static_cast<unsigned char>(line[i]) ^ static_cast<unsigned char>(secret[i]);
  }
  return differs == 0;
}

/// Reads the first frame of a rank. Empty if it does not come.
std::vector<std::byte> read_first_frame(int rank) {
  std::vector<std::byte> frame(4);
  if (!read_exactly(rank, frame.data(), frame.size())) return {};
  std::size_t length = 0;
  for (std::size_t i = 0; i < 4; ++i) length |= std::to_integer<std::size_t>(frame[i]) << (8 * i);
  if (length > header_bytes_max) return frame;
  frame.resize(4 + length);
  if (!read_exactly(rank, frame.data() + 4, length)) return {};
  return frame;
}

/// What a first frame says about the world. Empty if it is no hello; the session then says why.
std::optional<Hello> hello_in(const std::vector<std::byte>& frame) {
  try {
    const auto* text = reinterpret_cast<const char*>(frame.data());
    return hello_from_json(nlohmann::json::parse(text + 4, text + frame.size()));
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

Descriptor connected(const std::string& path) {
  Descriptor session(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof(address.sun_path) - 1);
  const auto* where = reinterpret_cast<const sockaddr*>(&address);
  if (::connect(session.get(), where, sizeof(address)) != 0) {
    throw std::runtime_error(fmt::format("cannot reach {}: {}", path, std::strerror(errno)));
  }
  return session;
}

/// Copies bytes until the end, which it passes on.
void copy(int from, int to) {
  std::vector<std::byte> buffer(std::size_t{1} << 16);
  while (true) {
    const ssize_t got = ::read(from, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0 || !write_all(to, buffer.data(), spec::to_size(got))) break;
  }
  ::shutdown(to, SHUT_WR);
  ::shutdown(from, SHUT_RD);
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
  std::vector<Descriptor> ends;
  std::vector<std::thread> copies;
  std::set<int> hosted;
  for (std::size_t world = 1; hosted.size() < world;) {
    Descriptor rank(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC));
    if (rank.get() < 0) continue;
    limit_receiving(rank.get(), greeting_s);
    if (!knows_secret(rank.get(), secret)) {
      std::fputs("a connection without the secret was closed\n", stderr);
      continue;
    }
    const std::vector<std::byte> frame = read_first_frame(rank.get());
    if (frame.empty()) continue;
    limit_receiving(rank.get(), 0);
    if (const auto hello = hello_in(frame)) {
      world = spec::to_size(hello->world);
      hosted.insert(hello->ranks.begin(), hello->ranks.end());
    }
    Descriptor session = connected(path);
    if (!write_all(session.get(), frame.data(), frame.size())) continue;
    copies.emplace_back(copy, rank.get(), session.get());
    copies.emplace_back(copy, session.get(), rank.get());
    ends.push_back(std::move(rank));
    ends.push_back(std::move(session));
  }
  for (std::thread& each : copies) each.join();
}

}  // namespace rankcheck::harness::worker
