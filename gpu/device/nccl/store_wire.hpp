#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <netdb.h>

#include "gpu/device/nccl/store.hpp"

/// The parts that a store and its clients share: the format of messages, and addresses.
namespace rankcheck::gpu::nccl {

inline constexpr std::size_t length_bytes = 4;
/// The verb (1 byte) and the length of the key (2 bytes).
inline constexpr std::size_t head_bytes = 3;
inline constexpr std::size_t request_bytes_max =
    head_bytes + store_limits::key_bytes + store_limits::value_bytes;

/// The kind of a request, which is its first byte. Every connection begins with hello, which
/// contains the secret.
enum class Verb : char { hello = 'h', set = 's', get = 'g', wait = 'w', barrier = 'b' };
/// The first byte of an answer. After `failure`, the reason follows as text.
enum class Status : char { success = 0, failure = 1 };

/// A number in `bytes` bytes, the lowest byte first.
[[nodiscard]] std::string number(std::uint64_t value, std::size_t bytes);
[[nodiscard]] std::uint64_t number_at(std::string_view text, std::size_t at, std::size_t bytes);

using AddressList = std::unique_ptr<addrinfo, void (*)(addrinfo*)>;

/// "host:port".
[[nodiscard]] std::string text_of(const StoreAddress& address);
/// Throws StoreError.
[[nodiscard]] AddressList resolve(const StoreAddress& address);

/// Milliseconds that poll() may wait; 0 if the deadline has passed.
[[nodiscard]] int milliseconds_until(std::chrono::steady_clock::time_point deadline);

}  // namespace rankcheck::gpu::nccl
