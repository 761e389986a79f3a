#include "harness/backend/stage_images.hpp"

#include <algorithm>
#include <vector>

#include "reference/spec/to_size.hpp"

#include "harness/backend/stages.hpp"

namespace rankcheck::harness {

void prepare_after(const Hosting& hosting,
                   std::span<const Case> stages,
                   std::size_t stage,
                   int rank,
                   std::span<const StageOutcome> earlier,
                   ImageLayout& layout,
                   Image& image) {
  const std::vector<int>& group = stages[stage].group;
  const int world_rank = group.empty() ? rank : group[spec::to_size(rank)];
  std::vector<const std::byte*> left(stage, nullptr);
  for (std::size_t s = 0; s < std::min(stage, earlier.size()); ++s) {
    std::ptrdiff_t place = place_in_group(stages[s], world_rank);
    if (place < 0) continue;
    if (hosting.hosts) {
      const std::vector<int> before = members(stages[s]);
      place = std::count_if(before.begin(), before.begin() + place, hosting.hosts);
    }
    left[s] = earlier[s].images[spec::to_size(place)].data();
  }
  prepare_stage(
      hosting.contract_of, stages, stage, rank, hosting.result_place, left, layout, image);
}

void prepare_members(const Hosting& hosting,
                     std::span<const Case> stages,
                     std::size_t stage,
                     ImageLayout& layout,
                     Observation& result,
                     const std::function<void(const HostedMember&)>& use) {
  const std::vector<int> group = members(stages[stage]);
  std::vector<int> hosted;
  for (int rank = 0; rank < std::ssize(group); ++rank) {
    if (!hosting.hosts || hosting.hosts(group[spec::to_size(rank)])) hosted.push_back(rank);
  }
  StageOutcome& outcome = result.stages[stage];
  outcome.images.resize(hosted.size());
  outcome.stamps.assign(hosted.size(), {});
  for (std::size_t i = 0; i < hosted.size(); ++i) {
    prepare_after(hosting, stages, stage, hosted[i], result.stages, layout, outcome.images[i]);
    use({.place = i,
         .group_rank = hosted[i],
         .world_rank = group[spec::to_size(hosted[i])],
         .layout = layout,
         .image = outcome.images[i]});
  }
}

}  // namespace rankcheck::harness
