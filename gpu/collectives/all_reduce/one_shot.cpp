#include <vector>

#include "reference/spec/to_size.hpp"

#include "gpu/plan/algorithm.hpp"
#include "gpu/plan/patterns/communication_round.hpp"
#include "gpu/plan/patterns/reduce_scatter.hpp"

namespace rankcheck::gpu::all_reduce {

namespace {

void plan_one_shot(plan::Builder& builder) {
  const int n = builder.ranks();
  const bool in_place = builder.options().in_place;
  std::vector<plan::Range> results;
  for (int r = 0; r < n; ++r) {
    // In place, the peers still read the memory that the result would overwrite.
    const plan::Range out = builder.recv(r);
    results.push_back(in_place && n > 1 ? builder.scratch(r, out.count) : out);
    plan::reduce_from_peers(builder, results.back(), plan::whole_send(builder), 0);
  }
  plan::wait_for_ranks(builder, 0, n);
  if (!in_place || n == 1) return;
  for (int r = 0; r < n; ++r) {
    builder.copy(builder.recv(r), results[spec::to_size(r)]);
  }
}

}  // namespace

plan::Algorithm one_shot() {
  return {
      .name = "one_shot",
      .summary =
          "Each rank reduces everything from all peers' memory: one step, n times the traffic, for "
          "short messages.",
      .plan = plan_one_shot,
      .keeps_order = plan::always_keeps_order};
}

}  // namespace rankcheck::gpu::all_reduce
