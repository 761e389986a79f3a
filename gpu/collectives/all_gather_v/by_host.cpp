#include "gpu/plan/patterns/by_host.hpp"

#include "gpu/plan/algorithm.hpp"
#include "gpu/plan/patterns/all_gather.hpp"

namespace rankcheck::gpu::all_gather_v {

plan::Algorithm by_host() {
  return {
      .name = "by_host",
      .summary =
          "The first rank of each host gathers its blocks, exchanges them with those of the "
          "other hosts, and passes all of them on.",
      .refuses = plan::refuses_nothing,
      .plan = plan::all_gather<plan::all_gather_by_host>,
  };
}

}  // namespace rankcheck::gpu::all_gather_v
