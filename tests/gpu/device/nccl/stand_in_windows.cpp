#include "tests/gpu/device/nccl/stand_in_windows.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "tests/gpu/device/nccl/stand_in_comm.hpp"

namespace rankcheck::stand_in {

std::uint64_t place_in_window(const ncclComm& comm, const void* memory) {
  const auto* const at = static_cast<const std::byte*>(memory);
  for (const auto& window : comm.windows) {
    if (at < window->begin || at >= window->begin + window->bytes) continue;
    return static_cast<std::uint64_t>(at - window->begin) + 1;
  }
  return 0;
}

bool is_registered(const ncclComm& comm, const void* memory) {
  const auto* const at = static_cast<const std::byte*>(memory);
  return std::any_of(comm.registered.begin(), comm.registered.end(), [&](const auto& each) {
    return at >= each->begin && at < each->begin + each->bytes;
  });
}

namespace {

/// The memory of ncclMemAlloc in this process, and the successful calls for memory and windows.
struct Memory {
  std::mutex mutex;
  std::map<void*, std::size_t> blocks;
  std::string calls;
};

Memory& memory() {
  static auto* const all = new Memory;
  return *all;
}

}  // namespace

extern "C" {

/// The successful calls of this process so far, for tests.
const char* rankcheck_nccl_window_calls();
const char* rankcheck_nccl_window_calls() {
  return memory().calls.c_str();
}

ncclResult_t ncclMemAlloc(void** out, std::size_t bytes) {
  constexpr std::size_t page = NCCL_WIN_REQUIRED_ALIGNMENT;
  const std::lock_guard lock(memory().mutex);
  *out = std::aligned_alloc(page, (bytes + page - 1) / page * page);
  if (*out == nullptr) return ncclSystemError;
  memory().blocks[*out] = bytes;
  memory().calls += "alloc ";
  return ncclSuccess;
}

ncclResult_t ncclMemFree(void* block) {
  const std::lock_guard lock(memory().mutex);
  const auto found = memory().blocks.find(block);
  if (found == memory().blocks.end()) return ncclInvalidArgument;
  // Whoever still uses the memory gets wrong results.
  std::memset(block, 0xee, found->second);
  std::free(block);
  memory().blocks.erase(found);
  memory().calls += "free ";
  return ncclSuccess;
}

/// All ranks of the communicator must register the same number of bytes.
ncclResult_t ncclCommWindowRegister(
    ncclComm_t comm, void* buffer, std::size_t bytes, ncclWindow_t* window, int flags) {
  return in_group([&]() -> ncclResult_t {
    if (comm == nullptr || buffer == nullptr || bytes == 0) return ncclInvalidArgument;
    if (reinterpret_cast<std::uintptr_t>(buffer) % NCCL_WIN_REQUIRED_ALIGNMENT != 0) {
      return ncclInvalidArgument;
    }
    *window = nullptr;
    if (is_planted("no_window")) return ncclSuccess;
    const Signature signature{
        .call = register_window, .op = static_cast<std::uint32_t>(flags), .place = bytes};
    const auto start = [=](Work& work) {
      const std::byte none{};
      for (int peer = 0; peer < comm->ranks; ++peer) {
        work.send(peer, signature, &none);
        work.receive(peer, signature);
      }
    };
    const auto finish = [=](Work&) {
      comm->windows.push_back(std::make_unique<ncclWindow_vidmem>(
          ncclWindow_vidmem{static_cast<const std::byte*>(buffer), bytes}));
      *window = comm->windows.back().get();
      const std::lock_guard lock(memory().mutex);
      memory().calls += "register ";
    };
    open_group.job.push_back({.comm = comm, .start = start, .finish = finish});
    open_group.synchronises = true;
    return ncclSuccess;
  });
}

ncclResult_t ncclCommWindowDeregister(ncclComm_t comm, ncclWindow_t window) {
  if (comm == nullptr) return ncclInvalidArgument;
  const auto erased =
      std::erase_if(comm->windows, [&](const auto& each) { return each.get() == window; });
  if (erased != 1) return ncclInvalidArgument;
  const std::lock_guard lock(memory().mutex);
  memory().calls += "deregister ";
  return ncclSuccess;
}

/// Registers nothing, without an error, if NCCL_LOCAL_REGISTER is 0, as NCCL does.
ncclResult_t ncclCommRegister(ncclComm_t comm, void* buffer, std::size_t bytes, void** handle) {
  if (comm == nullptr || buffer == nullptr || bytes == 0) return ncclInvalidArgument;
  *handle = nullptr;
  const char* const wanted = std::getenv("NCCL_LOCAL_REGISTER");
  if (wanted != nullptr && std::string_view(wanted) == "0") return ncclSuccess;
  comm->registered.push_back(std::make_unique<ncclWindow_vidmem>(
      ncclWindow_vidmem{static_cast<const std::byte*>(buffer), bytes}));
  *handle = comm->registered.back().get();
  const std::lock_guard lock(memory().mutex);
  memory().calls += "comm_register ";
  return ncclSuccess;
}

ncclResult_t ncclCommDeregister(ncclComm_t comm, void* handle) {
  if (comm == nullptr) return ncclInvalidArgument;
  const auto erased =
      std::erase_if(comm->registered, [&](const auto& each) { return each.get() == handle; });
  if (erased != 1) return ncclInvalidArgument;
  const std::lock_guard lock(memory().mutex);
  memory().calls += "comm_deregister ";
  return ncclSuccess;
}

}  // extern "C"

}  // namespace rankcheck::stand_in
