#include "gpu/plan/patterns/all_gather.hpp"

#include <algorithm>

#include "gpu/plan/patterns/communication_round.hpp"

namespace rankcheck::gpu::plan {

void ring_all_gather(Builder& builder, const Place& place) {
  ring_all_gather(builder, place, place);
}

void ring_all_gather(Builder& builder, const Place& place, const Place& missing) {
  const int n = builder.ranks();
  CommunicationRound round(builder);
  for (int step = 0; step + 1 < n; ++step) {
    for (int r = 0; r < n; ++r) {
      const int block = (r - step + n) % n;
      round.put(missing((r + 1) % n, block), place(r, block));
    }
    round.close();
  }
}

void bruck_all_gather(Builder& builder, const Place& place) {
  const int n = builder.ranks();
  CommunicationRound round(builder);
  for (int distance = 1; distance < n; distance *= 2) {
    for (int r = 0; r < n; ++r) {
      round.put(place, r, (r - distance + n) % n, {r, std::min(distance, n - distance)});
    }
    round.close();
  }
}

void direct_all_gather(Builder& builder, const Place& place) {
  const int n = builder.ranks();
  CommunicationRound round(builder);
  for (int distance = 1; distance < n; ++distance) {
    for (int r = 0; r < n; ++r) round.put(place((r + distance) % n, r), place(r, r));
  }
  round.close();
}

}  // namespace rankcheck::gpu::plan
