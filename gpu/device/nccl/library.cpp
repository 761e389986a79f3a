#include "gpu/device/nccl/library.hpp"

#include <algorithm>

#include <dlfcn.h>

namespace rankcheck::gpu::nccl {

namespace {

/// The file that holds the function.
std::string file_of(void* function, const std::string& fallback) {
  Dl_info info{};
  return ::dladdr(function, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : fallback;
}

/// The first line of a text that may be null or empty.
std::string first_line(const char* text) {
  const std::string whole = text == nullptr ? "" : text;
  return whole.substr(0, whole.find('\n'));
}

}  // namespace

Library::Library(const std::string& path) {
  void* const handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    throw std::runtime_error(
        "NCCL cannot be loaded: " + first_line(::dlerror()) +
        ": install it (Debian: libnccl2), or name its file with --nccl-library");
  }
  std::vector<std::string_view> required;
  const auto find = [&](auto& function, const char* name, std::vector<std::string_view>& absent) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(handle, name));
    if (function == nullptr) absent.emplace_back(name);
  };
#define RANKCHECK_NCCL_FIND(name) find(functions_.name, #name, required);
  RANKCHECK_NCCL_REQUIRED(RANKCHECK_NCCL_FIND)
#undef RANKCHECK_NCCL_FIND
#define RANKCHECK_NCCL_FIND(name) find(functions_.name, #name, missing_);
  RANKCHECK_NCCL_OPTIONAL(RANKCHECK_NCCL_FIND)
#undef RANKCHECK_NCCL_FIND
  if (!required.empty()) {
    throw std::runtime_error(path + ": no NCCL: it has no function " +
                             std::string(required.front()));
  }
  path_ = file_of(reinterpret_cast<void*>(functions_.ncclGetVersion), path);
  on_host_ = ::dlsym(handle, "rankcheck_nccl_on_host") != nullptr;
  check(functions_.ncclGetVersion(&version_), "ncclGetVersion");
}

std::string Library::version_text() const {
  // The patch level has two digits; the minor version had one until 2.8.
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
