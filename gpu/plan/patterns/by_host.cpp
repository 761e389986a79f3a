#include "gpu/plan/patterns/by_host.hpp"

#include <algorithm>
#include <map>

#include "reference/spec/to_size.hpp"

#include "gpu/plan/patterns/communication_round.hpp"

namespace rankcheck::gpu::plan {

namespace {

/// Returns the ranks of each host. The leader comes first, and the root's host is the first one.
std::vector<std::vector<int>> ranks_by_host(const Builder& builder, int root) {
  const std::vector<int>& hosts = builder.options().hosts;
  std::map<int, std::size_t> places;
  std::vector<std::vector<int>> ranks;
  for (int i = 0; i < builder.ranks(); ++i) {
    const int rank = (root + i) % builder.ranks();
    const int host = hosts.empty() ? 0 : hosts[spec::to_size(rank)];
    const std::size_t place = places.emplace(host, ranks.size()).first->second;
    if (place == ranks.size()) ranks.emplace_back();
    ranks[place].push_back(rank);
  }
  for (std::vector<int>& each : ranks) {
    if (each.front() != root) std::sort(each.begin(), each.end());
  }
  return ranks;
}

/// Appends a binomial tree over these ranks. The first one is its root.
void append_tree(const std::vector<int>& ranks, std::vector<Edge>& edges) {
  for (const Edge& edge : binomial_tree(static_cast<int>(ranks.size()), 0)) {
    edges.push_back(
        {.parent = ranks[spec::to_size(edge.parent)], .child = ranks[spec::to_size(edge.child)]});
  }
}

}  // namespace

std::vector<Edge> tree_by_host(const Builder& builder, int root) {
  const std::vector<std::vector<int>> hosts = ranks_by_host(builder, root);
  std::vector<int> leaders;
  for (const std::vector<int>& host : hosts) leaders.push_back(host.front());
  std::vector<Edge> edges;
  append_tree(leaders, edges);
  for (const std::vector<int>& host : hosts) append_tree(host, edges);
  return edges;
}

void all_gather_by_host(Builder& builder, const Place& place) {
  const std::vector<std::vector<int>> hosts = ranks_by_host(builder, 0);
  CommunicationRound round(builder);
  for (const std::vector<int>& host : hosts) {
    for (const int r : host) {
      if (r != host.front()) round.put(place(host.front(), r), place(r, r));
    }
  }
  round.close();
  for (const std::vector<int>& from : hosts) {
    for (const std::vector<int>& to : hosts) {
      if (from == to) continue;
      for (const int r : from) round.put(place(to.front(), r), place(from.front(), r));
    }
  }
  round.close();
  for (const std::vector<int>& host : hosts) {
    for (const int r : host) {
      // Every block but the rank's own.
      if (r != host.front()) round.put(place, host.front(), r, {r + 1, builder.ranks() - 1});
    }
  }
  round.close();
}

}  // namespace rankcheck::gpu::plan
