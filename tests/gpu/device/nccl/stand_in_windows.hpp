#pragma once

#include <cstddef>
#include <cstdint>

#include <nccl.h>

/// The stand-in's windows. Unlike NCCL, it checks that they are registered, deregistered and freed
/// in order.
struct ncclWindow_vidmem {
  const std::byte* begin = nullptr;
  std::size_t bytes = 0;
};

namespace rankcheck::stand_in {

/// The place of `memory` in a window of the communicator: its offset, plus one. 0 if it lies in no
/// window.
[[nodiscard]] std::uint64_t place_in_window(const ncclComm& comm, const void* memory);

/// Whether `memory` lies in memory that ncclCommRegister has registered with the communicator.
[[nodiscard]] bool is_registered(const ncclComm& comm, const void* memory);

}  // namespace rankcheck::stand_in
