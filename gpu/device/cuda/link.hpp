#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/device/cuda/event_seconds.hpp"
#include "gpu/device/cuda/pattern.hpp"

/// A link: the way from one physical device's memory to another's, or within one device's own.
namespace rankcheck::gpu::cuda {

/// How bytes cross a link. Plans use both.
enum class Method : std::uint8_t {
  /// The runtime copies.
  copy,
  /// A kernel on the receiving device reads the other one's memory.
  load,
};

[[nodiscard]] std::string_view name(Method method);
/// Empty where no method has that name.
[[nodiscard]] std::optional<Method> method_named(std::string_view name);

/// Which way bytes take.
enum class Way : std::uint8_t {
  /// Nothing was tried.
  unknown,
  /// Within one device.
  within,
  /// Straight from one device to the other: they have access to each other's memory.
  peer,
  /// Through the memory of this machine.
  host,
};

[[nodiscard]] std::string_view name(Way way);
/// Empty where no way has that name.
[[nodiscard]] std::optional<Way> way_named(std::string_view name);

/// Which of a link's two buffers.
enum class End : std::uint8_t { source, destination };

/// A wrong word of a buffer.
struct WrongWord {
  std::int64_t index = 0;
  std::uint64_t expected = 0;
  std::uint64_t got = 0;
};

/// How a buffer differs from a pattern.
struct Difference {
  std::int64_t wrong_bytes = 0;
  /// The wrong word of the lowest index; meaningless where no byte is wrong.
  WrongWord first = {};
};

/// The seam between the probe and the devices: two buffers of `words()` words. Every call returns
/// when its work is done, and throws DeviceError where it fails.
class LinkEnds {
 public:
  virtual ~LinkEnds() = default;

  [[nodiscard]] virtual std::int64_t words() const = 0;
  /// Of all moves.
  [[nodiscard]] virtual Way way() const = 0;
  virtual void fill(End end, const Pattern& pattern) = 0;
  /// Source to destination.
  virtual EventSeconds move(Method method) = 0;
  /// Compares on the buffer's own device.
  virtual Difference compare(End end, const Pattern& pattern) = 0;
};

/// What to try.
struct LinkProbe {
  Method method = Method::copy;
  std::uint64_t seed = 0;
  /// Patterns `first` to `first + patterns - 1`.
  std::int64_t first = 0;
  std::int64_t patterns = 1;
  /// Moves of each pattern.
  std::int64_t repeats = 1;
};

struct LinkResult {
  Way way = Way::unknown;
  std::int64_t bytes_of_copy = 0;
  /// Moves, of which so many left something wrong.
  std::int64_t copies = 0;
  std::int64_t wrong_copies = 0;
  std::int64_t wrong_bytes = 0;
  /// Of the first wrong copy.
  std::optional<WrongWord> first_wrong = {};
  std::int64_t first_wrong_pattern = 0;
  /// Moves after which the source no longer held what was written there: its own device lost it,
  /// not the link.
  std::int64_t lost_sources = 0;
  /// Of each move, but for those that cannot be.
  std::vector<double> seconds = {};
  /// Why the first of those cannot be; empty where there is none.
  std::string impossible_time = {};
};

/// Fills the source with a pattern and the destination with its inverse, moves, compares all of the
/// destination, and of the source where that is wrong.
[[nodiscard]] LinkResult probe_link(LinkEnds& ends, const LinkProbe& probe);

}  // namespace rankcheck::gpu::cuda
