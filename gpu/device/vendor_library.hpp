#pragma once

#include <array>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

/// Libraries of a vendor, which are loaded while a program runs: no program is linked with one.
namespace rankcheck::gpu {

/// A library, and how users name its file.
struct VendorLibrary {
  const char* name;
  /// An option of the program, which sets the variable.
  const char* option;
  /// An environment variable.
  const char* variable;
};
inline constexpr VendorLibrary cufft_library{"cuFFT", "--cufft-library", "RANKCHECK_CUFFT_LIBRARY"};
inline constexpr VendorLibrary nccl_library{"NCCL", "--nccl-library", "RANKCHECK_NCCL_LIBRARY"};
inline constexpr std::array vendor_libraries{cufft_library, nccl_library};

/// What a program asks of a library.
struct LibraryRequest {
  VendorLibrary library;
  /// The file's name, without a folder: "libnccl.so.2".
  std::string soname;
  /// A file without one of these is not the library.
  std::vector<const char*> functions;
  /// What to do where it is missing: the first words of a sentence that goes on.
  std::string remedy;
};

/// What decides where a library is looked for.
struct SearchPlaces {
  /// The value of an environment variable; empty where it is not set.
  std::function<std::string(const char* name)> variable;
  /// The folder that has the system's usr/.
  std::filesystem::path root = "/";
};
/// This process's environment and this machine's folders.
[[nodiscard]] SearchPlaces this_machine();

/// A library that stays loaded until the process ends, because it may start threads.
struct LoadedLibrary {
  /// For dlsym().
  void* handle = nullptr;
  std::string file;
  /// Why this file was taken: "found by the dynamic linker", say.
  std::string reason;

  /// Both, for people.
  [[nodiscard]] std::string text() const { return file + " (" + reason + ")"; }
};

/// Loads the file that the library's variable names. If the variable is not set, loads the first
/// file that works, in this order:
/// - what the dynamic linker finds by the name;
/// - the CUDA Toolkit: CUDA_HOME, CUDA_PATH, around nvcc on PATH, CONDA_PREFIX, /usr/local/cuda;
/// - Python packages: PYTHONPATH, VIRTUAL_ENV, CONDA_PREFIX, around each python on PATH, the user's
///   and the system's folders of packages.
/// Throws DeviceError with one line, which says why each file that was found does not work.
[[nodiscard]] LoadedLibrary load_vendor_library(const LibraryRequest& request,
                                                const SearchPlaces& places);

}  // namespace rankcheck::gpu
