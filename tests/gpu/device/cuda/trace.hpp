#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "gpu/device/cluster.hpp"
#include "gpu/device/cuda/enqueue.hpp"
#include "gpu/device/sim/combine.hpp"
#include "gpu/plan/random.hpp"

#include "tests/gpu/collectives/implementation.hpp"
#include "tests/reference/collectives/calls.hpp"

/// Records the work that is given to CUDA's streams, so that tests can check and perform it without
/// a device.
namespace rankcheck::gpu::cuda {

inline constexpr std::int64_t element = sizeof(float);

/// A range of bytes that some work reads or writes.
struct Access {
  const std::byte* begin;
  std::int64_t bytes;
  bool writes;
};

inline bool conflict(const Access& a, const Access& b) {
  return (a.writes || b.writes) && a.begin < b.begin + b.bytes && b.begin < a.begin + a.bytes;
}

/// Work on a stream.
struct Work {
  enum class Kind { combine, record, wait };
  Kind kind;
  int rank;
  std::int32_t event = -1;
  std::vector<Access> accesses = {};
  std::function<void()> run = [] {};
};

/// Returns two pieces of work that touch the same bytes in no defined order; empty if there are
/// none. Work is ordered within its stream and from a record to a wait for the same event.
inline std::string find_race(const std::vector<Work>& work, int ranks) {
  using Clock = std::vector<int>;
  const auto n = static_cast<std::size_t>(ranks);
  std::vector<Clock> now(n, Clock(n, 0));
  std::vector<Clock> events;
  std::vector<Clock> at;
  for (std::size_t i = 0; i < work.size(); ++i) {
    const auto r = static_cast<std::size_t>(work[i].rank);
    const auto event = static_cast<std::size_t>(std::max(work[i].event, 0));
    ++now[r][r];
    if (work[i].kind == Work::Kind::wait) {
      for (std::size_t q = 0; q < n; ++q) now[r][q] = std::max(now[r][q], events[event][q]);
    }
    if (work[i].kind == Work::Kind::record) {
      events.resize(std::max(events.size(), event + 1), Clock(n, 0));
      events[event] = now[r];
    }
    at.push_back(now[r]);
    for (std::size_t j = 0; j < i; ++j) {
      const auto q = static_cast<std::size_t>(work[j].rank);
      if (at[i][q] >= at[j][q]) continue;
      for (const Access& a : work[i].accesses) {
        for (const Access& b : work[j].accesses) {
          if (conflict(a, b)) return "work " + std::to_string(j) + " and " + std::to_string(i);
        }
      }
    }
  }
  return {};
}

/// Records what is enqueued, and captures as CUDA does.
class Trace final : public Streams {
 public:
  void combine(int rank, const Combination& what) override {
    if (refuses_work) throw DeviceError("refused");
    Work made{.kind = Work::Kind::combine, .rank = rank};
    made.accesses.push_back({what.destination, what.count * element, true});
    for (const Source& each : what.sources) {
      made.accesses.push_back({each.data, what.count * element, false});
      if (each.scalar != nullptr) made.accesses.push_back({each.scalar, element, false});
    }
    const std::vector<Source> sources(what.sources.begin(), what.sources.end());
    made.run = [sources, kept = what]() mutable {
      kept.sources = sources;
      sim::combine(kept);
    };
    add(std::move(made));
  }
  void record(int rank, std::int32_t event) override {
    add({.kind = Work::Kind::record, .rank = rank, .event = event});
  }
  void wait(int rank, std::int32_t event) override {
    const auto records = [event](const Work& each) {
      return each.kind == Work::Kind::record && each.event == event;
    };
    const bool is_kept = std::any_of(kept_.begin(), kept_.end(), records);
    const bool is_recorded = is_kept || std::any_of(work.begin(), work.end(), records);
    EXPECT_TRUE(is_recorded) << "rank " << rank << " waits for event " << event << ": for nothing";
    if (is_kept) capturing_.insert(rank);
    EXPECT_TRUE(is_kept || !capturing_.contains(rank)) << "what is kept waits for what is done";
    add({.kind = Work::Kind::wait, .rank = rank, .event = event});
  }

  void begin_capture(int rank) override {
    EXPECT_TRUE(capturing_.empty());
    capturing_ = {rank};
    ++captures;
  }
  std::int32_t end_capture(int rank) override {
    // All captured work must happen before the rank's last work. This last work touches the same
    // bytes, so that find_race() shows work that was not joined.
    std::vector<Work> closed = kept_;
    closed.push_back({.kind = Work::Kind::combine, .rank = rank});
    for (const Work& each : kept_) {
      for (const Access& access : each.accesses) {
        closed.back().accesses.push_back({access.begin, access.bytes, true});
      }
    }
    const int ranks = *std::max_element(capturing_.begin(), capturing_.end()) + 1;
    EXPECT_EQ(find_race(closed, ranks), "") << "the capture has not been joined";
    capturing_.clear();
    graphs.push_back(std::exchange(kept_, {}));
    return static_cast<std::int32_t>(graphs.size()) - 1;
  }
  void abandon_capture(int rank) noexcept override {
    EXPECT_TRUE(capturing_.contains(rank));
    capturing_.clear();
    kept_.clear();
  }
  /// Replays the graph in streams of its own. They begin after the rank's earlier work and end
  /// before its later work.
  void replay(int rank, std::int32_t graph) override {
    ++replays;
    const std::vector<Work>& kept = graphs.at(static_cast<std::size_t>(graph));
    std::set<int> inner;
    for (const Work& each : kept) inner.insert(each.rank);
    const auto event_of = [&](std::int32_t event) { return 1'000 * replays + event; };
    record(rank, event_of(999));
    for (const int each : inner) wait(stream_of(each), event_of(999));
    for (Work each : kept) {
      each.rank = stream_of(each.rank);
      if (each.event >= 0) each.event = event_of(each.event);
      work.push_back(std::move(each));
    }
    for (const int each : inner) {
      record(stream_of(each), event_of(900 + each));
      wait(rank, event_of(900 + each));
    }
  }
  void drop(std::int32_t graph) override {
    EXPECT_FALSE(graphs.at(static_cast<std::size_t>(graph)).empty()) << "dropped twice";
    graphs.at(static_cast<std::size_t>(graph)).clear();
  }

  std::vector<Work> work;
  std::vector<std::vector<Work>> graphs;
  /// If true, combine() throws.
  bool refuses_work = false;
  int captures = 0;
  int replays = 0;
  /// Number of streams, including the streams of replays. Ranks of calls are below 10.
  static constexpr int streams_max = 20;

 private:
  static int stream_of(int rank) { return 10 + rank; }

  void add(Work made) {
    (capturing_.contains(made.rank) ? kept_ : work).push_back(std::move(made));
  }

  std::vector<Work> kept_;
  /// The ranks whose work is captured.
  std::set<int> capturing_;
};

/// Performs the work of all streams in a random order that the streams allow.
inline void perform(const std::vector<Work>& work, int ranks, std::uint64_t seed) {
  std::vector<std::vector<const Work*>> streams(static_cast<std::size_t>(ranks));
  for (const Work& each : work) streams[static_cast<std::size_t>(each.rank)].push_back(&each);
  std::vector<std::size_t> next(streams.size(), 0);
  std::vector<std::int32_t> happened;
  plan::Random random(seed);
  std::size_t done = 0;
  while (done < work.size()) {
    const auto r = static_cast<std::size_t>(random.below(static_cast<std::uint64_t>(ranks)));
    if (next[r] == streams[r].size()) continue;
    const Work& each = *streams[r][next[r]];
    const bool has_happened =
        std::find(happened.begin(), happened.end(), each.event) != happened.end();
    if (each.kind == Work::Kind::wait && !has_happened) continue;
    if (each.kind == Work::Kind::record) happened.push_back(each.event);
    each.run();
    ++next[r];
    ++done;
  }
}

inline const Implementation& ring() {
  return implementation_named("all_reduce", "ring");
}

/// A call of some small sizes. Before and behind an axis, there are two elements.
inline spec::Call small_call(std::string_view operation,
                             int ranks,
                             spec::ReduceOp op = spec::ReduceOp::avg) {
  spec::Call call = tests::call_of(reference::contract_named(operation), ranks, 5, op);
  if (call.inner > 1) call.outer = 2;
  return call;
}

/// A call with its memory and its plan.
class Subject {
 public:
  Subject(const Implementation& implementation,
          const spec::Call& call,
          const plan::Options& options)
      : call_(call), plan_(plan_of(implementation, call, options)) {
    const spec::Contract& contract = reference::contract_named(implementation.operation);
    for (int r = 0; r < call_.ranks; ++r) {
      const spec::Extents extents = spec::extents_of(contract, call_, r);
      const auto at = static_cast<std::size_t>(r);
      const bool is_shared = options.in_place && !extents.send.empty() && !extents.recv.empty();
      std::int64_t send_at = is_shared ? 0 : extents.recv_size;
      std::int64_t recv_at = 0;
      if (is_shared && contract.in_place == spec::InPlace::send_within_recv) {
        send_at = extents.recv[at].offset;
      }
      if (is_shared && contract.in_place == spec::InPlace::recv_within_send) {
        recv_at = extents.send[at].offset;
      }
      const auto size = static_cast<std::size_t>(extents.send_size + extents.recv_size);
      buffers_.emplace_back(size);
      scratch_.emplace_back(static_cast<std::size_t>(plan_.scratch[at]), -1.0F);
      memory_.push_back({.send = reinterpret_cast<std::byte*>(buffers_.back().data() + send_at),
                         .recv = reinterpret_cast<std::byte*>(buffers_.back().data() + recv_at),
                         .scratch = reinterpret_cast<std::byte*>(scratch_.back().data())});
    }
    if (call_.op == spec::ReduceOp::premul_sum) {
      scalars_.resize(memory_.size());
      for (std::size_t r = 0; r < memory_.size(); ++r) {
        scalars_[r] = static_cast<float>(r + 2);
        memory_[r].scalar = reinterpret_cast<const std::byte*>(&scalars_[r]);
      }
    }
    fill();
  }

  void fill() {
    for (std::size_t r = 0; r < buffers_.size(); ++r) {
      for (std::size_t i = 0; i < buffers_[r].size(); ++i) {
        buffers_[r][i] = static_cast<float>(100 * r + i + 1);
      }
    }
  }

  /// Returns the work of `calls` calls in a row, followed by writes of every rank to its memory.
  [[nodiscard]] std::vector<Work> enqueued(int calls = 1) {
    Trace trace;
    for (int k = 0; k < calls; ++k) enqueue({plan_, memory_}, trace);
    // After the calls, every rank may use its memory freely.
    for (std::size_t r = 0; r < buffers_.size(); ++r) {
      Work work{.kind = Work::Kind::combine, .rank = static_cast<int>(r)};
      const auto writes = [&work](const float* begin, std::size_t count) {
        work.accesses.push_back({reinterpret_cast<const std::byte*>(begin),
                                 static_cast<std::int64_t>(count) * element,
                                 true});
      };
      writes(buffers_[r].data(), buffers_[r].size());
      writes(scratch_[r].data(), scratch_[r].size());
      if (!scalars_.empty()) writes(&scalars_[r], 1);
      trace.work.push_back(std::move(work));
    }
    return trace.work;
  }

  [[nodiscard]] const std::vector<std::vector<float>>& buffers() const { return buffers_; }
  [[nodiscard]] const plan::Plan& plan() const { return plan_; }
  [[nodiscard]] const std::vector<RankMemory>& memory() const { return memory_; }
  [[nodiscard]] int ranks() const { return call_.ranks; }

 private:
  spec::Call call_;
  plan::Plan plan_;
  std::vector<std::vector<float>> buffers_;
  std::vector<std::vector<float>> scratch_;
  /// One scalar per rank if the op is premul_sum, else empty.
  std::vector<float> scalars_;
  std::vector<RankMemory> memory_;
};

}  // namespace rankcheck::gpu::cuda
