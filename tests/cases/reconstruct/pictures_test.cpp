#include "cases/reconstruct/pictures.hpp"

#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "harness/base/files.hpp"

#include "cases/reconstruct/simulate.hpp"
#include "tests/harness/sample.hpp"

namespace rankcheck::cases::reconstruct {
namespace {

bool is_png(const std::string& bytes) {
  return bytes.starts_with("\x89PNG\r\n\x1a\n") && bytes.find("IEND") != std::string::npos;
}

TEST(PicturesTest, AreWrittenWhole) {
  const harness::TemporaryFolder folder;
  const Dataset data = simulate({.positions = 4, .detector = 8, .probe = 6, .modes = 5, .step = 2});
  const Result result{.iterations = 2,
                      .state = {.object = data.object, .probe = data.probe, .memory = {}},
                      .costs = {3, 2, 1}};
  write_pictures(folder.path() / "new", data, result, "gaussian");
  for (const char* name : {"object-phase.png", "object-amplitude.png", "probe.png", "cost.png"}) {
    EXPECT_TRUE(is_png(harness::read_file(folder.path() / "new" / name))) << name;
  }
}

TEST(PicturesTest, ShowWhatTheyAreGiven) {
  const Dataset data = simulate({.positions = 4, .detector = 8, .probe = 6, .step = 2});
  const State start{.object = data.object, .probe = data.probe, .memory = {}};
  State state = start;
  const std::string phase = draw_phase(data, state);
  EXPECT_EQ(draw_phase(data, state), phase);
  for (auto& value : state.object) value *= std::complex<float>{0, 1};
  EXPECT_EQ(draw_phase(data, state).size(), phase.size()) << "the mean phase is taken off";
  state.object[state.object.size() / 2] *= 3;
  EXPECT_NE(draw_amplitude(data, state), draw_amplitude(data, start));
}

TEST(PicturesTest, TakeStatesThatWentWrong) {
  const Dataset data = simulate({.positions = 4, .detector = 8, .probe = 6, .step = 2});
  const Complexes zeros(data.object.size(), 0);
  const Complexes holes(data.object.size(), std::nanf(""));
  const Complexes dark(data.probe.size(), 0);
  const Complexes broken(data.probe.size(), std::nanf(""));
  for (const Complexes& object : {zeros, holes}) {
    for (const Complexes& probe : {data.probe, dark, broken}) {
      const State state{.object = object, .probe = probe, .memory = {}};
      EXPECT_TRUE(is_png(draw_phase(data, state)));
      EXPECT_TRUE(is_png(draw_amplitude(data, state)));
    }
  }
  EXPECT_TRUE(is_png(draw_probe(data, broken)));
  for (const std::vector<double>& costs : {std::vector<double>{},
                                           {1.0},
                                           {0.0, 0.0},
                                           {std::nan(""), INFINITY, -1.0},
                                           {1e300, 1e-300}}) {
    for (const int batches : {1, 2}) {
      for (const std::int64_t iterations : {0, 1, 2, 3}) {
        const Result result{.batches = batches, .iterations = iterations, .costs = costs};
        EXPECT_TRUE(is_png(draw_costs(result, "gaussian")));
      }
    }
  }
}

std::vector<double> heights(const std::vector<Point>& points) {
  std::vector<double> all;
  for (const Point& point : points) all.push_back(point.y);
  return all;
}

TEST(CostPlotTest, JoinsCostsOfStates) {
  const CostPlot plot = plot_of({.batches = 1, .iterations = 2, .costs = {3, 2, 1}});
  EXPECT_EQ(heights(plot.curve), (std::vector<double>{3, 2, 1}));
  EXPECT_EQ(plot.curve[2].x, 2);
  EXPECT_FALSE(plot.result);
}

/// With several batches, an iteration's cost comes from several states, and the result's cost from
/// one. The result's cost is lower even without progress, so the curve must not include it.
TEST(CostPlotTest, KeepsTheResultApartFromIterations) {
  const CostPlot plot = plot_of({.batches = 16, .iterations = 2, .costs = {3, 2, 1}});
  EXPECT_EQ(heights(plot.curve), (std::vector<double>{3, 2}));
  EXPECT_EQ(plot.curve[1].x, 1.5);
  ASSERT_TRUE(plot.result);
  EXPECT_EQ(plot.result->x, 2);
  EXPECT_EQ(plot.result->y, 1);
  EXPECT_FALSE(plot_of({.batches = 16, .iterations = 2, .costs = {3, 2}}).result);
}

TEST(RoundTicksTest, AreRoundAndWithin) {
  EXPECT_EQ(round_ticks(0, 10, 5), (std::vector<double>{0, 2, 4, 6, 8, 10}));
  EXPECT_EQ(round_ticks(-0.5, 0.5, 2), (std::vector<double>{-0.5, 0, 0.5}));
  EXPECT_EQ(round_ticks(3, 29, 6), (std::vector<double>{5, 10, 15, 20, 25}));
  EXPECT_EQ(round_ticks(4, 4, 6), (std::vector<double>{4}));
}

}  // namespace
}  // namespace rankcheck::cases::reconstruct
