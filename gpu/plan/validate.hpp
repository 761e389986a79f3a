#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "reference/spec/collective.hpp"

#include "gpu/plan/builder.hpp"
#include "gpu/plan/monitor.hpp"
#include "gpu/plan/plan.hpp"

namespace rankcheck::gpu::plan {

/// The positions of each rank's buffers relative to each other in a legal call, in elements. In
/// place, send and recv overlap as the contract says; otherwise they are apart.
[[nodiscard]] std::vector<RankMemory> memory_of(const Plan& plan,
                                                const spec::Contract& contract,
                                                const spec::Call& call,
                                                const Options& options);

/// Says what is wrong with a plan, without moving data; empty if nothing is. Finds everything that
/// the Monitor finds, events that are not both signalled and waited for, and deadlock. The result
/// does not depend on a schedule.
[[nodiscard]] std::optional<Violation> validate(const Plan& plan,
                                                std::span<const RankMemory> memory);

/// One element of a send buffer that is part of the value of an element.
struct Contribution {
  std::int32_t rank = 0;
  std::int64_t index = 0;
  /// premultiplied: how often the element was read from a send buffer on its way (premul_sum
  /// multiplies each time). finished: how often `finish` was applied to it. Both must be 1 in the
  /// result of a reduction.
  std::int32_t premultiplied = 0;
  std::int32_t finished = 0;
  /// How often the element was combined into the value. A correct plan combines it once.
  std::int64_t times = 1;

  // clang-tidy 14 sees a null pointer in the comparison that the compiler makes.
  // NOLINTNEXTLINE(modernize-use-nullptr)
  friend auto operator<=>(const Contribution&, const Contribution&) = default;
};

/// The symbolic value of one element: sorted contributions. It is empty if the element was never
/// written.
using TracedValue = std::vector<Contribution>;

/// Executes a plan that `validate` accepts on symbols instead of numbers. trace(…)[r][i] lists
/// the contributions to element i of rank r's recv buffer. Time and memory grow with the number of
/// elements.
[[nodiscard]] std::vector<std::vector<TracedValue>> trace(const Plan& plan,
                                                          std::span<const RankMemory> memory);

}  // namespace rankcheck::gpu::plan
