#include "harness/backend/stage_images.hpp"

#include <vector>

#include "reference/spec/assert.hpp"
#include "reference/spec/to_size.hpp"

#include "harness/backend/stages.hpp"

namespace rankcheck::harness {

namespace {

/// World ranks of the members that this process hosts, and their places in the group.
struct Hosted {
  int group_rank;
  int world_rank;
};

std::vector<Hosted> hosted_members(const Hosting& hosting, const Case& c) {
  std::vector<Hosted> out;
  int group_rank = 0;
  for (const int world_rank : members(c)) {
    if (!hosting.hosts || hosting.hosts(world_rank)) out.push_back({group_rank, world_rank});
    ++group_rank;
  }
  return out;
}

}  // namespace

void prepare_after(std::span<const StageOutcome> earlier,
                   const ContractLookup& contract_of,
                   std::span<const Case> stages,
                   std::size_t stage,
                   int rank,
                   ResultPlace place,
                   ImageLayout& layout,
                   Image& image) {
  const std::vector<int>& group = stages[stage].group;
  const int world_rank = group.empty() ? rank : group[spec::to_size(rank)];
  std::vector<const std::byte*> left(stage, nullptr);
  for (std::size_t s = 0; s < stage; ++s) {
    const int at = place_in_group(stages[s], world_rank);
    if (at >= 0) left[s] = earlier[s].images[spec::to_size(at)].data();
  }
  prepare_stage(contract_of, stages, stage, rank, place, left, layout, image);
}

void prepare_members(const Hosting& hosting,
                     std::span<const Case> stages,
                     std::size_t stage,
                     ImageLayout& layout,
                     Observation& result,
                     const std::function<void(const HostedMember&)>& use) {
  std::vector<Hosted> hosted = hosted_members(hosting, stages[stage]);
  if (!hosting.order.empty()) {
    RANKCHECK_ASSERT(hosting.order.size() == hosted.size());
    const std::vector<int> group = members(stages[stage]);
    for (std::size_t i = 0; i < hosted.size(); ++i) {
      hosted[i] = {hosting.order[i], group[spec::to_size(hosting.order[i])]};
    }
  }
  StageOutcome& outcome = result.stages[stage];
  outcome.images.resize(hosted.size());
  outcome.stamps.assign(hosted.size(), {});
  // The images that each member of this stage left in earlier stages.
  std::vector<std::vector<const std::byte*>> left(hosted.size(),
                                                  std::vector<const std::byte*>(stage, nullptr));
  for (std::size_t s = 0; s < stage; ++s) {
    const std::vector<Hosted> before = hosted_members(hosting, stages[s]);
    for (std::size_t i = 0; i < hosted.size(); ++i) {
      for (std::size_t j = 0; j < before.size(); ++j) {
        if (before[j].world_rank == hosted[i].world_rank) {
          left[i][s] = result.stages[s].images[j].data();
        }
      }
    }
  }
  for (std::size_t i = 0; i < hosted.size(); ++i) {
    prepare_stage(hosting.contract_of,
                  stages,
                  stage,
                  hosted[i].group_rank,
                  hosting.result_place,
                  left[i],
                  layout,
                  outcome.images[i]);
    use({.place = i,
         .group_rank = hosted[i].group_rank,
         .world_rank = hosted[i].world_rank,
         .layout = layout,
         .image = outcome.images[i]});
  }
}

}  // namespace rankcheck::harness
