#pragma once

#include <algorithm>
#include <cstdint>

/// Natural numbers by which cases are compared when they shrink: smaller ones are simpler.
namespace rankcheck::harness {

/// The place of a value in a list whose plainest value comes first. A value that is not listed is
/// the least plain.
template <class List, class Value>
[[nodiscard]] constexpr std::uint64_t place(const List& list, const Value& value) {
  return static_cast<std::uint64_t>(std::ranges::find(list, value) - list.begin());
}

/// How far a number is from the plainest one. Of two numbers that are equally far, the greater one
/// has the smaller weight.
[[nodiscard]] constexpr std::uint64_t distance_from(std::int64_t plainest, std::int64_t value) {
  const std::int64_t distance = value < plainest ? plainest - value : value - plainest;
  return static_cast<std::uint64_t>(distance) * 2 + (value < plainest ? 1 : 0);
}

}  // namespace rankcheck::harness
