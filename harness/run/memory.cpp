#include "harness/run/memory.hpp"

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <string>

#include <fmt/format.h>
#include <unistd.h>

#include "harness/base/bad_input.hpp"

namespace rankcheck::harness::run {

namespace {

namespace fs = std::filesystem;

/// Where a version of Linux's control groups keeps what is known about a group's memory.
struct ControlGroups {
  std::string_view mount;
  std::string_view limit;
  std::string_view usage;
  /// The name of the bytes in memory.stat that the kernel can take back.
  std::string_view reclaimable;
};

constexpr ControlGroups version_1{
    "memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"};
constexpr ControlGroups version_2{"", "memory.max", "memory.current", "inactive_file"};

/// Returns the number behind a word in a file; without a word, the number at the file's start.
/// Empty if there is none.
std::optional<std::int64_t> number_in(const fs::path& path, std::string_view name = {}) {
  std::ifstream file(path);
  std::string word;
  while (!name.empty() && file >> word && word != name) {
  }
  std::int64_t number = 0;
  return file >> number ? std::optional(number) : std::nullopt;
}

/// Returns the bytes that a control group leaves. Empty if it has no limit.
std::optional<std::int64_t> room_of(const ControlGroups& groups, const fs::path& folder) {
  const auto limit = number_in(folder / groups.limit);
  if (!limit) return std::nullopt;
  const std::int64_t used = number_in(folder / groups.usage).value_or(0) -
                            number_in(folder / "memory.stat", groups.reclaimable).value_or(0);
  return std::max<std::int64_t>(0, *limit - std::max<std::int64_t>(0, used));
}

/// Returns the bytes that this process's control groups leave, and all groups that contain them.
std::int64_t room_of_groups(const fs::path& root) {
  std::int64_t room = std::numeric_limits<std::int64_t>::max();
  std::ifstream file(root / "proc/self/cgroup");
  // A line is like "4:memory:/user" in version 1, and "0::/user" in version 2.
  for (std::string line; std::getline(file, line);) {
    const std::size_t first = std::min(line.find(':'), line.size());
    const std::size_t second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = ',' + line.substr(first + 1, second - first - 1) + ',';
    const bool is_version_2 = controllers == ",,";
    if (!is_version_2 && controllers.find(",memory,") == std::string::npos) continue;
    const ControlGroups& groups = is_version_2 ? version_2 : version_1;
    fs::path folder = root / "sys/fs/cgroup" / groups.mount;
    room = std::min(room, room_of(groups, folder).value_or(room));
    for (const fs::path& each : fs::path(line.substr(second + 1)).relative_path()) {
      folder /= each;
      room = std::min(room, room_of(groups, folder).value_or(room));
    }
  }
  return room;
}

}  // namespace

std::int64_t available_memory(const std::filesystem::path& root) {
  constexpr std::int64_t bytes_per_kib = 1024;
  const auto kib = number_in(root / "proc/meminfo", "MemAvailable:");
  const std::int64_t bytes =
      kib ? *kib * bytes_per_kib
          : std::int64_t{::sysconf(_SC_PHYS_PAGES)} * ::sysconf(_SC_PAGESIZE);
  return std::min(bytes, room_of_groups(root));
}

void require_memory(std::string_view place, int ranks, double bytes) {
  require_memory(place, fmt::format("the buffers of {} ranks", ranks), bytes);
}

void require_memory(std::string_view place,
                    std::string_view what,
                    double bytes,
                    MemoryShare share) {
  constexpr double bytes_per_gib = 1024.0 * 1024.0 * 1024.0;
  const bool is_quarter = share == MemoryShare::quarter;
  const double bytes_max = static_cast<double>(::sysconf(_SC_PHYS_PAGES)) *
                           static_cast<double>(::sysconf(_SC_PAGESIZE)) *
                           (is_quarter ? 0.25 : 0.75);
  if (bytes <= bytes_max) return;
  throw BadInput(
      fmt::format("{}: {} take {:.1f} GiB: expected at most {:.1f}, {} of this machine's memory",
                  place,
                  what,
                  bytes / bytes_per_gib,
                  bytes_max / bytes_per_gib,
                  is_quarter ? "a quarter" : "three quarters"));
}

}  // namespace rankcheck::harness::run
