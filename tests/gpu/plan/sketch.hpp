#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "reference/collectives/all_reduce/contract.hpp"
#include "reference/spec/to_size.hpp"

#include "gpu/plan/builder.hpp"
#include "gpu/plan/validate.hpp"

namespace rankcheck::gpu::plan {

/// A hand-made plan. Each rank has a send and a recv buffer of `count` elements.
struct Sketch {
  explicit Sketch(int ranks, std::int64_t count = 4, Options chosen = {})
      : call{.ranks = ranks, .op = spec::ReduceOp::sum, .count = count, .counts = {}},
        options(std::move(chosen)) {
    builder.begin(plan, contract, call, options);
  }
  Sketch(const Sketch&) = delete;
  Sketch& operator=(const Sketch&) = delete;

  [[nodiscard]] std::vector<RankMemory> memory() const {
    return memory_of(plan, contract, call, options);
  }
  /// Returns the first violation's text; empty if the plan is valid.
  [[nodiscard]] std::string wrong() const {
    const auto violation = validate(plan, memory());
    return violation ? violation->text : "";
  }
  /// Adds a step without the builder, so that it waits for no entry.
  void raw(int rank, StepKind kind, const Range& destination, const std::vector<Range>& sources) {
    const auto first = static_cast<std::uint32_t>(plan.sources.size());
    plan.sources.insert(plan.sources.end(), sources.begin(), sources.end());
    plan.steps[spec::to_size(rank)].push_back(
        {.kind = kind,
         .finish = false,
         .event = {},
         .destination = destination,
         .first_source = first,
         .source_count = static_cast<std::uint32_t>(sources.size())});
  }

  spec::Contract contract = reference::all_reduce::contract();
  spec::Call call;
  Options options;
  Plan plan;
  Builder builder;
};

/// Rank 0 puts its elements to rank 1. Rank 1 waits for them if `waits` is true.
inline void send_to_1(Builder& builder, bool waits = true) {
  const Event sent = builder.send_to(builder.recv(1), builder.send(0));
  if (waits) builder.wait(1, sent);
}

}  // namespace rankcheck::gpu::plan
