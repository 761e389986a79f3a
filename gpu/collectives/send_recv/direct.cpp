#include "gpu/plan/algorithm.hpp"
#include "gpu/plan/patterns/communication_round.hpp"

namespace rankcheck::gpu::send_recv {

namespace {

void plan_direct(plan::Builder& builder) {
  plan::CommunicationRound round(builder);
  for (int r = 0; r < builder.ranks(); ++r) {
    const int to = spec::destination(builder.call(), r);
    if (to != spec::nobody) round.put(builder.recv(to), builder.send(r));
  }
  round.close();
}

}  // namespace

plan::Algorithm direct() {
  return {.name = "direct",
          .summary = "Each rank writes its message to its destination: one step.",
          .refuses = plan::refuses_in_place,
          .plan = plan_direct};
}

}  // namespace rankcheck::gpu::send_recv
