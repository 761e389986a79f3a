#include "gpu/plan/patterns/by_host.hpp"

#include "gpu/plan/algorithm.hpp"
#include "gpu/plan/patterns/all_gather.hpp"

namespace rankcheck::gpu::all_gather {

plan::Algorithm by_host() {
  return {.name = "by_host",
          .summary =
              "The first rank of each host gathers its blocks, exchanges them with those of the "
              "other hosts, and passes all of them on.",
          .plan = plan::all_gather<plan::all_gather_by_host>};
}

}  // namespace rankcheck::gpu::all_gather
