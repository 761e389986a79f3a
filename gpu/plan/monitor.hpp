#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "reference/spec/to_size.hpp"

#include "gpu/plan/plan.hpp"
#include "gpu/plan/schedule.hpp"

namespace rankcheck::gpu::plan {

/// A run of addresses, [begin, end). The unit is the caller's: bytes or elements.
struct Extent {
  std::int64_t begin = 0;
  std::int64_t end = 0;

  [[nodiscard]] std::int64_t size() const { return end - begin; }
};

/// The addresses of one rank's buffers. Addresses of different ranks are never compared. In a call
/// in place, send and recv overlap.
struct RankMemory {
  /// Indexed by Buffer.
  std::array<Extent, 3> buffers;

  [[nodiscard]] const Extent& operator[](Buffer buffer) const {
    return buffers[spec::to_size(buffer)];
  }
  [[nodiscard]] Extent& operator[](Buffer buffer) { return buffers[spec::to_size(buffer)]; }
};

/// A fault of a plan.
struct Violation {
  /// - `malformed`: a step that has no meaning.
  /// - `memory`: an access outside a buffer, or a read of memory that was never written.
  /// - `race`: two unordered accesses, one of them a write.
  /// - `deadlock`: ranks wait for something that never happens.
  enum class Kind : std::uint8_t { malformed, memory, race, deadlock };
  Kind kind = Kind::malformed;
  /// Names the ranks, steps and ranges.
  std::string text;
};

/// Observes a walk through a plan. Only program order and signal -> wait decide which move happens
/// before which, so a race is found in any order of the walk. Entering and leaving count as writes
/// of all of a rank's memory, because before and after the call the memory belongs to its user.
class Monitor {
 public:
  /// The unit of addresses.
  enum class Unit : std::uint8_t { element, byte };

  /// Starts a walk and checks everything that needs no walk: kinds, ranks, bounds, events. Returns
  /// null if nothing is wrong; otherwise the plan must not be walked. `plan` and `memory` must
  /// outlive the walk.
  [[nodiscard]] const Violation* begin(const Plan& plan,
                                       std::span<const RankMemory> memory,
                                       Unit unit);
  /// Records a move. Moves must come in the order in which the scheduler gives them. Returns null
  /// if the move is allowed.
  [[nodiscard]] const Violation* follow(const Move& move);
  /// Whether the rank, which has left, knew when it left that every rank of its call had entered.
  [[nodiscard]] bool left_after_every_entry(int rank) const;
  /// Describes the ranks that cannot go on.
  [[nodiscard]] const Violation* deadlock(const Scheduler& scheduler);

 private:
  /// A point in a rank's own time: entering is 1, step k is k + 2.
  struct Epoch {
    std::int32_t rank = 0;
    std::uint32_t time = 0;
  };
  /// A list of the reads since the last write, newest first. Lists share their tails and are never
  /// changed.
  struct Read {
    Epoch epoch;
    std::int32_t next = -1;
  };
  /// A run of addresses with the same history.
  struct Segment {
    std::int64_t begin = 0;
    std::int64_t end = 0;
    Epoch writer;
    std::int32_t reads = -1;
    bool has_value = false;
  };
  /// An access of the current move.
  struct Access {
    Range range;
    bool writes = false;
    bool needs_value = false;
  };

  void begin_memory(int rank);
  [[nodiscard]] bool check_step(const Move& move, const Step& step);
  [[nodiscard]] bool check_event(const Move& move, const Step& step);
  [[nodiscard]] bool check_range(const Move& move, const Range& range);
  [[nodiscard]] bool check_overlap(const Move& move, const Step& step, const Range& source);
  [[nodiscard]] bool touch(const Move& move, const Access& access);
  [[nodiscard]] bool touch_segment(const Move& move, const Access& access, Segment& segment);
  [[nodiscard]] bool follow_step(const Move& move, const Step& step);
  [[nodiscard]] bool take_all(const Move& move);
  /// The index of the segment that begins at the address. `at` is the first segment that ends
  /// behind the address; if it contains the address, it is split there.
  [[nodiscard]] static std::size_t split(std::vector<Segment>& segments,
                                         std::size_t at,
                                         std::int64_t address);
  [[nodiscard]] Extent addresses(const Range& range) const;
  /// The number of elements in a buffer of a rank.
  [[nodiscard]] std::int64_t elements_in(int rank, Buffer buffer) const;
  /// The units of address that an element of a rank takes.
  [[nodiscard]] std::int64_t element_size(int rank) const {
    return unit_ == Unit::element ? 1 : plan_->arithmetic[spec::to_size(rank)].element_bytes();
  }
  [[nodiscard]] std::span<std::uint32_t> clock(int rank);
  [[nodiscard]] std::span<std::uint32_t> event_clock(Event event);
  [[nodiscard]] bool knows(int rank, const Epoch& epoch) const;
  bool fail(Violation::Kind kind, std::string text);
  bool fail_race(const Move& move,
                 const Access& access,
                 const Segment& segment,
                 const Epoch& other);

  const Plan* plan_ = nullptr;
  std::span<const RankMemory> memory_;
  Unit unit_ = Unit::element;
  std::size_t ranks_ = 0;
  /// segments_[rank], sorted by address.
  std::vector<std::vector<Segment>> segments_;
  std::vector<Read> reads_;
  /// clocks_[rank * n + other]: the time of the last move of `other` that `rank` knows of.
  /// event_clocks_ has the clocks of the other events. The clock of an entry event would contain
  /// only the entry itself, so it is not stored.
  std::vector<std::uint32_t> clocks_;
  std::vector<std::uint32_t> event_clocks_;
  std::vector<std::uint8_t> is_signalled_;
  Violation violation_;
};

}  // namespace rankcheck::gpu::plan
