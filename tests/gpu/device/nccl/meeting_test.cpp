#include "gpu/device/nccl/meeting.hpp"

#include <chrono>
#include <filesystem>
#include <future>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/harness/sample.hpp"
#include "tests/harness/text.hpp"

namespace rankcheck::gpu::nccl {
namespace {

constexpr std::chrono::hours long_enough{1};
constexpr std::chrono::milliseconds nobody_comes{5};

class MeetingTest : public testing::Test {
 protected:
  [[nodiscard]] Meeting meeting(std::chrono::milliseconds patience = long_enough) const {
    return {folder_.path(), patience};
  }

  template <class Function>
  static std::string complaint(const Function& function) {
    return harness::complaint_of<std::runtime_error>(function);
  }

  harness::TemporaryFolder folder_;
};

TEST_F(MeetingTest, KeepsEveryByteOfAValue) {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);
  meeting().publish("group 1", bytes);
  meeting().publish("empty", "");
  EXPECT_EQ(meeting().await("group 1"), bytes);
  EXPECT_EQ(meeting().await("empty"), "");
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
    EXPECT_NE(entry.path().extension(), ".tmp");
  }
}

TEST_F(MeetingTest, WaitsForAValueThatComesLater) {
  auto value = std::async(std::launch::async, [this] { return meeting().await("later"); });
  meeting().publish("later", "here");
  EXPECT_EQ(value.get(), "here");
}

TEST_F(MeetingTest, NamesTheValueThatDoesNotCome) {
  meeting().publish("never.1.tmp", "a part of it");
  EXPECT_TRUE(harness::begins(complaint([this] { return meeting(nobody_comes).await("never"); }),
                              "nobody published 'never' within 5 ms, in /"));
}

TEST_F(MeetingTest, GathersAllRanks) {
  std::vector<std::future<std::string>> others;
  for (int rank = 1; rank < 8; ++rank) {
    others.push_back(std::async(std::launch::async, [this, rank] {
      return complaint([&] { meeting().gather(rank, 8); });
    }));
  }
  EXPECT_EQ(complaint([this] { meeting().gather(0, 8); }), "");
  for (auto& each : others) EXPECT_EQ(each.get(), "");
}

TEST_F(MeetingTest, NamesTheRankThatDoesNotCome) {
  EXPECT_EQ(complaint([this] { meeting(nobody_comes).gather(0, 3); }),
            "rank 1 did not start within 5 ms");
  EXPECT_EQ(complaint([this] { meeting(nobody_comes).gather(1, 3); }),
            "rank 2 did not start within 5 ms");
}

TEST_F(MeetingTest, SaysThatItCannotPublish) {
  const Meeting nowhere("/nowhere", nobody_comes);
  EXPECT_EQ(complaint([&] { nowhere.publish("key", "value"); }),
            "cannot publish 'key' in /nowhere");
}

}  // namespace
}  // namespace rankcheck::gpu::nccl
