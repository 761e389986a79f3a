#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reference/spec/to_size.hpp"

#include "gpu/device/cuda/event_seconds.hpp"
#include "gpu/device/cuda/pattern.hpp"

/// A link is the connection from one physical device's memory to another's, or within one device's
/// own memory.
namespace rankcheck::gpu::cuda {

/// A physical device of this machine.
struct DeviceInfo {
  std::string name = {};
  /// The PCI address, which identifies the board whatever its number is: "0000:3b:00.0".
  std::string bus = {};
  /// The compute capability, for example "9.0".
  std::string capability = {};
  std::int64_t memory_bytes = 0;
  /// For a stand-in device: what provides its memory. Empty for hardware.
  std::string memory = {};

  [[nodiscard]] bool is_hardware() const { return memory.empty(); }
};

/// How bytes cross a link. Plans use both methods.
enum class Method : std::uint8_t {
  /// The CUDA runtime copies.
  copy,
  /// A kernel on the receiving device reads the memory of the sending device.
  load,
};

inline constexpr std::array<std::string_view, 2> method_names{"copy", "load"};
[[nodiscard]] constexpr std::string_view name(Method method) {
  return method_names[spec::to_size(method)];
}

/// The route of the bytes.
enum class Way : std::uint8_t {
  /// Nothing was tried.
  unknown,
  /// Within one device.
  within,
  /// Directly from one device to the other, with access to each other's memory.
  peer,
  /// Through the memory of the host.
  host,
};

inline constexpr std::array<std::string_view, 4> way_names{"unknown", "within", "peer", "host"};
[[nodiscard]] constexpr std::string_view name(Way way) {
  return way_names[spec::to_size(way)];
}

/// One of a link's two buffers.
enum class End : std::uint8_t { source, destination };

/// A word of a buffer that differs from the pattern.
struct WrongWord {
  std::int64_t index = 0;
  std::uint64_t expected = 0;
  std::uint64_t got = 0;
};

/// The difference between a buffer and a pattern.
struct Difference {
  std::int64_t wrong_bytes = 0;
  /// The wrong word with the lowest index; meaningless if no byte is wrong.
  WrongWord first = {};
};

/// The seam between the probe and the devices: two buffers of words() 64-bit words. Every call
/// returns when its work is done, and throws DeviceError if it fails.
class LinkEnds {
 public:
  virtual ~LinkEnds() = default;

  [[nodiscard]] virtual std::int64_t words() const = 0;
  /// The route of all moves.
  [[nodiscard]] virtual Way way() const = 0;
  virtual void fill(End end, const Pattern& pattern) = 0;
  /// Moves the source to the destination.
  virtual EventSeconds move(Method method) = 0;
  /// Compares on the buffer's own device.
  virtual Difference compare(End end, const Pattern& pattern) = 0;
};

/// The moves to try.
struct LinkProbe {
  Method method = Method::copy;
  std::uint64_t seed = 0;
  /// The numbers of the patterns are first … first + patterns - 1.
  std::int64_t first = 0;
  std::int64_t patterns = 1;
  /// The number of moves of each pattern.
  std::int64_t repeats = 1;
};

struct LinkResult {
  Way way = Way::unknown;
  std::int64_t bytes_of_copy = 0;
  /// The number of all moves, and of the moves after which the destination was wrong.
  std::int64_t copies = 0;
  std::int64_t wrong_copies = 0;
  std::int64_t wrong_bytes = 0;
  /// The first wrong word of the first wrong copy.
  std::optional<WrongWord> first_wrong = {};
  std::int64_t first_wrong_pattern = 0;
  /// The number of moves after which the source had changed too. Then the source's own device lost
  /// the data, not the link.
  std::int64_t lost_sources = 0;
  /// The time of each move in seconds, without impossible times.
  std::vector<double> seconds = {};
  /// Says why the first impossible time is impossible; empty if there is none.
  std::string impossible_time = {};
};

/// Fills the source with a pattern and the destination with its inverse, moves, and compares all of
/// the destination. If the destination is wrong, also compares the source.
[[nodiscard]] LinkResult probe_link(LinkEnds& ends, const LinkProbe& probe);

}  // namespace rankcheck::gpu::cuda
