#include "gpu/device/vendor_library.hpp"

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <system_error>

#include <dlfcn.h>
#include <link.h>

#include "gpu/device/cluster.hpp"

namespace rankcheck::gpu {

namespace {

namespace fs = std::filesystem;

/// A file that may be the library, and where it was found.
struct Candidate {
  std::string file;
  std::string reason;
};

std::string first_line(const char* text) {
  const std::string whole = text == nullptr ? "" : text;
  return whole.substr(0, whole.find('\n'));
}

/// The folders in `parent` whose names begin with `prefix`, in order; empty if `parent` is
/// unreadable.
std::vector<fs::path> folders_in(const fs::path& parent, std::string_view prefix = "") {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator it(parent, error), end; !error && it != end; it.increment(error)) {
    std::error_code unreadable;
    const bool has_prefix = it->path().filename().string().starts_with(prefix);
    if (has_prefix && it->is_directory(unreadable)) found.push_back(it->path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

/// The non-empty parts of a variable such as PATH.
std::vector<fs::path> parts_of(const std::string& list) {
  std::vector<fs::path> parts;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(':', begin), list.size());
    if (end > begin) parts.emplace_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

/// Lists the files in the usual places, each file once.
class Search {
 public:
  Search(const std::string& soname, const SearchPlaces& places)
      : soname_(soname), places_(places) {}

  [[nodiscard]] std::vector<Candidate> candidates() {
    look_in_toolkits();
    look_in_packages();
    return std::move(found_);
  }

 private:
  void look_in_toolkits() {
    for (const char* name : {"CUDA_HOME", "CUDA_PATH"}) look_in_toolkit_of(name);
    for (const fs::path& prefix : prefixes_of("nvcc")) {
      look_in_toolkit(prefix, "in the toolkit of nvcc on PATH");
    }
    look_in_toolkit_of("CONDA_PREFIX");
    look_in_toolkit(places_.root / "usr/local/cuda", "in /usr/local/cuda");
  }

  void look_in_packages() {
    for (const fs::path& each : parts_of(places_.variable("PYTHONPATH"))) look_in_package(each);
    for (const char* name : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
      if (const std::string prefix = places_.variable(name); !prefix.empty()) {
        look_in_python(prefix);
      }
    }
    for (const char* program : {"python3", "python"}) {
      for (const fs::path& prefix : prefixes_of(program)) look_in_python(prefix);
    }
    if (const std::string home = places_.variable("HOME"); !home.empty()) {
      look_in_python(fs::path(home) / ".local");
    }
    for (const char* prefix : {"usr/local", "usr"}) look_in_python(places_.root / prefix);
  }

  /// The folders that contain bin/<program>, found through PATH: each folder itself, and where its
  /// links lead.
  [[nodiscard]] std::vector<fs::path> prefixes_of(const char* program) const {
    std::vector<fs::path> prefixes;
    for (const fs::path& folder : parts_of(places_.variable("PATH"))) {
      std::error_code error;
      const fs::path target = fs::canonical(folder / program, error);
      if (error) continue;
      prefixes.push_back(folder.parent_path());
      prefixes.push_back(target.parent_path().parent_path());
    }
    return prefixes;
  }

  void look_in_toolkit_of(const char* variable) {
    const std::string folder = places_.variable(variable);
    if (!folder.empty()) look_in_toolkit(folder, std::string("in ") + variable);
  }

  void look_in_toolkit(const fs::path& folder, const std::string& reason) {
    for (const char* part : {"lib64", "lib", "targets/x86_64-linux/lib"}) {
      add(folder / part, reason);
    }
  }

  /// A Python installation with this prefix has its packages in several folders.
  void look_in_python(const fs::path& prefix) {
    for (const char* library : {"lib", "lib64"}) {
      for (const fs::path& python : folders_in(prefix / library, "python3")) {
        for (const char* packages : {"site-packages", "dist-packages"}) {
          look_in_package(python / packages);
        }
      }
    }
  }

  void look_in_package(const fs::path& folder) {
    for (const fs::path& package : folders_in(folder / "nvidia")) {
      add(package / "lib", "in the Python package folder " + folder.string());
    }
  }

  void add(const fs::path& folder, const std::string& reason) {
    const fs::path file = folder / soname_;
    std::error_code error;
    const fs::path target = fs::canonical(file, error);
    if (error || std::find(targets_.begin(), targets_.end(), target) != targets_.end()) return;
    targets_.push_back(target);
    found_.push_back({file.string(), reason});
  }

  const std::string& soname_;
  const SearchPlaces& places_;
  std::vector<Candidate> found_;
  std::vector<fs::path> targets_;
};

/// Loads a file. Returns null, with the reason in `complaint`, if the file is not the library.
void* open(const LibraryRequest& request, const std::string& file, std::string& complaint) {
  void* const handle = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    complaint = first_line(::dlerror());
    return nullptr;
  }
  for (const char* function : request.functions) {
    if (::dlsym(handle, function) != nullptr) continue;
    complaint = file + ": not " + request.library.name + ": it has no function " + function;
    ::dlclose(handle);
    return nullptr;
  }
  return handle;
}

/// The path of a loaded library. The dynamic linker may have found it elsewhere than at `fallback`.
std::string file_of(void* handle, const std::string& fallback) {
  link_map* map = nullptr;
  const bool is_known = ::dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && *map->l_name != '\0';
  return is_known ? map->l_name : fallback;
}

}  // namespace

void* LoadedLibrary::symbol(const char* name) const {
  return ::dlsym(handle, name);
}

SearchPlaces this_machine() {
  return {.variable = [](const char* name) -> std::string {
    const char* const value = std::getenv(name);
    return value == nullptr ? "" : value;
  }};
}

LoadedLibrary load_vendor_library(const LibraryRequest& request, const SearchPlaces& places) {
  const VendorLibrary& library = request.library;
  std::vector<Candidate> candidates;
  if (const std::string named = places.variable(library.variable); !named.empty()) {
    candidates.push_back(
        {named, std::string("named by ") + library.option + " or " + library.variable});
  } else {
    candidates = Search(request.soname, places).candidates();
    candidates.insert(candidates.begin(), {request.soname, "found by the dynamic linker"});
  }
  std::string complaints;
  for (const Candidate& each : candidates) {
    std::string complaint;
    if (void* const handle = open(request, each.file, complaint); handle != nullptr) {
      return {handle, file_of(handle, each.file), each.reason};
    }
    // The dynamic linker found no such file, which is not worth a complaint.
    if (complaint.starts_with(request.soname + ": cannot open shared object file")) continue;
    complaints += (complaints.empty() ? "" : "; ") + complaint;
  }
  if (complaints.empty()) complaints = "no " + request.soname + " is in any of the usual places";
  throw DeviceError(std::string(library.name) + " cannot be loaded: " + complaints + ": " +
                    request.remedy + ", or name its file with " + library.option + " PATH");
}

}  // namespace rankcheck::gpu
