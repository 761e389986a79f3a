#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

#include "reference/spec/contract.hpp"

#include "gpu/plan/plan.hpp"

namespace rankcheck::gpu::plan {

/// What a caller may choose about how a call runs.
struct Options {
  bool in_place = false;
  /// Elements of a pipeline chunk; 0 lets the algorithm choose.
  std::int64_t chunk = 0;
};

/// Writes a plan. Algorithms see a call through it: sizes and blocks come from the contract, ranges
/// are made of blocks, and the builder adds the wait for a rank's entry before its memory is
/// touched. Steps without elements are left out; signals and waits are kept.
class Builder {
 public:
  /// Starts a plan for a legal call. Plan, contract and call must outlive the writing of it.
  void begin(Plan& plan,
             const spec::Contract& contract,
             const spec::Call& call,
             const Options& options);
  void begin(Plan&, const spec::Contract&, spec::Call&&, const Options&) = delete;

  [[nodiscard]] const spec::Call& call() const { return *call_; }
  [[nodiscard]] const Options& options() const { return options_; }
  [[nodiscard]] int ranks() const { return call_->ranks; }
  [[nodiscard]] const spec::Extents& extents(int rank) const {
    return extents_[static_cast<std::size_t>(rank)];
  }

  /// Block `block` of a rank's send or recv buffer.
  [[nodiscard]] Range send(int rank, int block = 0) const;
  [[nodiscard]] Range recv(int rank, int block = 0) const;
  /// New scratch elements of `rank`.
  [[nodiscard]] Range scratch(int rank, std::int64_t count);

  /// Copies on the rank that both ranges belong to. Where the call is in place and both are the
  /// same memory, nothing is left to do but premultiply or finish.
  void copy(const Range& destination, const Range& source, bool finish = false);
  /// Copies to another rank; done by the source's rank.
  void put(const Range& destination, const Range& source, bool finish = false);
  /// put, then signal by the source's rank. Copies where both are the same rank.
  Event send_to(const Range& destination, const Range& source, bool finish = false);
  /// Combines the sources, in this order; done by the destination's rank.
  void reduce(const Range& destination, std::span<const Range> sources, bool finish = false);
  void reduce(const Range& destination, std::initializer_list<Range> sources, bool finish = false) {
    reduce(destination, std::span<const Range>(sources.begin(), sources.size()), finish);
  }
  [[nodiscard]] Event signal(int rank);
  void wait(int rank, Event event);

 private:
  void add(int rank,
           StepKind kind,
           const Range& destination,
           std::span<const Range> sources,
           bool finish);
  void wait_for_entry(int rank, int other);
  /// Whether the rank already waits for what tells that the other one has entered.
  [[nodiscard]] std::vector<bool>::reference has_entered(int rank, int other);

  Plan* plan_ = nullptr;
  const spec::Call* call_ = nullptr;
  Options options_;
  std::vector<spec::Extents> extents_;
  /// See has_entered().
  std::vector<bool> entered_;
  /// The rank that signals each event.
  std::vector<int> signallers_;
};

/// A run of elements inside a range; offset counted from the range's start.
[[nodiscard]] Range part(const Range& range, std::int64_t offset, std::int64_t count);

/// The `index`-th of `parts` nearly equal parts of `count` elements: sizes differ by at most one.
[[nodiscard]] spec::Block nearly_equal(std::int64_t count, int parts, int index);

}  // namespace rankcheck::gpu::plan
