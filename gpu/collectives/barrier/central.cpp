#include "gpu/plan/algorithm.hpp"
#include "gpu/plan/patterns/communication_round.hpp"

namespace rankcheck::gpu::barrier {

namespace {

void plan_central(plan::Builder& builder) {
  plan::CommunicationRound round(builder);
  for (int r = 1; r < builder.ranks(); ++r) round.tell(r, 0);
  round.close();
  plan::wait_for_ranks(builder, 0, 1);
}

}  // namespace

plan::Algorithm central() {
  return {.name = "central",
          .summary =
              "All ranks signal rank 0, which then signals all ranks: two steps, 2(n-1) signals.",
          .refuses = plan::refuses_in_place,
          .plan = plan_central};
}

}  // namespace rankcheck::gpu::barrier
