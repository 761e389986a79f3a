#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "harness/base/files.hpp"

#include "tests/fuzz/targets.hpp"

/// The target's name is the first argument. The readers share most of their sources, so one program
/// has all targets.

namespace {

rankcheck::fuzz::Target chosen;

[[noreturn]] void stop(const char* what, const char* name) {
  std::fprintf(stderr, "%s: %s\n", name, what);
  std::exit(2);
}

/// Writes the target's seeds into a folder, where libFuzzer finds them.
void write_seeds(const std::filesystem::path& folder) {
  rankcheck::harness::make_folder(folder);
  int number = 0;
  for (const std::string& seed : chosen.seeds()) {
    rankcheck::harness::write_file(folder / std::to_string(number++), seed);
  }
}

}  // namespace

/// `TARGET FOLDER OPTIONS…`: writes the target's seeds into the folder and starts from them.
extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  char** const arguments = *argv;
  if (*argc < 3) stop("expected TARGET FOLDER OPTIONS...", arguments[0]);
  for (const rankcheck::fuzz::Target& each : rankcheck::fuzz::targets()) {
    if (each.name == arguments[1]) chosen = each;
  }
  if (chosen.fault_of == nullptr) stop("no such target", arguments[1]);
  write_seeds(arguments[2]);
  arguments[1] = arguments[0];
  ++*argv;
  --*argc;
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string fault = chosen.fault_of({reinterpret_cast<const char*>(data), size});
  if (fault.empty()) return 0;
  std::fprintf(stderr, "%s: %s\n", std::string(chosen.name).c_str(), fault.c_str());
  std::abort();
}
