#include "gpu/device/vendor_library.hpp"

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <link.h>

#include "gpu/device/cluster.hpp"

#include "harness/base/files.hpp"

#include "tests/harness/sample.hpp"
#include "tests/harness/text.hpp"

/// The search for vendors' libraries. A copy of the C library's libm plays the vendor's library.
namespace rankcheck::gpu {
namespace {

namespace fs = std::filesystem;

constexpr const char* soname = "libvendor.so.7";

class VendorLibrariesTest : public testing::Test {
 protected:
  /// Puts a working library of this name into a folder. Returns its path.
  fs::path put(const fs::path& folder, const std::string& name = soname) {
    link_map* map = nullptr;
    ::dlinfo(::dlopen("libm.so.6", RTLD_NOW), RTLD_DI_LINKMAP, &map);
    fs::path file = at(folder) / name;
    fs::create_directories(file.parent_path());
    fs::copy_file(fs::canonical(map->l_name), file);
    return file;
  }
  /// Puts a file of the same name that cannot be loaded into a folder. Returns its path.
  fs::path put_broken(const fs::path& folder) {
    fs::path file = at(folder) / soname;
    fs::create_directories(file.parent_path());
    harness::write_file(file, "no library");
    return file;
  }
  /// Creates a program and a symbolic link to it.
  void link_program(const fs::path& link, const fs::path& target) {
    for (const fs::path& each : {link, target}) fs::create_directories(at(each).parent_path());
    harness::write_file(at(target), "");
    fs::create_symlink(at(target), at(link));
  }
  [[nodiscard]] fs::path at(const fs::path& path) const { return folder_.path() / path; }
  void set(const std::string& name, const std::string& value) { environment_[name] = value; }

  [[nodiscard]] LoadedLibrary load(const std::string& name = soname,
                                   const std::string& function = "cbrt") const {
    const auto variable = [this](const char* asked) {
      const auto found = environment_.find(asked);
      return found == environment_.end() ? std::string() : found->second;
    };
    return load_vendor_library({.library = {"Vendor", "--vendor-library", "VENDOR_LIBRARY"},
                                .soname = name,
                                .functions = {function.c_str()},
                                .remedy = "install it"},
                               {.variable = variable, .root = at("root")});
  }
  [[nodiscard]] std::string complaint(const std::string& function = "cbrt") const {
    return harness::complaint_of<DeviceError>([&] { return load(soname, function); });
  }

 private:
  std::map<std::string, std::string> environment_;
  harness::TemporaryFolder folder_;
};

TEST_F(VendorLibrariesTest, AreTriedInOrder) {
  set("CUDA_HOME", at("home"));
  set("CUDA_PATH", at("path"));
  set("CONDA_PREFIX", at("conda"));
  set("VIRTUAL_ENV", at("venv"));
  set("PYTHONPATH", std::string(at("nothing")) + "::" + std::string(at("modules")));
  set("PATH",
      std::string(at("tools/bin")) + ":" + std::string(at("py/bin")) + ":" +
          std::string(at("named_python/bin")));
  set("HOME", at("user"));
  link_program("tools/bin/nvcc", "toolkit/bin/nvcc");
  link_program("py/bin/python3", "python/bin/python3.11");
  link_program("named_python/bin/python", "pyenv/bin/python3.8");
  const auto packages = [this](const std::string& folder) {
    return "in the Python package folder " + at(folder).string();
  };
  const std::vector<std::pair<fs::path, std::string>> order{
      {"home/lib64", "in CUDA_HOME"},
      {"home/lib", "in CUDA_HOME"},
      {"path/targets/x86_64-linux/lib", "in CUDA_PATH"},
      {"tools/lib", "in the toolkit of nvcc on PATH"},
      {"toolkit/lib64", "in the toolkit of nvcc on PATH"},
      {"conda/lib", "in CONDA_PREFIX"},
      {"root/usr/local/cuda/lib64", "in /usr/local/cuda"},
      {"modules/nvidia/cu12/lib", packages("modules")},
      {"modules/nvidia/cu13/lib", packages("modules")},
      {"venv/lib/python3.9/site-packages/nvidia/vendor/lib",
       packages("venv/lib/python3.9/site-packages")},
      {"conda/lib/python3.12/site-packages/nvidia/vendor/lib",
       packages("conda/lib/python3.12/site-packages")},
      {"py/lib/python3.11/site-packages/nvidia/vendor/lib",
       packages("py/lib/python3.11/site-packages")},
      {"python/lib64/python3.11/dist-packages/nvidia/vendor/lib",
       packages("python/lib64/python3.11/dist-packages")},
      {"named_python/lib/python3.8/site-packages/nvidia/vendor/lib",
       packages("named_python/lib/python3.8/site-packages")},
      {"user/.local/lib/python3.11/site-packages/nvidia/vendor/lib",
       packages("user/.local/lib/python3.11/site-packages")},
      {"root/usr/local/lib/python3.9/dist-packages/nvidia/vendor/lib",
       packages("root/usr/local/lib/python3.9/dist-packages")},
      {"root/usr/lib/python3/dist-packages/nvidia/vendor/lib",
       packages("root/usr/lib/python3/dist-packages")}};
  for (const auto& [folder, reason] : order) put(folder);
  for (const auto& [folder, reason] : order) {
    const LoadedLibrary found = load();
    EXPECT_EQ(found.file, at(folder) / soname);
    EXPECT_EQ(found.reason, reason);
    fs::remove(at(folder) / soname);
  }
  EXPECT_EQ(complaint(),
            "Vendor cannot be loaded: no libvendor.so.7 is in any of the usual places: install it, "
            "or name its file with --vendor-library PATH");
}

TEST_F(VendorLibrariesTest, AreFirstLookedForByTheDynamicLinker) {
  set("CUDA_HOME", at("home"));
  put("home/lib64", "libm.so.6");
  const LoadedLibrary found = load("libm.so.6");
  EXPECT_EQ(found.reason, "found by the dynamic linker");
  // The path says which library was found.
  EXPECT_TRUE(found.file.starts_with('/')) << found.file;
}

TEST_F(VendorLibrariesTest, AreTheFileThatIsNamedAndNoOther) {
  set("CUDA_HOME", at("home"));
  put("home/lib64");
  const fs::path named = put("mine");
  set("VENDOR_LIBRARY", named);
  EXPECT_EQ(load().file, named);
  EXPECT_EQ(load().reason, "named by --vendor-library or VENDOR_LIBRARY");
  set("VENDOR_LIBRARY", at("absent"));
  EXPECT_EQ(complaint(),
            "Vendor cannot be loaded: " + at("absent").string() +
                ": cannot open shared object file: No such file or directory: install it, or name "
                "its file with --vendor-library PATH");
}

TEST_F(VendorLibrariesTest, AreTakenFromTheNextPlaceWhereOneIsBroken) {
  set("CUDA_HOME", at("home"));
  set("CUDA_PATH", at("path"));
  const std::string broken = put_broken("home/lib64");
  // The same file by another path is not tried again.
  fs::create_symlink(at("home/lib64"), at("home/lib"));
  const fs::path works = put("path/lib64");
  EXPECT_EQ(load().file, works);
  const std::string why = complaint("no_function_of_it");
  EXPECT_TRUE(
      harness::has(why,
                   broken + ": file too short; ",
                   works.string() + ": not Vendor: it has no function no_function_of_it: "));
  EXPECT_EQ(why.find("too short"), why.rfind("too short")) << why;
  EXPECT_EQ(why.find('\n'), std::string::npos) << why;
}

}  // namespace
}  // namespace rankcheck::gpu
