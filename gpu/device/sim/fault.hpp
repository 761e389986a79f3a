#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace rankcheck::gpu::sim {

/// One thing that goes wrong in a run on purpose, at the `target`-th step that it can befall,
/// counted in the order of execution. A message is a step that touches the memory of more than one
/// rank.
struct Fault {
  enum class Kind : std::uint8_t {
    /// One bit of what a put, copy or reduce writes.
    flip,
    /// A message writes nothing.
    lost,
    /// A message is delivered a second time, just before its receiver leaves.
    duplicate,
    /// A message is delivered after its receiver went on without it: behind the first step after a
    /// wait in which the receiver moves data, or never where there is none.
    late,
    /// A rank takes no step any more, the `target`-th of all moves included.
    dead_rank,
    /// A message brings what its source held before the call.
    stale,
  };
  Kind kind = Kind::flip;
  std::int64_t target = 0;
};

/// The kinds' names, in the order of the enumerators.
[[nodiscard]] std::span<const std::string_view> fault_kinds();

/// `lost:3`.
[[nodiscard]] std::string to_text(const Fault& fault);
/// Empty when the text is not a fault.
[[nodiscard]] std::optional<Fault> parse_fault(std::string_view text);

}  // namespace rankcheck::gpu::sim
