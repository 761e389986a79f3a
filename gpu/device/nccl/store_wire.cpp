#include "gpu/device/nccl/store_wire.hpp"

#include <algorithm>
#include <limits>

#include <sys/socket.h>
#include <unistd.h>

namespace rankcheck::gpu::nccl {

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

std::string text_of(const StoreAddress& address) {
  return address.host + ":" + std::to_string(address.port);
}

AddressList resolve(const StoreAddress& address) {
  // getaddrinfo() would take only the last 16 bits of a larger port.
  constexpr int port_max = std::numeric_limits<std::uint16_t>::max();
  if (address.port < 0 || address.port > port_max) {
    throw StoreError("store at " + text_of(address) + ": expected a port of 0 to " +
                     std::to_string(port_max));
  }
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const std::string port = std::to_string(address.port);
  const int code = ::getaddrinfo(address.host.c_str(), port.c_str(), &hints, &found);
  if (code != 0) throw StoreError("store at " + text_of(address) + ": " + ::gai_strerror(code));
  return {found, ::freeaddrinfo};
}

int milliseconds_until(std::chrono::steady_clock::time_point deadline) {
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
  return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 3'600'000));
}

Socket::~Socket() {
  if (value_ >= 0) ::close(value_);
}

}  // namespace rankcheck::gpu::nccl
