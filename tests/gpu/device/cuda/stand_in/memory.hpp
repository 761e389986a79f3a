#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

/// The devices of the stand-in and their memory, which this program can touch only while a device
/// works: anything else that does ends it, as it would go wrong with the memory of a real device.
namespace rankcheck::stand_in {

/// RANKCHECK_STAND_IN_DEVICES, or 2, of which CUDA_VISIBLE_DEVICES may name some.
[[nodiscard]] int device_count();
/// Its number among all of them.
[[nodiscard]] int physical_number(int device);

/// Of each device: RANKCHECK_STAND_IN_MIB, or a GiB.
[[nodiscard]] std::size_t memory_bytes();

/// Of the memory of a device, aligned to 256 bytes, full of garbage; null where there is not enough
/// left.
[[nodiscard]] std::byte* allocate(int device, std::size_t bytes);
/// False for what is not the begin of something allocated. What was written behind its end ends the
/// program.
[[nodiscard]] bool release(const void* memory);
/// The same of all that is allocated on a device.
void expect_guards(int device);
[[nodiscard]] std::size_t free_bytes(int device);

/// The device that has all of these bytes in something allocated; -1 where none has any of them,
/// and -2 where they are only in part what was allocated.
[[nodiscard]] int owner_of(const void* begin, std::size_t bytes);

/// Something allocated, and what it holds.
struct Held {
  std::byte* begin = nullptr;
  std::vector<std::byte> bytes = {};
};
/// All of these devices, as bits, whose memory is open.
[[nodiscard]] std::vector<Held> held(std::uint64_t devices);

/// Opens the memory of these devices, as bits, and closes that of all others.
void open_memory(std::uint64_t devices);

/// Lets kernels of a device touch the memory of another one; false where they already may.
bool let_reach(int device, int peer);
/// The devices, as bits, whose memory kernels of this one may touch: its own among them.
[[nodiscard]] std::uint64_t reach_of(int device);

}  // namespace rankcheck::stand_in
