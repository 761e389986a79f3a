#include "harness/backend/stage_images.hpp"

#include <algorithm>
#include <cstring>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "reference/registry.hpp"

namespace rankcheck::harness {
namespace {

/// A stage of broadcast, of two bytes from the first member of the group.
Case two_bytes_to(std::vector<int> group) {
  Case c;
  c.operation = "broadcast";
  c.ranks = 4;
  c.count = 2;
  c.type = spec::Type::uint8;
  c.group = std::move(group);
  return c;
}

class StageImagesTest : public testing::Test {
 protected:
  /// The place, the rank in the group and the rank in the world of each member.
  using Seen = std::vector<std::tuple<std::size_t, int, int>>;

  /// Prepares a stage of `stages_` in a process that hosts these ranks.
  Seen prepare(std::size_t k, std::vector<int> hosted) {
    Seen seen;
    observation_.stages.resize(stages_.size());
    prepare_members({.contract_of = contract_of_,
                     .hosts =
                         [&](int rank) {
                           return std::find(hosted.begin(), hosted.end(), rank) != hosted.end();
                         }},
                    stages_,
                    k,
                    layout_,
                    observation_,
                    [&](const HostedMember& member) {
                      EXPECT_EQ(&member.image, &observation_.stages[k].images[member.place]);
                      seen.emplace_back(member.place, member.group_rank, member.world_rank);
                    });
    return seen;
  }

  ContractLookup contract_of_ = reference::contract_named;
  std::vector<Case> stages_;
  Observation observation_;
  ImageLayout layout_;
};

TEST_F(StageImagesTest, AreThoseOfHostedMembersInTheOrderOfTheGroup) {
  stages_ = {two_bytes_to({3, 0, 2})};
  EXPECT_EQ(prepare(0, {1, 2, 3}), (Seen{{0, 0, 3}, {1, 2, 2}}));
  EXPECT_EQ(observation_.stages[0].images.size(), 2U);
  EXPECT_EQ(observation_.stages[0].stamps.size(), 2U);
}

TEST_F(StageImagesTest, AreNoneWhereNoMemberIsHosted) {
  stages_ = {two_bytes_to({3, 0})};
  observation_.stages.resize(1);
  observation_.stages[0].images.resize(4);
  EXPECT_TRUE(prepare(0, {1, 2}).empty());
  EXPECT_TRUE(observation_.stages[0].images.empty());
}

TEST_F(StageImagesTest, HaveWhatTheMemberItselfReceivedInTheStageBefore) {
  Case c = two_bytes_to({3, 1, 2});
  c.operation = "all_to_all";
  stages_.assign(2, c);
  stages_[1].input = InputKind::previous;
  // Rank 2 is the third member of the group, and the second that is hosted.
  prepare(0, {1, 2});
  const std::vector<char> received{42, 43, 44, 45, 46, 47};
  Image& after = observation_.stages[0].images[1];
  std::memcpy(after.data() + layout_.recv, received.data(), received.size());
  ASSERT_EQ(prepare(1, {1, 2}).size(), 2U);
  const std::byte* const sent = observation_.stages[1].images[1].data() + layout_.send;
  EXPECT_EQ(std::memcmp(sent, received.data(), received.size()), 0);
}

TEST_F(StageImagesTest, HaveNoBufferThatTheRankLacks) {
  stages_ = {two_bytes_to({0, 1})};
  std::vector<bool> has_send;
  observation_.stages.resize(1);
  prepare_members({.contract_of = contract_of_},
                  stages_,
                  0,
                  layout_,
                  observation_,
                  [&](const HostedMember& member) {
                    has_send.push_back(member.send_in(member.image.data()) != nullptr);
                    EXPECT_NE(member.recv_in(member.image.data()), nullptr);
                  });
  EXPECT_EQ(has_send, (std::vector<bool>{true, false}));
}

}  // namespace
}  // namespace rankcheck::harness
