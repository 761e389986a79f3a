#pragma once

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <rankcheck/detail/json.hpp>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

/// Frames of the worker protocol, see harness/worker/PROTOCOL.md in the sources of rankcheck.
namespace rankcheck::detail {

/// Bytes of a payload.
struct Part {
  unsigned char* data;
  std::size_t size;
};

/// Returns a frame without payload.
inline std::string frame_of(const std::string& header) {
  const std::size_t length = header.size();
  std::string frame;
  for (int shift = 0; shift < 32; shift += 8) frame += static_cast<char>(length >> shift & 0xff);
  return frame + header;
}

class Connection {
 public:
  explicit Connection(int descriptor) : descriptor_(descriptor), input_(1 << 16) {}
  ~Connection() { ::close(descriptor_); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// Sends frames, and the payload of the last one. Threads may call it at the same time.
  void send(std::string frames, const std::vector<Part>& parts = {}) {
    const std::lock_guard lock(sending_);
    std::vector<iovec> left{{frames.data(), frames.size()}};
    for (const Part& part : parts) left.push_back({part.data, part.size});
    for (std::size_t next = 0; next < left.size();) {
      msghdr message{};
      message.msg_iov = &left[next];
      message.msg_iovlen = std::min<std::size_t>(left.size() - next, 64);
      const ssize_t sent = ::sendmsg(descriptor_, &message, MSG_NOSIGNAL);
      if (sent < 0 && errno == EINTR) continue;
      if (sent < 0) throw std::system_error(errno, std::generic_category(), "send");
      auto rest = static_cast<std::size_t>(sent);
      for (; next < left.size() && rest >= left[next].iov_len; ++next) rest -= left[next].iov_len;
      if (rest == 0) continue;
      left[next].iov_base = static_cast<char*>(left[next].iov_base) + rest;
      left[next].iov_len -= rest;
    }
  }

  /// Reads the next header. Returns false if the harness has closed the connection. The caller
  /// reads the payload with receive() before the next header.
  bool receive_header(Json& header) {
    if (begin_ == end_ && !fill()) return false;
    unsigned char prefix[4];
    receive({prefix, sizeof prefix});
    std::size_t length = 0;
    for (int i = 3; i >= 0; --i) length = length << 8 | prefix[i];
    if (length > header_bytes_max) {
      throw ProtocolError("got a header of " + std::to_string(length) +
                          " bytes, expected at most 16 MiB");
    }
    text_.resize(length);
    receive({reinterpret_cast<unsigned char*>(text_.data()), length});
    header = JsonReader(text_).read();
    return true;
  }

  /// Fills the memory with the next bytes.
  void receive(Part part) {
    while (part.size > 0) {
      std::size_t count = 0;
      if (begin_ < end_) {
        count = std::min(part.size, end_ - begin_);
        std::memcpy(part.data, &input_[begin_], count);
        begin_ += count;
      } else if (part.size < input_.size()) {
        if (!fill()) throw ProtocolError("expected " + std::to_string(part.size) + " bytes more");
      } else {
        count = read_some(part.data, part.size);
        if (count == 0)
          throw ProtocolError("expected " + std::to_string(part.size) + " bytes more");
      }
      part.data += count;
      part.size -= count;
    }
  }

 private:
  static constexpr std::size_t header_bytes_max = std::size_t{16} << 20;

  bool fill() {
    begin_ = 0;
    end_ = read_some(input_.data(), input_.size());
    return end_ > 0;
  }

  std::size_t read_some(unsigned char* to, std::size_t size) const {
    for (;;) {
      const ssize_t got = ::recv(descriptor_, to, size, 0);
      if (got >= 0) return static_cast<std::size_t>(got);
      // A harness that was killed leaves nothing to answer.
      if (errno == ECONNRESET) return 0;
      if (errno != EINTR) throw std::system_error(errno, std::generic_category(), "recv");
    }
  }

  int descriptor_;
  std::mutex sending_;
  std::vector<unsigned char> input_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::string text_;
};

/// Connects to the harness that started this process. Returns the descriptor.
inline int connect_to_harness() {
  const char* const path = std::getenv("RANKCHECK_SOCKET");
  if (path == nullptr) {
    throw std::runtime_error(
        "Neither RANKCHECK_SOCKET nor RANKCHECK_ADDRESS is set: this program is a subject of "
        "rankcheck. Start it with: "
        "rankcheck run smoke --backend command:PROGRAM");
  }
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (std::strlen(path) >= sizeof address.sun_path) {
    throw std::runtime_error("RANKCHECK_SOCKET: got " + std::string(path) +
                             ", expected a shorter path");
  }
  std::memcpy(address.sun_path, path, std::strlen(path));
  // A process that the subject starts must not keep the connection open when this one ends.
  const int descriptor = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const auto* const to = reinterpret_cast<const sockaddr*>(&address);
  if (descriptor < 0 || ::connect(descriptor, to, sizeof address) != 0) {
    const int error = errno;
    if (descriptor >= 0) ::close(descriptor);
    throw std::system_error(error, std::generic_category(), path);
  }
  return descriptor;
}

/// Returns a socket that is connected to one of the addresses, or -1.
inline int connect_to_any(const addrinfo* addresses) {
  for (const addrinfo* each = addresses; each != nullptr; each = each->ai_next) {
    const int descriptor = ::socket(each->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) continue;
    const int yes = 1;
    ::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    if (::connect(descriptor, each->ai_addr, each->ai_addrlen) == 0) return descriptor;
    ::close(descriptor);
  }
  return -1;
}

/// Connects to a harness that listens at `address`, HOST:PORT. Returns the descriptor, or -1 if
/// nobody has listened there for so long.
inline int connect_to_address(const std::string& address, std::chrono::milliseconds patience) {
  const std::size_t colon = address.rfind(':');
  std::string host = address.substr(0, std::min(colon, address.size()));
  if (!host.empty() && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  }
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const bool is_split = colon != address.npos && !host.empty() && colon + 1 < address.size();
  if (!is_split || ::getaddrinfo(host.c_str(), address.c_str() + colon + 1, &hints, &found) != 0) {
    throw std::invalid_argument("RANKCHECK_ADDRESS: got " + address + ", expected HOST:PORT");
  }
  constexpr std::chrono::milliseconds pause(100);
  const auto end = std::chrono::steady_clock::now() + patience;
  int descriptor = connect_to_any(found);
  while (descriptor < 0 && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(pause);
    descriptor = connect_to_any(found);
  }
  ::freeaddrinfo(found);
  return descriptor;
}

}  // namespace rankcheck::detail
