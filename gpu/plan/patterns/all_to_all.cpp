#include "gpu/plan/patterns/all_to_all.hpp"

#include <cstddef>
#include <vector>

#include "gpu/plan/patterns/round.hpp"

namespace rankcheck::gpu::plan {

void pairwise_all_to_all(Builder& builder) {
  const int n = builder.ranks();
  Round round(builder);
  for (int distance = 0; distance < n; ++distance) {
    for (int r = 0; r < n; ++r) {
      const int q = (r + distance) % n;
      round.put(builder.recv(q, r), builder.send(r, q));
    }
    round.close();
  }
}

void bruck_all_to_all(Builder& builder) {
  const int n = builder.ranks();
  const auto size = static_cast<std::size_t>(n);
  // at[r * n + way]: where the block from rank r to rank r + way is now.
  std::vector<Range> at;
  at.reserve(size * size);
  for (int r = 0; r < n; ++r) {
    for (int way = 0; way < n; ++way) at.push_back(builder.send(r, (r + way) % n));
    builder.copy(builder.recv(r, r), builder.send(r, r));
  }
  Round round(builder);
  for (int hop = 1; hop < n; hop *= 2) {
    for (std::size_t i = 0; i < at.size(); ++i) {
      const int r = static_cast<int>(i / size);
      const int way = static_cast<int>(i % size);
      if ((way & hop) == 0) continue;
      const bool is_last = way < 2 * hop;
      const Range target = is_last ? builder.recv((r + way) % n, r)
                                   : builder.scratch((at[i].rank + hop) % n, at[i].count);
      round.put(target, at[i]);
      at[i] = target;
    }
    round.close();
  }
}

}  // namespace rankcheck::gpu::plan
