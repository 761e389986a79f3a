#pragma once

#include <array>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

/// Vendor libraries that are loaded while a program runs. No program is linked with them.
namespace rankcheck::gpu {

/// A library, and how users name its file.
struct VendorLibrary {
  const char* name;
  /// The program's option, which sets the variable.
  const char* option;
  /// The environment variable.
  const char* variable;
};
inline constexpr VendorLibrary cufft_library{"cuFFT", "--cufft-library", "RANKCHECK_CUFFT_LIBRARY"};
inline constexpr VendorLibrary nccl_library{"NCCL", "--nccl-library", "RANKCHECK_NCCL_LIBRARY"};
inline constexpr std::array vendor_libraries{cufft_library, nccl_library};

/// The library that a program needs.
struct LibraryRequest {
  VendorLibrary library;
  /// The file's name without a folder, for example "libnccl.so.2".
  std::string soname;
  /// A file that lacks one of these functions is not the library.
  std::vector<const char*> functions;
  /// What to do if the library is missing: the first words of a sentence that continues.
  std::string remedy;
};

/// The places to search for a library.
struct SearchPlaces {
  /// The value of an environment variable; empty if it is not set.
  std::function<std::string(const char* name)> variable;
  /// The folder that contains the system's usr/.
  std::filesystem::path root = "/";
};
/// This process's environment and this machine's folders.
[[nodiscard]] SearchPlaces this_machine();

/// A library that stays loaded until the process ends, because it may start threads.
struct LoadedLibrary {
  /// What dlopen() returned.
  void* handle = nullptr;
  std::string file;
  /// Why this file was taken, for example "found by the dynamic linker".
  std::string reason;

  /// File and reason, for people.
  [[nodiscard]] std::string text() const { return file + " (" + reason + ")"; }

  /// The address of a function or a variable. Null if the library has none of this name.
  [[nodiscard]] void* symbol(const char* name) const;
  /// Sets `function` to the function of this name. Returns whether the library has it.
  template <class Function>
  bool find(Function*& function, const char* name) const {
    function = reinterpret_cast<Function*>(symbol(name));
    return function != nullptr;
  }
};

/// Loads the file that the library's variable names. If the variable is not set, loads the first
/// file that works, in this order:
/// - the file that the dynamic linker finds by the name;
/// - the CUDA Toolkit: CUDA_HOME, CUDA_PATH, around nvcc on PATH, CONDA_PREFIX, /usr/local/cuda;
/// - Python packages: PYTHONPATH, VIRTUAL_ENV, CONDA_PREFIX, around each python on PATH, the user's
///   and the system's folders of packages.
/// Throws DeviceError with one line, which says why each file that was found does not work.
[[nodiscard]] LoadedLibrary load_vendor_library(const LibraryRequest& request,
                                                const SearchPlaces& places);

}  // namespace rankcheck::gpu
