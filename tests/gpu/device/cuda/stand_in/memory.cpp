#include "tests/gpu/device/cuda/stand_in/memory.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <sys/mman.h>

#include "tests/gpu/device/cuda/stand_in/faults.hpp"

namespace rankcheck::stand_in {

namespace {

constexpr std::size_t alignment = 256;
/// Bytes behind every allocation. Their content shows whether somebody wrote there.
constexpr std::size_t guard_bytes = 256;
constexpr int guard = 0xa5;
/// Fills fresh and freed memory: NaN in every floating-point type.
constexpr int garbage = 0xff;

/// Returns the devices of RANKCHECK_STAND_IN_DEVICES that CUDA_VISIBLE_DEVICES names. A list ends
/// before its first number that is not a device.
const std::vector<int>& visible() {
  static const std::vector<int> all = [] {
    const char* wanted = std::getenv("RANKCHECK_STAND_IN_DEVICES");
    const int count = wanted == nullptr ? 2 : std::clamp(std::atoi(wanted), 0, 64);
    const char* named = std::getenv("CUDA_VISIBLE_DEVICES");
    std::vector<int> found;
    if (named == nullptr) {
      for (int d = 0; d < count; ++d) found.push_back(d);
      return found;
    }
    std::istringstream words(named);
    for (std::string word; std::getline(words, word, ',');) {
      const int device = word.empty() ? -1 : std::atoi(word.c_str());
      if (device < 0 || device >= count) break;
      found.push_back(device);
    }
    return found;
  }();
  return all;
}

class Memory {
 public:
  Memory() {
    void* const made = ::mmap(
        nullptr, memory_bytes(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (made == MAP_FAILED) std::abort();
    // Opening and closing take time per page, so use huge pages.
    static_cast<void>(::madvise(made, memory_bytes(), MADV_HUGEPAGE));
    begin_ = static_cast<std::byte*>(made);
  }

  std::byte* allocate(std::size_t bytes) {
    const std::size_t room = room_for(bytes);
    std::byte* at = begin_;
    for (const auto& [taken, size] : blocks_) {
      if (static_cast<std::size_t>(taken - at) >= room) break;
      at = taken + room_for(size);
    }
    if (static_cast<std::size_t>(begin_ + memory_bytes() - at) < room) return nullptr;
    if (is_planted("shared_memory") && !blocks_.empty() && blocks_.begin()->second >= bytes) {
      return blocks_.begin()->first;
    }
    blocks_[at] = bytes;
    used_ += room;
    const bool was_open = open(true);
    std::memset(at, garbage, bytes);
    std::memset(at + bytes, guard, room - bytes);
    open(was_open);
    return at;
  }

  bool release(const std::byte* memory) {
    const auto found = blocks_.find(const_cast<std::byte*>(memory));
    if (found == blocks_.end()) return false;
    const auto [at, bytes] = *found;
    const bool was_open = open(true);
    expect_guard(at, bytes);
    std::memset(at, garbage, bytes);
    open(was_open);
    used_ -= room_for(bytes);
    blocks_.erase(found);
    return true;
  }

  void expect_guards() {
    const bool was_open = open(true);
    for (const auto& [at, bytes] : blocks_) expect_guard(at, bytes);
    open(was_open);
  }

  [[nodiscard]] std::size_t used() const { return used_; }

  void add_held(std::vector<Held>& all) const {
    for (const auto& [at, bytes] : blocks_) all.push_back({at, {at, at + bytes}});
  }

  /// touches(): whether some of the bytes lie in the device's memory. has(): whether one allocation
  /// holds all of them.
  [[nodiscard]] bool touches(const std::byte* at, std::size_t bytes) const {
    return at < begin_ + memory_bytes() && at + bytes > begin_;
  }
  [[nodiscard]] bool has(const std::byte* at, std::size_t bytes) const {
    auto next = blocks_.upper_bound(const_cast<std::byte*>(at));
    if (next == blocks_.begin()) return false;
    const auto& [begin, size] = *--next;
    return at + bytes <= begin + size;
  }

  /// Opens or closes the memory for access. Returns whether it was open before.
  bool open(bool wanted) {
    const bool was_open = is_open_;
    if (wanted != was_open) {
      ::mprotect(begin_, memory_bytes(), wanted ? PROT_READ | PROT_WRITE : PROT_NONE);
      is_open_ = wanted;
    }
    return was_open;
  }

  std::uint64_t reach = 0;

 private:
  static std::size_t room_for(std::size_t bytes) {
    return (bytes + guard_bytes + alignment - 1) / alignment * alignment;
  }

  static void expect_guard(const std::byte* at, std::size_t bytes) {
    const bool is_whole = std::all_of(at + bytes, at + room_for(bytes), [](std::byte each) {
      return each == static_cast<std::byte>(guard);
    });
    if (is_whole) return;
    std::fprintf(stderr, "stand-in: written behind the end of %zu bytes of a device\n", bytes);
    std::abort();
  }

  std::byte* begin_ = nullptr;
  bool is_open_ = false;
  std::size_t used_ = 0;
  /// Size in bytes by address.
  std::map<std::byte*, std::size_t> blocks_;
};

std::vector<Memory>& memories() {
  static auto* const all = new std::vector<Memory>(static_cast<std::size_t>(device_count()));
  return *all;
}

Memory& memory_of(int device) {
  return memories()[static_cast<std::size_t>(device)];
}

}  // namespace

std::size_t memory_bytes() {
  static const std::size_t bytes = [] {
    const char* wanted = std::getenv("RANKCHECK_STAND_IN_MIB");
    return std::size_t{wanted == nullptr ? 1024 : std::strtoul(wanted, nullptr, 10)} << 20;
  }();
  return bytes;
}

int physical_number(int device) {
  const std::vector<int>& all = visible();
  return all[static_cast<std::size_t>(device)];
}

int device_count() {
  return static_cast<int>(visible().size());
}

std::byte* allocate(int device, std::size_t bytes) {
  return memory_of(device).allocate(bytes);
}

bool release(const void* memory) {
  const auto* const at = static_cast<const std::byte*>(memory);
  return std::any_of(
      memories().begin(), memories().end(), [&](Memory& each) { return each.release(at); });
}

void expect_guards(int device) {
  memory_of(device).expect_guards();
}

std::size_t free_bytes(int device) {
  return memory_bytes() - memory_of(device).used();
}

int owner_of(const void* begin, std::size_t bytes) {
  const auto* const at = static_cast<const std::byte*>(begin);
  for (int d = 0; d < device_count(); ++d) {
    if (memory_of(d).has(at, bytes)) return d;
    if (memory_of(d).touches(at, bytes)) return -2;
  }
  return -1;
}

std::vector<Held> held(std::uint64_t devices) {
  std::vector<Held> all;
  for (int d = 0; d < device_count(); ++d) {
    if ((devices >> d & 1) != 0) memory_of(d).add_held(all);
  }
  return all;
}

void open_memory(std::uint64_t devices) {
  for (int d = 0; d < device_count(); ++d) memory_of(d).open((devices >> d & 1) != 0);
}

bool let_reach(int device, int peer) {
  const std::uint64_t bit = std::uint64_t{1} << peer;
  std::uint64_t& reach = memory_of(device).reach;
  const bool is_new = (reach & bit) == 0;
  reach |= bit;
  return is_new;
}

std::uint64_t reach_of(int device) {
  return memory_of(device).reach | std::uint64_t{1} << device;
}

}  // namespace rankcheck::stand_in
