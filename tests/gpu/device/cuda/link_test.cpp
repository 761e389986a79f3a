#include "gpu/device/cuda/link.hpp"

#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace rankcheck::gpu::cuda {
namespace {

/// A link with both ends in this program's memory. A move copies correctly, then applies what a
/// test plants.
class HostLinkEnds final : public LinkEnds {
 public:
  explicit HostLinkEnds(std::int64_t words)
      : buffers_{std::vector<std::uint64_t>(static_cast<std::size_t>(words)),
                 std::vector<std::uint64_t>(static_cast<std::size_t>(words))} {}

  [[nodiscard]] std::int64_t words() const override {
    return static_cast<std::int64_t>(buffers_[0].size());
  }
  [[nodiscard]] Way way() const override { return Way::host; }
  void fill(End end, const Pattern& pattern) override {
    for (std::int64_t i = 0; i < words(); ++i) {
      at(end)[static_cast<std::size_t>(i)] = pattern.word(i);
    }
  }
  EventSeconds move(Method /*method*/) override {
    if (!loses_copies) at(End::destination) = at(End::source);
    if (spoil) spoil(at(End::source), at(End::destination), moves_);
    ++moves_;
    return seconds ? seconds(moves_) : EventSeconds{.device = 0.5, .host = 1};
  }
  Difference compare(End end, const Pattern& pattern) override {
    Difference difference;
    for (std::int64_t i = words(); i-- > 0;) {
      const std::uint64_t got = at(end)[static_cast<std::size_t>(i)];
      const std::uint64_t wrong = got ^ pattern.word(i);
      if (wrong == 0) continue;
      for (int b = 0; b < 8; ++b) difference.wrong_bytes += (wrong >> (8 * b) & 0xff) != 0 ? 1 : 0;
      difference.first = {.index = i, .expected = pattern.word(i), .got = got};
    }
    return difference;
  }

  bool loses_copies = false;
  std::function<void(std::vector<std::uint64_t>&, std::vector<std::uint64_t>&, int)> spoil;
  std::function<EventSeconds(int)> seconds;

 private:
  std::vector<std::uint64_t>& at(End end) { return buffers_[end == End::source ? 0 : 1]; }

  std::vector<std::uint64_t> buffers_[2];
  int moves_ = 0;
};

constexpr LinkProbe probe{.seed = 3, .patterns = 7, .repeats = 2};

TEST(LinkTest, CountsWhatAFaultlessLinkMoved) {
  HostLinkEnds ends(100);
  const LinkResult result = probe_link(ends, probe);
  EXPECT_EQ(result.bytes_of_copy, 800);
  EXPECT_EQ(result.copies, 14);
  EXPECT_EQ(result.way, Way::host);
  EXPECT_EQ(result.wrong_copies, 0);
  EXPECT_EQ(result.seconds, std::vector<double>(14, 0.5));
  EXPECT_FALSE(result.first_wrong);
  EXPECT_EQ(result.impossible_time, "");
}

TEST(LinkTest, FindsOneFlippedBitAndItsPlace) {
  HostLinkEnds ends(100);
  ends.spoil = [](auto& /*source*/, auto& destination, int move) {
    if (move == 11) destination[42] ^= 0x100;
  };
  const LinkResult result = probe_link(ends, probe);
  EXPECT_EQ(result.wrong_copies, 1);
  EXPECT_EQ(result.wrong_bytes, 1);
  EXPECT_EQ(result.lost_sources, 0);
  ASSERT_TRUE(result.first_wrong);
  EXPECT_EQ(result.first_wrong->index, 42);
  EXPECT_EQ(result.first_wrong->expected ^ result.first_wrong->got, 0x100U);
  EXPECT_EQ(result.first_wrong_pattern, 5);
}

/// The destination is filled with the pattern's inverse first. Otherwise the previous copy would
/// pass for the lost one.
TEST(LinkTest, FindsCopiesThatNeverArrive) {
  HostLinkEnds ends(4);
  ends.loses_copies = true;
  const LinkResult result = probe_link(ends, probe);
  EXPECT_EQ(result.wrong_copies, 14);
  EXPECT_EQ(result.wrong_bytes, 14 * 32);
}

TEST(LinkTest, TellsALostSourceFromABadLink) {
  HostLinkEnds ends(4);
  ends.spoil = [](auto& source, auto& destination, int /*move*/) {
    source[1] = 1;
    destination = source;
  };
  const LinkResult result = probe_link(ends, {.seed = 3, .first = 5, .patterns = 2});
  EXPECT_EQ(result.lost_sources, 2);
}

TEST(LinkTest, LeavesOutTimesThatCannotBeAndComparesAllTheSame) {
  HostLinkEnds ends(4);
  ends.seconds = [](int move) -> EventSeconds {
    return {.device = move == 3 ? 2.0 : move == 5 ? 0 : 0.25, .host = 1};
  };
  const LinkResult result = probe_link(ends, probe);
  EXPECT_EQ(result.copies, 14);
  EXPECT_EQ(result.seconds, std::vector<double>(12, 0.25));
  EXPECT_EQ(result.impossible_time,
            "CUDA's events took 2 s: expected more than 0, and no more than the 1 s of the host");
}

TEST(EventSecondsTest, AreMoreThanNoneAndNoMoreThanTheHosts) {
  for (const double device : {1e-9, 0.5, 1.0}) {
    EXPECT_EQ((EventSeconds{.device = device, .host = 1}).why_impossible(), "") << device;
  }
  constexpr auto infinity = std::numeric_limits<double>::infinity();
  for (const double device : {0.0, -0.5, 1.5, std::nan(""), infinity, -infinity}) {
    EXPECT_NE((EventSeconds{.device = device, .host = 1}).why_impossible(), "") << device;
  }
}

TEST(PatternTest, RandomWordsDifferByPlaceNumberAndSeed) {
  std::set<std::uint64_t> words;
  for (const std::uint64_t seed : {1U, 2U}) {
    for (std::int64_t number : {5, 6}) {
      for (std::int64_t i = 0; i < 1000; ++i) {
        words.insert(Pattern{.seed = seed, .number = number}.word(i));
      }
    }
  }
  EXPECT_EQ(words.size(), 4000U);
}

TEST(PatternTest, InverseDiffersInEveryBit) {
  for (std::int64_t number = 0; number < 8; ++number) {
    const Pattern pattern{.seed = 9, .number = number};
    Pattern inverse = pattern;
    inverse.inverted = true;
    EXPECT_EQ(pattern.word(77) ^ inverse.word(77), ~std::uint64_t{0});
  }
}

}  // namespace
}  // namespace rankcheck::gpu::cuda
