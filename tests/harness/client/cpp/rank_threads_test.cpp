#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <rankcheck/detail/rank_threads.hpp>
#include <rankcheck/memory.hpp>

#include "tests/harness/client/cpp/device.hpp"

namespace rankcheck::detail {
namespace {

using Calls = std::vector<std::function<void()>>;
constexpr auto for_ever = RankThreads::Clock::time_point::max();

RankThreads::Clock::time_point in_ms(int time) {
  return RankThreads::Clock::now() + std::chrono::milliseconds(time);
}

TEST(RankThreadsTest, ARankKeepsItsThread) {
  RankThreads threads(3);
  std::thread::id first;
  std::thread::id again;
  std::thread::id other;
  const auto note = [](std::thread::id& id) { return [&] { id = std::this_thread::get_id(); }; };
  EXPECT_TRUE(threads.run({0, 2}, Calls{note(first), note(other)}, for_ever).unfinished.empty());
  threads.run({2, 0}, Calls{note(other), note(again)}, for_ever);
  EXPECT_EQ(first, again);
  EXPECT_NE(first, other);
  EXPECT_NE(first, std::this_thread::get_id());
}

TEST(RankThreadsTest, TheFirstFailureIsTold) {
  RankThreads threads(2);
  const Outcome outcome =
      threads.run({0, 1}, Calls{[] {}, [] { throw std::runtime_error("no\n  route"); }}, for_ever);
  EXPECT_EQ(outcome.failed, 1U);
  EXPECT_EQ(outcome.reason, "no route");
  EXPECT_TRUE(outcome.unfinished.empty());
  EXPECT_FALSE(threads.has_left_some());
  EXPECT_EQ(threads.run({0}, Calls{[] { throw 7; }}, for_ever).reason,
            "an exception that is not a std::exception");
}

/// The calls share what they need with the test, because they may outlive it.
TEST(RankThreadsTest, ThreadsThatWaitForAFailedOneAreLeftBehind) {
  const auto may_end = std::make_shared<std::atomic<bool>>(false);
  const auto wait = [may_end] { may_end->wait(false); };
  RankThreads threads(2);
  const auto fail = [] { throw std::runtime_error("no route"); };
  EXPECT_EQ(threads.run({0, 1}, Calls{wait, fail}, for_ever).unfinished,
            (std::vector<std::size_t>{0}));
  EXPECT_TRUE(threads.has_left_some());
  bool was_called = false;
  threads.run({0}, Calls{[&] { was_called = true; }}, for_ever);
  EXPECT_TRUE(was_called) << "the rank has a new thread";
  const Outcome late = threads.run({0}, Calls{wait}, in_ms(20));
  EXPECT_EQ(late.failed, 1U) << "none failed";
  EXPECT_EQ(late.unfinished, (std::vector<std::size_t>{0}));
  *may_end = true;
  may_end->notify_all();
}

TEST(WatchTest, ExpiresOnlyIfItIsNotStopped) {
  std::atomic<int> expired = 0;
  const auto count = [&] {
    ++expired;
    expired.notify_all();
  };
  EXPECT_FALSE(Watch(for_ever, count).stop());
  EXPECT_FALSE(Watch(in_ms(3'600'000), count).stop());
  EXPECT_EQ(expired, 0);
  Watch watch(in_ms(1), count);
  expired.wait(0);
  EXPECT_TRUE(watch.stop());
  EXPECT_TRUE(watch.stop());
  EXPECT_EQ(expired, 1);
}

TEST(ImageMemoryTest, IsAlignedAndGrows) {
  const Memory host;
  ImageMemory image(host, 0);
  for (const std::size_t bytes : {0, 100, 10, 100000}) {
    image.resize(bytes);
    EXPECT_EQ(image.size(), bytes);
    EXPECT_EQ(image.at_call(), image.host());
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(image.host()) % 64, 0U);
  }
}

TEST(ImageMemoryTest, MayBeMemoryOfTheUsers) {
  const Memory device = tests::device_memory();
  {
    ImageMemory image(device, 3);
    image.resize(100);
    image.resize(200);
    EXPECT_EQ(tests::Device::get().blocks(), 1U);
    EXPECT_TRUE(tests::Device::get().has(image.at_call(), 200));
    EXPECT_EQ(image.at_call()[0], 0xa5) << "fresh memory is poisoned";
    image.host()[0] = 7;
    image.copy_in();
    EXPECT_EQ(image.at_call()[0], 7);
    image.at_call()[0] = 8;
    EXPECT_EQ(image.host()[0], 7);
    image.copy_out();
    EXPECT_EQ(image.host()[0], 8);
  }
  EXPECT_EQ(tests::Device::get().blocks(), 0U);
  tests::Device::get().is_used = false;
}

TEST(ImageMemoryTest, SaysThatThereIsNone) {
  Memory device = tests::device_memory();
  tests::Device::get().is_used = false;
  device.allocate = [](int, std::size_t) { return nullptr; };
  ImageMemory image(device, 0);
  EXPECT_THROW(image.resize(100), std::runtime_error);
}

}  // namespace
}  // namespace rankcheck::detail
