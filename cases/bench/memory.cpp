#include "cases/bench/memory.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <unistd.h>

namespace rankcheck::cases::bench {

namespace {

namespace fs = std::filesystem;

/// A line "<key>: <number> …" of /proc/<id>/status; 0 where there is none.
double status_of(int id, const std::string& key) {
  std::ifstream status("/proc/" + std::to_string(id) + "/status");
  for (std::string word; status >> word;) {
    if (word != key + ":") continue;
    double value = 0;
    status >> value;
    return value;
  }
  return 0;
}

/// This process and, below it, all that it started and that are still there.
std::vector<int> process_tree() {
  std::map<int, std::vector<int>> children;
  std::error_code unreadable;
  for (const fs::directory_entry& entry : fs::directory_iterator("/proc", unreadable)) {
    const std::string name = entry.path().filename();
    if (!std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; })) {
      continue;
    }
    const int id = std::stoi(name);
    children[static_cast<int>(status_of(id, "PPid"))].push_back(id);
  }
  std::vector<int> tree{::getpid()};
  for (std::size_t i = 0; i < tree.size(); ++i) {
    const std::vector<int>& below = children[tree[i]];
    tree.insert(tree.end(), below.begin(), below.end());
  }
  return tree;
}

}  // namespace

double peak_memory_bytes() {
  double kilobytes = 0;
  for (const int id : process_tree()) kilobytes += status_of(id, "VmHWM");
  return 1024 * kilobytes;
}

void restart_peak_memory() {
  for (const int id : process_tree()) {
    std::ofstream("/proc/" + std::to_string(id) + "/clear_refs") << "5";
  }
}

}  // namespace rankcheck::cases::bench
