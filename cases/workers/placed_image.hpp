#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "harness/case/image.hpp"

/// The images of ranks in the memory of their devices. `Devices` has allocate(), write() and
/// copy(), which take the number of a rank or of its slot first.
namespace rankcheck::cases {

/// Copies bytes to a rank's device. Returns the address of the copy.
template <class Devices>
[[nodiscard]] std::byte* copy_to_device(Devices& devices,
                                        int rank,
                                        std::span<const std::byte> bytes) {
  const auto size = static_cast<std::int64_t>(bytes.size());
  std::byte* const there = devices.allocate(rank, size);
  devices.write(rank, bytes.data(), there, size);
  return there;
}

/// The memory of a rank in one call.
struct PlacedImage {
  std::byte* image = nullptr;
  std::int64_t bytes = 0;
  /// In a pending case, the image before it arrives, and a copy of the image after the call.
  /// Otherwise null.
  std::byte* source = nullptr;
  std::byte* result = nullptr;

  [[nodiscard]] bool is_pending() const { return source != nullptr; }
  /// Lets the image of a pending case arrive behind the work of the rank's stream.
  template <class Devices>
  void arrive(Devices& devices, int rank) const {
    devices.copy(rank, source, image, bytes);
  }
  /// Enqueues the copy of a pending case's image right behind the call.
  template <class Devices>
  void keep_result(Devices& devices, int rank) const {
    if (is_pending()) devices.copy(rank, image, result, bytes);
  }
  /// Reads what the call left.
  template <class Devices>
  void read(Devices& devices, int rank, harness::Image& out) const {
    devices.read(rank, result == nullptr ? image : result, out.data(), bytes);
  }
};

/// Copies the image to a rank's device. The image of a pending case goes to a place from which it
/// is still to arrive. Until then, every bit of the rank's memory is wrong.
template <class Devices>
[[nodiscard]] PlacedImage place_image(Devices& devices,
                                      int rank,
                                      bool pending,
                                      const harness::Image& image) {
  const auto bytes = static_cast<std::int64_t>(image.size());
  if (!pending) return {.image = copy_to_device(devices, rank, image), .bytes = bytes};
  harness::Image wrong = image;
  for (std::byte& each : wrong) each = ~each;
  return {.image = copy_to_device(devices, rank, wrong),
          .bytes = bytes,
          .source = copy_to_device(devices, rank, image),
          .result = devices.allocate(rank, bytes)};
}

}  // namespace rankcheck::cases
