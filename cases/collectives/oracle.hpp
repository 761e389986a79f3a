#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "reference/collectives/piece.hpp"
#include "reference/numerics/fold.hpp"
#include "reference/spec/to_size.hpp"

#include "harness/check/operation.hpp"

namespace rankcheck::cases {

/// The expected results of one stage of a collective. It makes the members' inputs again from the
/// case (or takes them from the stage before) and applies the reference to them.
class Oracle {
 public:
  /// `evidence` must outlive the oracle. Throws std::logic_error if the stage's operation is not a
  /// collective.
  Oracle(const harness::Evidence& evidence, std::size_t stage);

  [[nodiscard]] const spec::Call& call() const { return call_; }
  [[nodiscard]] const numerics::Fold& rule() const { return rule_; }
  /// Returns the buffers of a member after the run.
  [[nodiscard]] const harness::BufferView& view(int rank) const {
    return views_[spec::to_size(rank)];
  }
  /// Returns the content of a member's send buffer before the call.
  [[nodiscard]] std::span<const std::byte> input(int rank) const {
    return inputs_[spec::to_size(rank)];
  }
  /// Returns one scalar of each member if the op is premul_sum; otherwise empty.
  [[nodiscard]] std::span<const std::byte> scalars() const { return scalars_; }

  /// Appends the pieces of a member's output to `pieces`.
  void collect(int rank, std::vector<reference::Piece>& pieces) const {
    reference_(call_, rank, pieces);
  }
  /// Computes the expected elements [begin, begin + count) of a piece.
  void expect(const reference::Piece& piece,
              std::int64_t begin,
              std::int64_t count,
              numerics::Expected& expected);

 private:
  const harness::Case& case_;
  spec::Call call_;
  std::int64_t bytes_;
  numerics::Fold rule_;
  reference::Reference reference_;
  std::vector<harness::BufferView> views_;
  std::vector<std::vector<std::byte>> inputs_;
  std::vector<std::byte> scalars_;
  // The terms of the piece that is being computed, and the scalar of each term.
  std::vector<const std::byte*> contributions_;
  std::vector<std::byte> scalars_of_terms_;
};

/// Writes the elements that the reference expects, rounded to the type, to `out`.
void write_expected(spec::Type type, const numerics::Expected& expected, std::byte* out);

}  // namespace rankcheck::cases
