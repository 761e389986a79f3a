#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "reference/spec/to_size.hpp"

#include "gpu/plan/print.hpp"
#include "gpu/plan/validate.hpp"

#include "tests/gpu/collectives/implementation.hpp"
#include "tests/print.hpp"
#include "tests/reference/collectives/calls.hpp"

namespace rankcheck::gpu {

namespace {

using plan::Options;
using plan::Plan;
using tests::collective_named;

struct Request {
  spec::Call call;
  Options options;
};

std::string to_text(const Request& request) {
  std::string text = "ranks " + std::to_string(request.call.ranks) + ", root " +
                     std::to_string(request.call.root) + ", count " +
                     std::to_string(request.call.count) + ", counts";
  for (const std::int64_t count : request.call.counts) text += " " + std::to_string(count);
  return text + ", gap " + std::to_string(request.call.gap) + ", pattern " +
         std::to_string(static_cast<int>(request.call.pattern)) + ", shift " +
         std::to_string(request.call.shift) + ", chunk " + std::to_string(request.options.chunk) +
         (request.options.in_place ? ", in place" : "") +
         (request.options.hosts.empty() ? "" : ", on several hosts");
}

std::vector<int> roots_of(const spec::Contract& contract, int ranks) {
  if (!collective(contract).rooted || ranks == 1) return {0};
  if (ranks == 2) return {0, 1};
  return {0, ranks / 2, ranks - 1};
}

/// Returns the patterns that calls can have: the default if the operation has no patterns.
std::vector<spec::Pattern> patterns_of(const spec::Contract& contract) {
  if (!collective(contract).patterned) return {spec::Pattern::ring};
  using enum spec::Pattern;
  return {ring, pairs, self, one_way};
}

/// Returns no hosts, two hosts whose ranks alternate, or three with any numbers of ranks.
std::vector<int> hosts_of(int ranks, std::int64_t size) {
  std::vector<int> hosts;
  for (int r = 0; r < ranks && size > 0; ++r) hosts.push_back(size == 5 ? r % 2 : r * r % 5 % 3);
  return hosts;
}

/// Returns legal calls out of place, and in place if `implementation` supports this.
std::vector<Request> requests_of(const Implementation& implementation,
                                 const spec::Contract& contract,
                                 std::initializer_list<int> ranks) {
  std::vector<Request> requests;
  const auto add = [&](const Request& request) {
    EXPECT_FALSE(spec::why_invalid(contract, request.call)) << to_text(request);
    requests.push_back(request);
    Request in_place = request;
    in_place.options.in_place = true;
    spec::mirror_counts(contract, request.call.ranks, in_place.call.counts);
    const auto refuses = implementation.algorithm.refuses;
    if (refuses(in_place.call, in_place.options).empty()) requests.push_back(in_place);
  };
  for (const int n : ranks) {
    for (const int root : roots_of(contract, n)) {
      for (const std::int64_t size : {0, 1, 5, 16}) {
        Request request{.call = tests::call_of(contract, n, size),
                        .options = {.chunk = size / 4, .hosts = hosts_of(n, size)}};
        request.call.root = root;
        request.call.shift = static_cast<int>(size) - 2;
        for (const spec::Pattern pattern : patterns_of(contract)) {
          request.call.pattern = pattern;
          add(request);
        }
      }
    }
  }
  return requests;
}

/// Returns what the reference expects in a rank's recv buffer, in the types of `plan::trace`.
std::vector<plan::TracedValue> expected_of(const reference::Collective& collective,
                                           const spec::Call& call,
                                           int rank,
                                           bool in_place) {
  const spec::Extents extents = spec::extents_of(collective.contract, call, rank);
  std::vector<plan::TracedValue> expected(spec::to_size(extents.recv_size));
  if (in_place && collective.contract.in_place == spec::InPlace::same && !extents.recv.empty() &&
      !extents.send.empty()) {
    // Between the blocks, the rank's own input stays.
    for (std::size_t i = 0; i < expected.size(); ++i) {
      expected[i] = {{.rank = rank, .index = static_cast<std::int64_t>(i)}};
    }
    for (const spec::Block& block : extents.recv) {
      for (std::int64_t i = 0; i < block.count; ++i) {
        expected[spec::to_size(block.offset + i)].clear();
      }
    }
  }
  std::vector<reference::Piece> pieces;
  collective.reference(call, rank, pieces);
  for (const reference::Piece& piece : pieces) {
    for (std::int64_t i = 0; i < piece.count; ++i) {
      plan::TracedValue& value = expected[spec::to_size(piece.recv_offset + i)];
      const bool combines = piece.source < 0;
      for (const reference::Term& term : terms_of(piece, call.ranks)) {
        value.push_back({.rank = term.rank,
                         .index = term.offset + i,
                         .premultiplied = combines ? 1 : 0,
                         .finished = combines ? 1 : 0});
      }
    }
  }
  return expected;
}

/// Moved data is not multiplied, however often it is read from a send buffer. So its trace must not
/// count premultiplications.
void forget_premultiplications(std::vector<plan::TracedValue>& values) {
  for (plan::TracedValue& value : values) {
    for (plan::Contribution& contribution : value) contribution.premultiplied = 0;
  }
}

/// Whether a plan runs to its end, and the monitor sees no violation. Unlike plan::validate(), this
/// function accepts signals that nobody waits for.
bool is_ordered(const Plan& plan,
                const std::vector<plan::RankMemory>& memory,
                plan::Monitor& monitor) {
  if (monitor.begin(plan, memory, plan::Monitor::Unit::element) != nullptr) return false;
  plan::Scheduler scheduler;
  scheduler.begin(plan, {});
  while (const std::optional<plan::Move> move = scheduler.next()) {
    if (monitor.follow(*move) != nullptr) return false;
  }
  return scheduler.finished();
}

class PlansTest : public testing::TestWithParam<Implementation> {
 protected:
  [[nodiscard]] std::vector<Request> requests() const {
    return requests_of(GetParam(), contract(), {1, 2, 3, 4, 5, 6, 7, 8, 9, 16});
  }
  [[nodiscard]] const reference::Collective& collective() const {
    return collective_named(GetParam().operation);
  }
  [[nodiscard]] const spec::Contract& contract() const { return collective().contract; }
};

TEST_P(PlansTest, HaveNoRaceAndNoDeadlock) {
  for (const Request& request : requests()) {
    const Plan plan = plan_of(GetParam(), request.call, request.options);
    const auto memory = plan::memory_of(plan, contract(), request.call, request.options);
    const std::optional<plan::Violation> violation = plan::validate(plan, memory);
    ASSERT_FALSE(violation) << to_text(request) << ": " << violation->text;
  }
}

TEST_P(PlansTest, GiveWhatTheReferenceSays) {
  std::size_t compared = 0;
  for (const Request& request : requests()) {
    const Plan plan = plan_of(GetParam(), request.call, request.options);
    const auto memory = plan::memory_of(plan, contract(), request.call, request.options);
    auto traced = plan::trace(plan, memory);
    for (int r = 0; r < request.call.ranks; ++r) {
      std::vector<plan::TracedValue>& got = traced[spec::to_size(r)];
      if (!spec::collective(contract()).reduces) forget_premultiplications(got);
      ASSERT_EQ(got, expected_of(collective(), request.call, r, request.options.in_place))
          << to_text(request) << ", rank " << r << "\n"
          << plan::to_text(plan);
      compared += got.size();
    }
  }
  EXPECT_EQ(compared == 0, spec::collective(contract()).sizes == spec::Sizes::none);
}

TEST_P(PlansTest, NeverWriteASendBuffer) {
  for (const Request& request : requests()) {
    const Plan plan = plan_of(GetParam(), request.call, request.options);
    for (const auto& program : plan.steps) {
      for (const plan::Step& step : program) {
        ASSERT_FALSE(step.destination.count > 0 && step.destination.buffer == plan::Buffer::send)
            << to_text(request);
      }
    }
  }
}

TEST_P(PlansTest, TakeEveryCallOutOfPlace) {
  for (const Request& request : requests()) {
    EXPECT_EQ(GetParam().algorithm.refuses(request.call, {}), "") << to_text(request);
  }
}

TEST_P(PlansTest, TakeCallsInPlaceWhereTheContractHasThem) {
  const spec::Call call = tests::call_of(contract(), 3, 5);
  const bool refuses = !GetParam().algorithm.refuses(call, {.in_place = true}).empty();
  EXPECT_EQ(refuses, contract().in_place == spec::InPlace::none);
}

TEST_P(PlansTest, HaveChunksWhereTheySaySo) {
  const plan::Algorithm& algorithm = GetParam().algorithm;
  const Request whole{.call = tests::call_of(contract(), 3, 16), .options = {}};
  Request in_parts = whole;
  in_parts.options.chunk = 2;
  const auto text = [&](const Request& request) {
    return plan::to_text(plan_of(GetParam(), request.call, request.options));
  };
  EXPECT_EQ(text(whole) != text(in_parts), algorithm.in_chunks);
  EXPECT_EQ(why_refused(algorithm, in_parts.call, in_parts.options).empty(), algorithm.in_chunks);
}

INSTANTIATE_TEST_SUITE_P(All, PlansTest, testing::ValuesIn(implementations()), tests::printed_name);

/// Returns all algorithms except those whose ranks wait to keep step, not to protect memory.
std::vector<Implementation> frugal_implementations() {
  std::vector<Implementation> frugal;
  for (const Implementation& implementation : implementations()) {
    const spec::Contract& contract = collective_named(implementation.operation).contract;
    const std::string_view algorithm = implementation.algorithm.name;
    const bool keeps_step =
        algorithm == "pairwise" || algorithm == "chain" || algorithm == "scatter_all_gather";
    if (collective(contract).sizes == spec::Sizes::count && !keeps_step)
      frugal.push_back(implementation);
  }
  return frugal;
}

class WaitsTest : public PlansTest {};

TEST_P(WaitsTest, AreAllNeeded) {
  for (const int n : {2, 5, 8}) {
    Request request{.call = tests::call_of(contract(), n, std::int64_t{2} * n), .options = {}};
    request.call.root = 0;
    // In place, all ranks of all_to_all first copy what they send, in step with each other. So not
    // all waits are needed.
    request.options.in_place =
        !contract().name.starts_with("all_to_all") &&
        GetParam().algorithm.refuses(request.call, {.in_place = true}).empty();
    Plan plan = plan_of(GetParam(), request.call, request.options);
    const auto memory = plan::memory_of(plan, contract(), request.call, request.options);
    for (int r = 0; r < n; ++r) {
      auto& program = plan.steps[spec::to_size(r)];
      for (std::size_t i = 0; i < program.size(); ++i) {
        const plan::Step wait = program[i];
        // A rank waits for another rank's entry wherever it first touches its memory. Some of these
        // entries are already known.
        if (wait.kind != plan::StepKind::wait || wait.event.id < n) continue;
        const auto at = program.begin() + static_cast<std::ptrdiff_t>(i);
        program.erase(at);
        plan::Monitor monitor;
        EXPECT_FALSE(is_ordered(plan, memory, monitor))
            << to_text(request) << ": rank " << r << " need not wait in step " << i;
        program.insert(program.begin() + static_cast<std::ptrdiff_t>(i), wait);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Frugal,
                         WaitsTest,
                         testing::ValuesIn(frugal_implementations()),
                         tests::printed_name);

TEST(BarriersTest, LetNobodyLeaveBeforeEveryoneEntered) {
  for (const Implementation& implementation : implementations()) {
    const spec::Contract& contract = collective_named(implementation.operation).contract;
    if (!contract.synchronises) continue;
    for (const Request& request : requests_of(implementation, contract, {1, 2, 3, 4, 5, 8, 13})) {
      const Plan plan = plan_of(implementation, request.call, request.options);
      const auto memory = plan::memory_of(plan, contract, request.call, request.options);
      plan::Monitor monitor;
      ASSERT_TRUE(is_ordered(plan, memory, monitor))
          << implementation.algorithm.name << ", " << to_text(request);
      for (int r = 0; r < request.call.ranks; ++r) {
        EXPECT_TRUE(monitor.left_after_every_entry(r))
            << implementation.algorithm.name << ", " << to_text(request) << ", rank " << r;
      }
    }
  }
}

}  // namespace

}  // namespace rankcheck::gpu
