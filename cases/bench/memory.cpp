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

/// Returns the number of the line "<key>: <number> …" in a file of /proc/<id>. Returns 0 if there
/// is no such line.
double number_of(int id, const char* file, const std::string& key) {
  std::ifstream lines("/proc/" + std::to_string(id) + "/" + file);
  for (std::string word; lines >> word;) {
    if (word != key + ":") continue;
    double value = 0;
    lines >> value;
    return value;
  }
  return 0;
}

/// Returns the part of a process's memory that counts for other processes, in kilobytes. If n
/// processes share a page, this is all but the n-th part of the page.
double shared_with_others(int id) {
  constexpr const char* file = "smaps_rollup";
  const double proportional = number_of(id, file, "Pss");
  return proportional > 0 ? number_of(id, file, "Rss") - proportional : 0;
}

/// Returns the ids of this process and of all its living descendants.
std::vector<int> process_tree() {
  std::map<int, std::vector<int>> children;
  std::error_code unreadable;
  for (const fs::directory_entry& entry : fs::directory_iterator("/proc", unreadable)) {
    const std::string name = entry.path().filename();
    if (!std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; })) {
      continue;
    }
    const int id = std::stoi(name);
    children[static_cast<int>(number_of(id, "status", "PPid"))].push_back(id);
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
  for (const int id : process_tree()) {
    // The system keeps no peak of the shared part, so the present value is used.
    kilobytes += number_of(id, "status", "VmHWM") - shared_with_others(id);
  }
  return 1024 * kilobytes;
}

void restart_peak_memory() {
  for (const int id : process_tree()) {
    std::ofstream("/proc/" + std::to_string(id) + "/clear_refs") << "5";
  }
}

}  // namespace rankcheck::cases::bench
