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
  const bool has_all =
      std::all_of(open_.begin(), open_.end(), [](const Window& w) { return w.handle != nullptr; });
  if (has_all) return;
  nccl_.check(close(), "ncclCommWindowDeregister");
  throw NoWindow(
      "algorithm: ncclCommWindowRegister gave no window: NCCL has no symmetric memory between "
      "these ranks");
}

void Windows::register_all() {
  nccl_.check(nccl_->ncclGroupStart(), "ncclGroupStart");
  ncclResult_t code = ncclSuccess;
  for (Window& each : open_) {
    devices_.use(each.slot);
    code = nccl_->ncclCommWindowRegister(each.communicator,
                                         each.memory,
                                         spec::to_size(each.bytes),
                                         &each.handle,
                                         NCCL_WIN_COLL_SYMMETRIC);
    if (code != ncclSuccess) break;
  }
  // Until the group ends, NCCL has not filled the handles.
  const ncclResult_t end = nccl_->ncclGroupEnd();
  nccl_.check(code, "ncclCommWindowRegister");
  nccl_.check(end, "ncclGroupEnd with ncclCommWindowRegister");
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
    note(nccl_->ncclMemFree(each.memory));
  }
  return first;
}

}  // namespace rankcheck::gpu::nccl
