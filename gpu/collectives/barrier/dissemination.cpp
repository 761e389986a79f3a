#include "gpu/plan/algorithm.hpp"
#include "gpu/plan/patterns/communication_round.hpp"

namespace rankcheck::gpu::barrier {

namespace {

void plan_dissemination(plan::Builder& builder) {
  const int n = builder.ranks();
  plan::CommunicationRound round(builder);
  for (int distance = 1; distance < n; distance *= 2) {
    for (int r = 0; r < n; ++r) round.tell(r, (r + distance) % n);
    round.close();
  }
}

}  // namespace

plan::Algorithm dissemination() {
  return {
      .name = "dissemination",
      .summary = "Each rank signals one other rank, over doubling distances: log2(n) steps, any n.",
      .refuses = plan::refuses_in_place,
      .plan = plan_dissemination};
}

}  // namespace rankcheck::gpu::barrier
