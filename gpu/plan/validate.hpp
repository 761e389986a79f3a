#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "reference/spec/contract.hpp"

#include "gpu/plan/builder.hpp"
#include "gpu/plan/monitor.hpp"
#include "gpu/plan/plan.hpp"

namespace rankcheck::gpu::plan {

/// Where each rank's buffers lie relative to each other in a legal call, in elements: send and recv
/// apart, or overlapping as the contract says where the call is in place.
[[nodiscard]] std::vector<RankMemory> memory_of(const Plan& plan,
                                                const spec::Contract& contract,
                                                const spec::Call& call,
                                                const Options& options);

/// What is wrong with a plan, found without moving data: everything that the Monitor knows, events
/// that nobody signals or waits for, deadlock. What it finds does not depend on a schedule.
[[nodiscard]] std::optional<Violation> validate(const Plan& plan,
                                                std::span<const RankMemory> memory);

/// One element of a send buffer in the value of an element.
struct Contribution {
  std::int32_t rank = 0;
  std::int64_t index = 0;
  /// How often it was read through a send buffer on its way (premul_sum multiplies each time), and
  /// how often a `finish` was applied to it. Each must be 1 in the result of a reduction.
  std::int32_t premultiplied = 0;
  std::int32_t finished = 0;
  /// How often it was combined in; a correct plan combines an element once.
  std::int64_t times = 1;

  friend auto operator<=>(const Contribution&, const Contribution&) = default;
};

/// The symbolic value of one element: sorted, and empty where nothing was ever written.
using TracedValue = std::vector<Contribution>;

/// Executes a plan that `validate` accepts on symbols instead of numbers: trace(…)[r][i] says what
/// element i of rank r's recv buffer is made of. Takes time and memory per element.
[[nodiscard]] std::vector<std::vector<TracedValue>> trace(const Plan& plan,
                                                          std::span<const RankMemory> memory);

}  // namespace rankcheck::gpu::plan
