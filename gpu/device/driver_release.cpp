#include "gpu/device/driver_release.hpp"

#include <fstream>
#include <iterator>
#include <regex>

namespace rankcheck::gpu {

std::string driver_release_in(const std::string& text) {
  // The first line has no other word of numbers with dots between them.
  static const std::regex release(R"((^|\s)(\d+\.\d+(\.\d+)?)(\s|$))");
  std::smatch found;
  return std::regex_search(text, found, release) ? found.str(2) : std::string();
}

std::string driver_release() {
  std::ifstream file("/proc/driver/nvidia/version");
  return driver_release_in({std::istreambuf_iterator<char>(file), {}});
}

}  // namespace rankcheck::gpu
