#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "harness/image.hpp"

#include "cases/planted/bug.hpp"

/// Small mistakes in results.
namespace rankcheck::cases::planted {

/// Whether the bug changes what a stage left behind.
[[nodiscard]] bool spoils_results(const Bug& bug);
/// Lets it do so.
void apply(const Bug& bug, const Outcome& outcome);

/// Where a rank's buffers lie in its image.
[[nodiscard]] harness::ImageLayout layout_of(const Outcome& outcome, int rank);

/// Calls `visit` with every element of every output and its index in recv.
void for_each_output(
    const Outcome& outcome,
    const std::function<void(int rank, std::int64_t index, std::byte* element)>& visit);

/// Flips the lowest bit of the first or the last output element of a rank, or of all ranks.
void flip_first(const Outcome& outcome, int rank);
void flip_first_of_all(const Outcome& outcome);
void flip_last_of_all(const Outcome& outcome);

/// Replaces the value of every output component that `map` changes; 64-bit integers lose their low
/// bits on the way.
void map_values(const Outcome& outcome, const std::function<double(double value)>& map);

/// Leaves an element as it was before the call: poison. `part` is how much of it, from the end.
void leave_unwritten(const Outcome& outcome, int rank, std::byte* element, std::int64_t bytes);

/// The inputs of all ranks to one element of a reduction in which element i of every rank becomes
/// element i of the output.
[[nodiscard]] std::vector<double> contributions(const Outcome& outcome, std::int64_t index);

/// How a reduction is done over, in another way than it should be.
struct Redo {
  spec::Type type;
  /// Whose scalar premultiplies: that of the next rank but so many.
  int scalar_of_next = 0;
};

/// Replaces all outputs of such a reduction.
void reduce_again(const Outcome& outcome, const Redo& redo);

}  // namespace rankcheck::cases::planted
