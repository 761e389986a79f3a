#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace rankcheck::gpu::sim {

/// One deliberate error in a run. It affects the `target`-th step that it can affect, counted from
/// 0 in the order of execution. A message is a step that touches the memory of more than one rank.
struct Fault {
  enum class Kind : std::uint8_t {
    /// One bit of the data that a put, copy or reduce writes is flipped.
    flip,
    /// A message writes nothing.
    lost,
    /// A message is delivered a second time, just before its receiver leaves.
    duplicate,
    /// A message is delivered after its receiver went on without it: after the first step,
    /// following a wait, in which the receiver moves data. If there is no such step, it is never
    /// delivered.
    late,
    /// A rank stops: the `target`-th of all moves and all its later moves are not made.
    dead_rank,
    /// A message delivers the data that its source held before the call.
    stale,
    /// A message goes on behind the end of the buffer that it is written to, for as many bytes as a
    /// guard zone has.
    overrun,
  };
  Kind kind = Kind::flip;
  std::int64_t target = 0;
};

/// The names of the kinds, in the order of the enumerators.
[[nodiscard]] std::span<const std::string_view> fault_kinds();

/// For example `lost:3`.
[[nodiscard]] std::string to_text(const Fault& fault);
/// Empty if the text is not a fault.
[[nodiscard]] std::optional<Fault> parse_fault(std::string_view text);

}  // namespace rankcheck::gpu::sim
