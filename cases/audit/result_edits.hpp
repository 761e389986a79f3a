#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "reference/spec/reduce_op.hpp"
#include "reference/spec/type.hpp"

#include "harness/case/image.hpp"

#include "cases/audit/bug.hpp"

/// Small mistakes in results.
namespace rankcheck::cases::audit {

/// Whether the bug changes the result of a stage.
[[nodiscard]] bool edits_results(const Bug& bug);
/// Applies the bug's changes to the result.
void apply(const Bug& bug, const Outcome& outcome);

/// Returns the places of a rank's buffers in its image.
[[nodiscard]] harness::ImageLayout layout_of(const Outcome& outcome, int rank);

/// Calls `visit` with every element of every output and its index in recv.
void for_each_output(
    const Outcome& outcome,
    const std::function<void(int rank, std::int64_t index, std::byte* element)>& visit);

/// Flip the lowest bit of one output element: the first of a rank, the first of every rank, or the
/// last of every rank.
void flip_first(const Outcome& outcome, int rank);
void flip_first_of_all(const Outcome& outcome);
void flip_last_of_all(const Outcome& outcome);

/// Replaces every output component whose value `map` changes. 64-bit integers that are replaced
/// lose their low bits, because the values pass through double.
void map_values(const Outcome& outcome, const std::function<double(double value)>& map);

/// Replaces all outputs by those in other images, except on ranks whose images have another size.
void take_outputs(const Outcome& outcome, const std::vector<harness::Image>& images);

/// Changes the byte behind the last block of every rank's recv buffer.
void write_behind_blocks(const Outcome& outcome);

/// Restores `bytes` bytes from `element` on to the poison that they held before the call.
void leave_unwritten(const Outcome& outcome, int rank, std::byte* element, std::int64_t bytes);

/// Does the same with every output element that `chosen` selects.
void leave_unwritten_where(const Outcome& outcome,
                           const std::function<bool(int rank, std::int64_t index)>& chosen);

/// Returns the inputs of all ranks to one output element of a reduction. Only for reductions in
/// which element i of every rank becomes element i of the output.
[[nodiscard]] std::vector<double> contributions(const Outcome& outcome, std::int64_t index);

/// A way to reduce that may differ from the correct one.
struct Redo {
  spec::Type type;
  /// Empty: the case's own reduction.
  std::optional<spec::ReduceOp> op = {};
  /// Offset from a rank to the rank whose scalar is used. 0 is correct.
  int scalar_of_next = 0;
};

/// Replaces all outputs by those of the reduction that `redo` describes. Only for reductions as in
/// contributions().
void reduce_again(const Outcome& outcome, const Redo& redo);

/// Replaces all outputs of a maxloc: from rank to rank, a pair replaces the best one so far if
/// `replaces` says so of both values. Only for reductions as in contributions().
void locate_again(const Outcome& outcome, bool (*replaces)(double value, double best));

}  // namespace rankcheck::cases::audit
