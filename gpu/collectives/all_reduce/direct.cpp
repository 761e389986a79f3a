#include "gpu/plan/algorithm.hpp"

namespace rankcheck::gpu::all_reduce {

namespace {

using plan::Builder;
using plan::Range;

/// Rank r combines part r of every rank's send buffer, reading its peers' memory, and puts the
/// result into every rank's recv buffer. In place the peers' parts are overwritten only after they
/// were read: part r of send is read by rank r alone, in the step before the puts.
void write_plan(Builder& builder) {
  const int n = builder.ranks();
  std::vector<Range> sources(static_cast<std::size_t>(n));
  for (int r = 0; r < n; ++r) {
    const spec::Block block = plan::nearly_equal(builder.call().count, n, r);
    for (int q = 0; q < n; ++q) {
      sources[static_cast<std::size_t>(q)] = part(builder.send(q), block.offset, block.count);
    }
    const Range result = part(builder.recv(r), block.offset, block.count);
    builder.reduce(result, sources, true);
    for (int distance = 1; distance < n; ++distance) {
      const int q = (r + distance) % n;
      builder.put(part(builder.recv(q), block.offset, block.count), result);
    }
  }
  for (int r = 0; r < n; ++r) {
    const plan::Event done = builder.signal(r);
    for (int q = 0; q < n; ++q) {
      if (q != r) builder.wait(q, done);
    }
  }
}

}  // namespace

plan::Algorithm direct() {
  return {
      .name = "direct",
      .summary = "each rank reduces its part from all peers' memory and puts it to everyone",
      .refuses = plan::refuses_nothing,
      .plan = write_plan,
  };
}

}  // namespace rankcheck::gpu::all_reduce
