#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <netdb.h>

#include "gpu/device/nccl/store.hpp"

/// What a store and its clients have in common: the form of their messages, and addresses.
namespace rankcheck::gpu::nccl {

inline constexpr std::size_t length_bytes = 4;
/// The verb and the length of the key.
inline constexpr std::size_t head_bytes = 3;
inline constexpr std::size_t request_bytes_max =
    head_bytes + store_limits::key_bytes + store_limits::value_bytes;

/// What a request asks for; its first byte. Every connection begins with hello, which brings the
/// secret.
enum class Verb : char { hello = 'h', set = 's', get = 'g', wait = 'w', barrier = 'b' };
/// The first byte of an answer. Behind a failure's stands why, in words.
enum class Status : char { success = 0, failure = 1 };

/// A number in so many bytes, the lowest first.
[[nodiscard]] std::string number(std::uint64_t value, std::size_t bytes);
[[nodiscard]] std::uint64_t number_at(std::string_view text, std::size_t at, std::size_t bytes);

using AddressList = std::unique_ptr<addrinfo, void (*)(addrinfo*)>;

/// "host:port".
[[nodiscard]] std::string text_of(const StoreAddress& address);
/// Throws StoreError.
[[nodiscard]] AddressList resolve(const StoreAddress& address);

/// Milliseconds that poll() may wait; 0 where the time is over.
[[nodiscard]] int milliseconds_until(std::chrono::steady_clock::time_point deadline);

}  // namespace rankcheck::gpu::nccl
