#include "gpu/device/nccl/windows.hpp"

#include <algorithm>
#include <utility>

#include "reference/spec/to_size.hpp"

namespace rankcheck::gpu::nccl {

void Windows::open(std::vector<Window> wanted) {
  nccl_.check(close(), "ncclCommWindowDeregister");
  if (wanted.empty()) return;
  for (Window& each : wanted) {
    void* memory = nullptr;
    devices_.use(each.slot);
    nccl_.check(nccl_->ncclMemAlloc(&memory, spec::to_size(each.bytes)), "ncclMemAlloc");
    each.memory = static_cast<std::byte*>(memory);
    open_.push_back(each);
  }
  register_all();
  const auto missing = std::find_if(
      open_.begin(), open_.end(), [](const Window& each) { return !each.is_registered(); });
  if (missing == open_.end()) return;
  const bool is_symmetric = missing->is_symmetric;
  nccl_.check(close(), "ncclCommWindowDeregister");
  throw NoWindow(is_symmetric
                     ? "algorithm: ncclCommWindowRegister gave no window: NCCL has no symmetric "
                       "memory between these ranks"
                     : "algorithm: ncclCommRegister registered nothing");
}

ncclResult_t Windows::register_memory(Window& window) {
  const std::size_t bytes = spec::to_size(window.bytes);
  if (window.is_symmetric) {
    return nccl_->ncclCommWindowRegister(
        window.communicator, window.memory, bytes, &window.handle, NCCL_WIN_COLL_SYMMETRIC);
  }
  return nccl_->ncclCommRegister(window.communicator, window.memory, bytes, &window.registration);
}

void Windows::register_all() {
  nccl_.check(nccl_->ncclGroupStart(), "ncclGroupStart");
  ncclResult_t code = ncclSuccess;
  for (Window& each : open_) {
    devices_.use(each.slot);
    code = register_memory(each);
    if (code != ncclSuccess) break;
  }
  // Until the group ends, NCCL has not filled the handles.
  const ncclResult_t end = nccl_->ncclGroupEnd();
  nccl_.check(code, "the registration of memory");
  nccl_.check(end, "ncclGroupEnd with the registration of memory");
}

std::byte* Windows::memory(ncclComm_t communicator) const {
  return std::find_if(open_.begin(),
                      open_.end(),
                      [&](const Window& each) { return each.communicator == communicator; })
      ->memory;
}

ncclResult_t Windows::close() {
  ncclResult_t first = ncclSuccess;
  const auto note = [&](ncclResult_t code) {
    if (first == ncclSuccess) first = code;
  };
  for (const Window& each : std::exchange(open_, {})) {
    devices_.use(each.slot);
    if (each.handle != nullptr) {
      note(nccl_->ncclCommWindowDeregister(each.communicator, each.handle));
    }
    if (each.registration != nullptr) {
      note(nccl_->ncclCommDeregister(each.communicator, each.registration));
    }
    note(nccl_->ncclMemFree(each.memory));
  }
  return first;
}

}  // namespace rankcheck::gpu::nccl
