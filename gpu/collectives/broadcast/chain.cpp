#include <algorithm>
#include <cstdint>

#include "gpu/plan/algorithm.hpp"
#include "gpu/plan/patterns/place.hpp"

namespace rankcheck::gpu::broadcast {

namespace {

/// In elements. A smaller chunk is not worth a message of its own, and more pieces than
/// `pieces_max` hardly shorten the pipeline.
constexpr std::int64_t chunk_min = 8192;
constexpr std::int64_t pieces_max = 32;

std::int64_t chunk_of(const plan::Builder& builder, std::int64_t count) {
  if (builder.options().chunk > 0) return builder.options().chunk;
  return std::max(chunk_min, (count + pieces_max - 1) / pieces_max);
}

void plan_chain(plan::Builder& builder) {
  const int n = builder.ranks();
  const int root = builder.call().root;
  const plan::Place message = plan::broadcast_message(builder);
  const std::int64_t count = builder.send(root).count;
  const std::int64_t chunk = chunk_of(builder, count);
  for (std::int64_t start = 0; start < count; start += chunk) {
    const std::int64_t size = std::min(chunk, count - start);
    for (int position = 0; position + 1 < n; ++position) {
      const int next = (root + position + 1) % n;
      const plan::Range from = part(message((root + position) % n, 0), start, size);
      builder.wait(next, builder.send_to(part(message(next, 0), start, size), from));
    }
  }
  builder.copy(builder.recv(root), builder.send(root));
}

}  // namespace

plan::Algorithm chain() {
  return {
      .name = "chain",
      .summary =
          "Chunks travel along a chain of ranks: n-2 steps plus one for each chunk, least traffic.",
      .plan = plan_chain,
      .in_chunks = true};
}

}  // namespace rankcheck::gpu::broadcast
