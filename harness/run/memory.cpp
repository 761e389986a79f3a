#include "harness/run/memory.hpp"

#include <fstream>
#include <string>

#include <fmt/format.h>
#include <unistd.h>

#include "harness/case.hpp"

namespace rankcheck::harness::run {

std::int64_t available_memory() {
  constexpr std::int64_t bytes_per_kib = 1024;
  std::ifstream file("/proc/meminfo");
  std::string word;
  while (file >> word) {
    std::int64_t kib = 0;
    if (word == "MemAvailable:" && file >> kib) return kib * bytes_per_kib;
  }
  return std::int64_t{::sysconf(_SC_PHYS_PAGES)} * ::sysconf(_SC_PAGESIZE);
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
