#include "gpu/device/nccl/library.hpp"

#include <algorithm>

#include <cuda_runtime_api.h>

namespace rankcheck::gpu::nccl {

namespace {

/// The first line of a text that may be null or empty.
std::string first_line(const char* text) {
  const std::string whole = text == nullptr ? "" : text;
  return whole.substr(0, whole.find('\n'));
}

LibraryRequest request() {
  const std::string cuda = std::to_string(CUDART_VERSION / 1000);
#define RANKCHECK_NCCL_NAME(name) #name,
  return {nccl_library,
          "libnccl.so." + std::to_string(NCCL_MAJOR),
          {RANKCHECK_NCCL_REQUIRED(RANKCHECK_NCCL_NAME)},
          "install it (Debian: libnccl2; Python: `pip install nvidia-nccl-cu" + cuda + "`)"};
#undef RANKCHECK_NCCL_NAME
}

}  // namespace

Library::Library(const SearchPlaces& places) : loaded_(load_vendor_library(request(), places)) {
#define RANKCHECK_NCCL_FIND(name) loaded_.find(functions_.name, #name);
  RANKCHECK_NCCL_REQUIRED(RANKCHECK_NCCL_FIND)
#undef RANKCHECK_NCCL_FIND
#define RANKCHECK_NCCL_FIND(name) \
  if (!loaded_.find(functions_.name, #name)) missing_.emplace_back(#name);
  RANKCHECK_NCCL_OPTIONAL(RANKCHECK_NCCL_FIND)
#undef RANKCHECK_NCCL_FIND
  on_host_ = loaded_.symbol("rankcheck_nccl_on_host") != nullptr;
  const auto* const folder =
      static_cast<const char* const*>(loaded_.symbol("rankcheck_nccl_shared_memory"));
  if (folder != nullptr) shared_memory_ = *folder;
  check(functions_.ncclGetVersion(&version_), "ncclGetVersion");
}

std::string Library::version_text() const {
  // The patch level has two digits. Until 2.8, the minor version had one digit.
  const int scale = version_ < 10000 ? 1000 : 10000;
  return std::to_string(version_ / scale) + "." + std::to_string(version_ % scale / 100) + "." +
         std::to_string(version_ % 100);
}

bool Library::has(std::string_view function) const {
  return std::find(missing_.begin(), missing_.end(), function) == missing_.end();
}

void Library::check(ncclResult_t code, std::string_view what) const {
  if (code == ncclSuccess) return;
  std::string text = std::string(what) + ": " + first_line(functions_.ncclGetErrorString(code));
  if (functions_.ncclGetLastError != nullptr) {
    const std::string last = first_line(functions_.ncclGetLastError(nullptr));
    if (!last.empty()) text += " (" + last + ")";
  }
  throw Error(text, code);
}

}  // namespace rankcheck::gpu::nccl
