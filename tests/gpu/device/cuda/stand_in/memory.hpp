#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

/// The stand-in's devices and their memory. The program can access the memory only while a device
/// works. Any other access ends the program, because it would also fail on a real device.
namespace rankcheck::stand_in {

/// Returns RANKCHECK_STAND_IN_DEVICES, or 2 if it is not set. CUDA_VISIBLE_DEVICES may select
/// fewer.
[[nodiscard]] int device_count();
/// Returns the device's number among all devices, visible or not.
[[nodiscard]] int physical_number(int device);

/// Returns the memory of each device in bytes: RANKCHECK_STAND_IN_MIB, or 1 GiB if it is not set.
[[nodiscard]] std::size_t memory_bytes();

/// Allocates memory of a device, aligned to 256 bytes and filled with garbage. Returns null if too
/// little is left.
[[nodiscard]] std::byte* allocate(int device, std::size_t bytes);
/// Frees memory. Returns false if it is not the begin of an allocation. Ends the program if
/// somebody wrote past the allocation's end.
[[nodiscard]] bool release(const void* memory);
/// Ends the program if somebody wrote past the end of any allocation on the device.
void expect_guards(int device);
[[nodiscard]] std::size_t free_bytes(int device);

/// Returns the device with one allocation that holds all of these bytes. Returns -1 if the bytes
/// lie in no device's memory, and -2 if they lie there but not in one allocation.
[[nodiscard]] int owner_of(const void* begin, std::size_t bytes);

/// An allocation and its content.
struct Held {
  std::byte* begin = nullptr;
  std::vector<std::byte> bytes = {};
};
/// Returns all allocations on these devices (a bit mask), whose memory must be open.
[[nodiscard]] std::vector<Held> held(std::uint64_t devices);

/// Opens the memory of these devices (a bit mask) and closes the memory of all others.
void open_memory(std::uint64_t devices);

/// Lets kernels of a device access the memory of another device. Returns false if they already may.
bool let_reach(int device, int peer);
/// Returns the devices (a bit mask) whose memory this device's kernels may access, itself included.
[[nodiscard]] std::uint64_t reach_of(int device);

}  // namespace rankcheck::stand_in
