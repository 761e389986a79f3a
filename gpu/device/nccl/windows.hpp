#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include "gpu/device/nccl/devices.hpp"
#include "gpu/device/nccl/library.hpp"

namespace rankcheck::gpu::nccl {

/// NCCL accepted the registration of memory but gave no window. All ranks of the communicator get
/// the same answer, and the communicator can still be used.
class NoWindow : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// One rank's window: memory of ncclMemAlloc that is registered with a communicator, either as
/// symmetric (ncclCommWindowRegister with NCCL_WIN_COLL_SYMMETRIC) or by ncclCommRegister.
struct Window {
  int slot = 0;
  bool is_symmetric = true;
  ncclComm_t communicator = nullptr;
  /// The same on every rank of the communicator.
  std::int64_t bytes = 0;
  std::byte* memory = nullptr;
  /// One of them is set as long as the memory is registered.
  ncclWindow_t handle = nullptr;
  void* registration = nullptr;

  [[nodiscard]] bool is_registered() const { return handle != nullptr || registration != nullptr; }
};

/// The windows of the calls that are under way. A communicator has at most one.
class Windows {
 public:
  /// `nccl` and `devices` must outlive the windows. Whoever owns them must call close(), unless a
  /// call hangs: then NCCL and the device still use the memory.
  Windows(const Library& nccl, Devices& devices) : nccl_(nccl), devices_(devices) {}

  /// Allocates and registers the memory of windows that have a slot, a communicator and a size.
  /// Waits for the other ranks of the communicators. Closes windows that an earlier call left.
  /// Throws Error and NoWindow.
  void open(std::vector<Window> wanted);
  /// The memory of the communicator's window, which must be open.
  [[nodiscard]] std::byte* memory(ncclComm_t communicator) const;
  /// Deregisters and frees all windows. The slots' streams must have no work left. Returns the
  /// first error.
  [[nodiscard]] ncclResult_t close();

 private:
  void register_all();
  [[nodiscard]] ncclResult_t register_memory(Window& window);

  const Library& nccl_;
  Devices& devices_;
  std::vector<Window> open_;
};

}  // namespace rankcheck::gpu::nccl
