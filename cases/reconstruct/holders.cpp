#include "cases/reconstruct/holders.hpp"

#include <algorithm>
#include <cstddef>

#include "reference/spec/to_size.hpp"

#include "gpu/ptycho/exchange/tiles.hpp"

namespace rankcheck::cases::reconstruct {

std::vector<spec::Box> held_by_ranks(const Problem& problem,
                                     const Shards& shards,
                                     const spec::Scene& scene) {
  if (problem.layout == Layout::replicated) {
    return gpu::whole_objects(scene, problem.cluster.ranks());
  }
  std::vector<spec::Box> held;
  for (const std::vector<std::int64_t>& positions : shards.positions()) {
    std::vector<float> corners;
    for (const std::int64_t n : positions) {
      const auto first = problem.data.positions.begin() + 2 * n;
      corners.insert(corners.end(), first, first + 2);
    }
    held.push_back(gpu::box_of_windows<float>(scene, corners));
  }
  return held;
}

std::vector<int> lowest_holders(const spec::Scene& scene, const std::vector<spec::Box>& held) {
  std::vector<int> holders(spec::to_size(spec::values(scene, spec::Array::object)), -1);
  for (std::size_t rank = held.size(); rank-- > 0;) {
    const spec::Box& box = held[rank];
    for (std::int64_t row = box.row; row < box.row + box.rows; ++row) {
      std::fill_n(holders.begin() + row * scene.cols + box.col, box.cols, static_cast<int>(rank));
    }
  }
  return holders;
}

std::vector<int> owners_of(const Shards& shards, std::int64_t count) {
  std::vector<int> owners(spec::to_size(count));
  for (std::size_t rank = 0; rank < shards.positions().size(); ++rank) {
    for (const std::int64_t n : shards.positions()[rank]) {
      owners[spec::to_size(n)] = static_cast<int>(rank);
    }
  }
  return owners;
}

}  // namespace rankcheck::cases::reconstruct
