#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <nccl.h>

#include "gpu/device/vendor_library.hpp"

/// The functions of NCCL that this program uses. The first list is required; older versions may
/// lack the functions of the second.
#define RANKCHECK_NCCL_REQUIRED(USE) \
  USE(ncclGetVersion)                \
  USE(ncclGetUniqueId)               \
  USE(ncclGetErrorString)            \
  USE(ncclCommInitRank)              \
  USE(ncclCommDestroy)               \
  USE(ncclCommAbort)                 \
  USE(ncclCommGetAsyncError)         \
  USE(ncclGroupStart)                \
  USE(ncclGroupEnd)                  \
  USE(ncclAllReduce)                 \
  USE(ncclAllGather)                 \
  USE(ncclBroadcast)                 \
  USE(ncclReduce)                    \
  USE(ncclReduceScatter)

#define RANKCHECK_NCCL_OPTIONAL(USE) \
  USE(ncclAlltoAll)                  \
  USE(ncclCommDeregister)            \
  USE(ncclCommRegister)              \
  USE(ncclCommSplit)                 \
  USE(ncclCommWindowDeregister)      \
  USE(ncclCommWindowRegister)        \
  USE(ncclGather)                    \
  USE(ncclGetLastError)              \
  USE(ncclMemAlloc)                  \
  USE(ncclMemFree)                   \
  USE(ncclRecv)                      \
  USE(ncclRedOpCreatePreMulSum)      \
  USE(ncclRedOpDestroy)              \
  USE(ncclScatter)                   \
  USE(ncclSend)

namespace rankcheck::gpu::nccl {

/// Each function under its own name; null if the library has no such function.
struct Functions {
#define RANKCHECK_NCCL_DECLARE(name) decltype(&::name) name = nullptr;
  RANKCHECK_NCCL_REQUIRED(RANKCHECK_NCCL_DECLARE)
  RANKCHECK_NCCL_OPTIONAL(RANKCHECK_NCCL_DECLARE)
#undef RANKCHECK_NCCL_DECLARE
};

/// An NCCL call returned an error. The text has the call, NCCL's description and its last message.
class Error : public std::runtime_error {
 public:
  Error(const std::string& what, ncclResult_t code) : std::runtime_error(what), code_(code) {}

  /// Whether only this call was rejected. After any other error no communicator can be trusted.
  [[nodiscard]] bool is_refusal() const {
    return code_ == ncclInvalidArgument || code_ == ncclInvalidUsage;
  }

 private:
  ncclResult_t code_;
};

/// NCCL, or a library with its interface, loaded while the program runs.
class Library {
 public:
  /// Loads the library and finds its functions. Throws DeviceError with one line if the library
  /// cannot be loaded or lacks a required function.
  explicit Library(const SearchPlaces& places);
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  // NCCL starts threads of its own, so the library stays loaded.
  ~Library() = default;

  [[nodiscard]] const Functions* operator->() const { return &functions_; }
  /// The file that was loaded, and why this file.
  [[nodiscard]] const LoadedLibrary& loaded() const { return loaded_; }
  /// The version as the number NCCL_VERSION(…), and as text: "2.28.9".
  [[nodiscard]] int version() const { return version_; }
  [[nodiscard]] std::string version_text() const;
  /// Whether the library is a stand-in for NCCL that works on host memory. Stand-ins define
  /// rankcheck_nccl_on_host.
  [[nodiscard]] bool on_host() const { return on_host_; }
  /// The folder for memory that all processes share: /dev/shm, or the folder that a stand-in names
  /// in rankcheck_nccl_shared_memory.
  [[nodiscard]] const std::string& shared_memory() const { return shared_memory_; }
  /// The optional functions that the library lacks.
  [[nodiscard]] const std::vector<std::string_view>& missing() const { return missing_; }
  [[nodiscard]] bool has(std::string_view function) const;

  /// Throws Error if `code` is an error. `what` names the call.
  void check(ncclResult_t code, std::string_view what) const;

 private:
  LoadedLibrary loaded_;
  Functions functions_;
  int version_ = 0;
  bool on_host_ = false;
  std::string shared_memory_ = "/dev/shm";
  std::vector<std::string_view> missing_;
};

}  // namespace rankcheck::gpu::nccl
