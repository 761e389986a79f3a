#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rankcheck/subject.hpp>

namespace rankcheck::detail {
namespace {

using Ranks = std::vector<int>;

/// A communicator that is the first of its ranks, and what has become of all of them.
struct Made {
  std::string log;

  AnyGroup make(const Ranks& ranks) {
    log += "+" + std::to_string(ranks.front());
    return {std::make_shared<int>(ranks.front()), &typeid(int)};
  }
  void free(const AnyGroup& group) {
    log += "-" + std::to_string(*static_cast<int*>(group.value.get()));
  }
};

GroupCache cache_of(Made& made, std::size_t kept) {
  return {[&made](const Ranks& ranks) { return made.make(ranks); },
          [&made](AnyGroup& group) { made.free(group); },
          kept};
}

TEST(GroupCacheTest, FreesTheGroupThatWasNotUsedForTheLongestTime) {
  Made made;
  GroupCache groups = cache_of(made, 2);
  groups.get({1});
  groups.get({2});
  groups.get({1});
  groups.get({3});
  EXPECT_EQ(made.log, "+1+2-2+3");
  EXPECT_EQ(*static_cast<int*>(groups.get({1}).value.get()), 1);
  EXPECT_EQ(made.log, "+1+2-2+3");
}

TEST(GroupCacheTest, FreesAGroupThatIsToBeMadeAnew) {
  Made made;
  GroupCache groups = cache_of(made, 2);
  groups.get({1});
  groups.get({2});
  groups.drop({1});
  groups.drop({3});
  groups.get({1});
  EXPECT_EQ(made.log, "+1+2-1+1");
}

TEST(GroupCacheTest, KeepsAllGroupsThatNobodyFrees) {
  Made made;
  GroupCache groups([&made](const Ranks& ranks) { return made.make(ranks); }, nullptr, 1);
  groups.get({1});
  groups.get({2});
  groups.get({1});
  EXPECT_EQ(made.log, "+1+2");
}

TEST(GroupCacheTest, ForgetsWithoutFreeing) {
  Made made;
  GroupCache groups = cache_of(made, 1);
  groups.get({1});
  groups.forget();
  groups.get({1});
  EXPECT_EQ(made.log, "+1+1");
}

TEST(GroupCacheTest, HasNoGroupsIfNobodyMakesThem) {
  EXPECT_EQ(GroupCache(nullptr, nullptr, 1).get({0}).type, nullptr);
}

}  // namespace
}  // namespace rankcheck::detail
