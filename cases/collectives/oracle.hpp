#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "reference/collectives/piece.hpp"
#include "reference/numerics/fold.hpp"

#include "harness/operation.hpp"

namespace rankcheck::cases {

/// What one stage of a collective has to leave behind: the members' inputs, made anew from the case
/// (or the stage before), and what the reference makes of them.
class Oracle {
 public:
  /// `evidence` must outlive the oracle; the stage's operation must be a collective.
  Oracle(const harness::Evidence& evidence, std::size_t stage);

  [[nodiscard]] const spec::Call& call() const { return call_; }
  [[nodiscard]] const numerics::Fold& rule() const { return rule_; }
  /// The buffers of a member after the run.
  [[nodiscard]] const harness::BufferView& view(int rank) const {
    return views_[static_cast<std::size_t>(rank)];
  }
  /// What a member had in its send buffer.
  [[nodiscard]] std::span<const std::byte> input(int rank) const {
    return inputs_[static_cast<std::size_t>(rank)];
  }
  /// One element of each member, where the op is premul_sum.
  [[nodiscard]] std::span<const std::byte> scalars() const { return scalars_; }

  /// Appends the pieces of a member's output.
  void collect(int rank, std::vector<reference::Piece>& pieces) const {
    reference_(call_, rank, pieces);
  }
  /// What elements [begin, begin + count) of a piece must be.
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
  std::vector<const std::byte*> contributions_;
};

}  // namespace rankcheck::cases
