#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

#include "reference/spec/assert.hpp"
#include "reference/spec/collective.hpp"
#include "reference/spec/contract.hpp"
#include "reference/spec/to_size.hpp"

#include "gpu/plan/plan.hpp"

namespace rankcheck::gpu::plan {

/// The caller's choices about how a call runs.
struct Options {
  bool in_place = false;
  /// Elements of a pipeline chunk; 0 lets the algorithm choose.
  std::int64_t chunk = 0;
  /// The host of each rank. Empty if all ranks are on one host.
  std::vector<int> hosts = {};
};

/// Writes a plan. An algorithm sees a call through the builder: sizes and blocks come from the
/// contract, and ranges are made of blocks. Before a step touches another rank's memory, the
/// builder adds the wait for the entry of that rank. It leaves out steps without elements, but
/// keeps every signal and wait.
class Builder {
 public:
  /// Starts a plan for a legal call. `plan` and `call` must outlive the writing of the plan,
  /// because the builder keeps pointers to them.
  void begin(Plan& plan,
             const spec::Contract& contract,
             const spec::Call& call,
             const Options& options);
  void begin(Plan&, const spec::Contract&, spec::Call&&, const Options&) = delete;

  [[nodiscard]] const spec::Call& call() const { return *call_; }
  [[nodiscard]] const Options& options() const { return options_; }
  [[nodiscard]] int ranks() const { return call_->ranks; }
  [[nodiscard]] const spec::Extents& extents(int rank) const {
    RANKCHECK_ASSERT(rank >= 0 && rank < ranks());
    return extents_[spec::to_size(rank)];
  }

  /// Block `block` of a rank's send or recv buffer.
  [[nodiscard]] Range send(int rank, int block = 0) const {
    return block_of(rank, Buffer::send, block);
  }
  [[nodiscard]] Range recv(int rank, int block = 0) const {
    return block_of(rank, Buffer::recv, block);
  }
  /// Allocates `count` new scratch elements of `rank`.
  [[nodiscard]] Range scratch(int rank, std::int64_t count);

  /// Copies on the rank that both ranges belong to. If the call is in place and both ranges are the
  /// same memory, the step only premultiplies or finishes.
  void copy(const Range& destination, const Range& source, bool finish = false);
  /// Copies to another rank. The source's rank does the work.
  void put(const Range& destination, const Range& source, bool finish = false);
  /// Does a put, then a signal by the source's rank. If both ranges belong to the same rank, the
  /// put becomes a copy.
  Event send_to(const Range& destination, const Range& source, bool finish = false);
  /// Combines the sources in this order. The destination's rank does the work.
  void reduce(const Range& destination, std::span<const Range> sources, bool finish = false);
  void reduce(const Range& destination, std::initializer_list<Range> sources, bool finish = false) {
    reduce(destination, std::span<const Range>(sources.begin(), sources.size()), finish);
  }
  [[nodiscard]] Event signal(int rank);
  void wait(int rank, Event event);

 private:
  [[nodiscard]] Range block_of(int rank, Buffer buffer, int block) const;
  void add(int rank,
           StepKind kind,
           const Range& destination,
           std::span<const Range> sources,
           bool finish);
  void wait_for_entry(int rank, int other);
  /// Whether `rank` already waits for an event that tells it that `other` has entered.
  [[nodiscard]] std::vector<bool>::reference has_entered(int rank, int other);

  Plan* plan_ = nullptr;
  const spec::Call* call_ = nullptr;
  Options options_;
  std::vector<spec::Extents> extents_;
  /// See has_entered().
  std::vector<bool> entered_;
  /// signallers_[event]: the rank that signals the event.
  std::vector<int> signallers_;
};

/// A run of elements inside a range. `offset` counts from the range's start.
[[nodiscard]] Range part(const Range& range, std::int64_t offset, std::int64_t count);

/// The `index`-th of `parts` nearly equal parts of `count` elements: sizes differ by at most one.
[[nodiscard]] spec::Block nearly_equal(std::int64_t count, int parts, int index);

}  // namespace rankcheck::gpu::plan
