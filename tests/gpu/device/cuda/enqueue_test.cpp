#include "gpu/device/cuda/enqueue.hpp"

#include <algorithm>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "reference/registry.hpp"

#include "gpu/collectives/registry.hpp"
#include "gpu/device/cluster.hpp"
#include "gpu/device/sim/combine.hpp"
#include "gpu/plan/builder.hpp"
#include "gpu/plan/random.hpp"

#include "tests/gpu/plan/sketch.hpp"
#include "tests/print.hpp"

/// What plans ask of CUDA's streams, looked at without a device.
namespace rankcheck::gpu {

/// For GoogleTest, which otherwise prints addresses.
static void PrintTo(const Implementation& implementation, std::ostream* out) {
  *out << implementation.operation << " with " << implementation.algorithm.name;
}

namespace cuda {
namespace {

constexpr std::int64_t element = sizeof(float);

/// A run of bytes that some work reads or writes.
struct Access {
  const std::byte* begin;
  std::int64_t bytes;
  bool writes;
};

bool conflict(const Access& a, const Access& b) {
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

/// Writes down what is enqueued.
class Trace final : public Streams {
 public:
  void combine(int rank,
               spec::Type type,
               spec::ReduceOp op,
               std::byte* destination,
               std::span<const Source> sources,
               std::int64_t count,
               int divisor) override {
    Work made{.kind = Work::Kind::combine, .rank = rank};
    made.accesses.push_back({destination, count * element, true});
    for (const Source& each : sources) made.accesses.push_back({each.data, count * element, false});
    const std::vector<Source> kept(sources.begin(), sources.end());
    made.run = [=] { sim::combine(type, op, destination, kept, count, divisor); };
    work.push_back(std::move(made));
  }
  void record(int rank, std::int32_t event) override {
    work.push_back({.kind = Work::Kind::record, .rank = rank, .event = event});
  }
  void wait(int rank, std::int32_t event) override {
    const bool is_recorded = std::any_of(work.begin(), work.end(), [event](const Work& each) {
      return each.kind == Work::Kind::record && each.event == event;
    });
    EXPECT_TRUE(is_recorded) << "rank " << rank << " waits for event " << event << ": for nothing";
    work.push_back({.kind = Work::Kind::wait, .rank = rank, .event = event});
  }

  std::vector<Work> work;
};

/// Two pieces of work that nothing orders, and that touch the same bytes; empty where there are
/// none. Order comes from a stream's own, and from record -> wait.
std::string find_race(const std::vector<Work>& work, int ranks) {
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

/// Does the work of all streams, in any order that they allow.
void perform(const std::vector<Work>& work, int ranks, std::uint64_t seed) {
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

/// A call, its memory and its plan.
class Subject {
 public:
  Subject(const Implementation& implementation,
          const spec::Call& call,
          const plan::Options& options)
      : call_(call) {
    const spec::Contract& contract = reference::contract_named(implementation.operation);
    plan::Builder builder;
    builder.begin(plan_, contract, call_, options);
    implementation.algorithm.plan(builder);
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
    fill();
  }

  void fill() {
    for (std::size_t r = 0; r < buffers_.size(); ++r) {
      for (std::size_t i = 0; i < buffers_[r].size(); ++i) {
        buffers_[r][i] = static_cast<float>(100 * r + i + 1);
      }
    }
  }

  [[nodiscard]] std::vector<Work> enqueued() {
    Trace trace;
    enqueue(plan_, spec::Type::f32, call_.op, memory_, trace);
    // Behind the call, every rank may do with its buffers what it likes.
    for (std::size_t r = 0; r < buffers_.size(); ++r) {
      const auto* const begin = reinterpret_cast<const std::byte*>(buffers_[r].data());
      const auto bytes = static_cast<std::int64_t>(buffers_[r].size()) * element;
      trace.work.push_back({.kind = Work::Kind::combine,
                            .rank = static_cast<int>(r),
                            .accesses = {{begin, bytes, true}}});
    }
    return trace.work;
  }

  [[nodiscard]] const std::vector<std::vector<float>>& buffers() const { return buffers_; }
  [[nodiscard]] int ranks() const { return call_.ranks; }

 private:
  spec::Call call_;
  plan::Plan plan_;
  std::vector<std::vector<float>> buffers_;
  std::vector<std::vector<float>> scratch_;
  std::vector<RankMemory> memory_;
};

spec::Call call_of(const spec::Contract& contract, int ranks) {
  spec::Call call;
  call.ranks = ranks;
  call.root = contract.rooted ? ranks - 1 : 0;
  if (contract.reduces) call.op = spec::ReduceOp::avg;
  const auto n = static_cast<std::size_t>(ranks);
  if (contract.sizes == spec::Sizes::count) call.count = 5;
  if (contract.sizes == spec::Sizes::counts_per_rank) call.counts.resize(n);
  if (contract.sizes == spec::Sizes::counts_per_pair) call.counts.resize(n * n);
  for (std::size_t i = 0; i < call.counts.size(); ++i) {
    call.counts[i] = static_cast<std::int64_t>(i * 7 + 2) % 6;
  }
  return call;
}

class EnqueueTest : public testing::TestWithParam<Implementation> {
 protected:
  /// Calls of several sizes, also in place where the algorithm takes that.
  static std::vector<Subject> subjects() {
    std::vector<Subject> all;
    const spec::Contract& contract = reference::contract_named(GetParam().operation);
    for (const int ranks : {1, 2, 3, 6}) {
      const spec::Call call = call_of(contract, ranks);
      for (const bool in_place : {false, true}) {
        const plan::Options options{.in_place = in_place, .chunk = 2};
        if (GetParam().algorithm.refuses(call, options).empty()) {
          all.emplace_back(GetParam(), call, options);
        }
      }
    }
    return all;
  }
};

TEST_P(EnqueueTest, LeavesNoRaceBetweenStreams) {
  for (Subject& subject : subjects()) EXPECT_EQ(find_race(subject.enqueued(), subject.ranks()), "");
}

TEST_P(EnqueueTest, GivesTheSameResultInEveryOrderThatStreamsAllow) {
  for (Subject& subject : subjects()) {
    const std::vector<Work> work = subject.enqueued();
    perform(work, subject.ranks(), 0);
    const std::vector<std::vector<float>> first = subject.buffers();
    for (std::uint64_t seed = 1; seed < 5; ++seed) {
      subject.fill();
      perform(work, subject.ranks(), seed);
      EXPECT_EQ(subject.buffers(), first);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All,
                         EnqueueTest,
                         testing::ValuesIn(implementations()),
                         tests::printed_name);

const Implementation& ring_all_reduce() {
  return *std::find_if(implementations().begin(), implementations().end(), [](const auto& each) {
    return each.operation == "all_reduce" && each.algorithm.name == "ring";
  });
}

/// The detector is no good where it finds nothing: every wait of the plan matters to it.
TEST(EnqueueTrace, ShowsARaceWhereAWaitForDataIsMissing) {
  Subject subject(ring_all_reduce(), call_of(reference::contract_named("all_reduce"), 3), {});
  const std::vector<Work> work = subject.enqueued();
  int missing = 0;
  for (std::size_t i = 0; i < work.size(); ++i) {
    // Waits for an entry may be implied by later ones.
    if (work[i].kind != Work::Kind::wait || work[i].event < subject.ranks()) continue;
    std::vector<Work> without = work;
    without.erase(without.begin() + static_cast<std::ptrdiff_t>(i));
    EXPECT_NE(find_race(without, subject.ranks()), "") << "work " << i;
    ++missing;
  }
  EXPECT_GT(missing, 0);
}

TEST(EnqueueTrace, DividesOnceWhereTheOpIsAvg) {
  Subject subject(ring_all_reduce(), call_of(reference::contract_named("all_reduce"), 2), {});
  perform(subject.enqueued(), 2, 1);
  // recv comes first; rank r's send buffer starts with element 5: 100 r + 6, 100 r + 7, ...
  const std::vector<float> expected{56, 57, 58, 59, 60};
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), subject.buffers()[0].begin()));
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), subject.buffers()[1].begin()));
}

TEST(EnqueueTrace, RejectsAWaitThatNobodyEnds) {
  plan::Sketch sketch(2);
  sketch.builder.wait(0, sketch.builder.signal(0));
  std::swap(sketch.plan.steps[0].front(), sketch.plan.steps[0].back());
  Trace trace;
  const std::vector<RankMemory> memory(2);
  EXPECT_THROW(enqueue(sketch.plan, spec::Type::f32, spec::ReduceOp::sum, memory, trace),
               DeviceError);
}

}  // namespace
}  // namespace cuda
}  // namespace rankcheck::gpu
