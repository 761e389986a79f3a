#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "reference/spec/to_size.hpp"

#include "harness/case/family.hpp"
#include "harness/case/image.hpp"

#include "tests/cases/collectives/spoiled.hpp"

namespace rankcheck::cases {
namespace {

using harness::Case;
using harness::Image;
using harness::ImageLayout;
using harness::Observation;
using spec::to_size;

using MarkRows = std::vector<std::string>;

/// The sum of three int32 over two ranks.
const std::string sum_case =
    R"({"operation":"all_reduce","algorithm":"ring","backend":"sim","ranks":2,"count":3,)"
    R"("type":"int32","op":"sum","input":"coded","data_seed":7)";

/// Returns a rank's memory before the call.
Image memory_before(const Case& c, int rank) {
  Image image;
  const ImageLayout layout = layout_of(c, rank);
  prepare(*harness::find_family(c.operation), c, rank, layout, nullptr, image);
  return image;
}

/// Replaces an element of the output of rank 1 by four bytes of its memory before the call.
harness::Judgement examine_with(const std::string& text,
                                int element,
                                std::int64_t (*from)(const ImageLayout& layout, int element)) {
  return examine(text, [&](std::span<const Case> stages, Observation& observation) {
    const ImageLayout layout = layout_of(stages[0], 1);
    const Image old = memory_before(stages[0], 1);
    std::memcpy(observation.stages[0].images[1].data() + layout.recv + std::int64_t{4} * element,
                old.data() + from(layout, element),
                4);
  });
}

std::int64_t place_of_output(const ImageLayout& layout, int element) {
  return layout.recv + std::int64_t{4} * element;
}

std::int64_t place_of_input(const ImageLayout& layout, int element) {
  return layout.send + std::int64_t{4} * element;
}

TEST(MarksTest, RightResultsHaveNone) {
  EXPECT_EQ(examine(sum_case + "}").marks, MarkRows{});
}

TEST(MarksTest, AnElementThatHoldsPoisonIsNotWritten) {
  EXPECT_EQ(examine_with(sum_case + "}", 1, place_of_output).marks, (MarkRows{"...", ".u."}));
}

TEST(MarksTest, TheOwnInputLacksTheOtherContribution) {
  EXPECT_EQ(examine_with(sum_case + "}", 2, place_of_input).marks, (MarkRows{"...", "..m"}));
  // In place, an element that was left alone holds the same.
  EXPECT_EQ(examine_with(sum_case + R"(,"in_place":true})", 2, place_of_output).marks,
            (MarkRows{"...", "..m"}));
}

TEST(MarksTest, AnotherValueIsWrong) {
  const auto judgement =
      examine(sum_case + "}", [](std::span<const Case> stages, Observation& observation) {
        const ImageLayout layout = layout_of(stages[0], 0);
        observation.stages[0].images[0][to_size(layout.recv + 3)] ^= std::byte{0x40};
      });
  EXPECT_EQ(judgement.marks, (MarkRows{"x..", "..."}));
}

/// Makes the output of the first member wrong in the call of each group in turn.
TEST(MarksTest, APictureOfGroupsShowsTheRanksOfTheWorld) {
  const std::string text =
      R"({"operation":"all_reduce","property":"groups_at_once","ranks":3,"count":1,)"
      R"("type":"int32","op":"sum","input":"coded","data_seed":3})";
  const auto marks_with = [&](std::size_t call) {
    const auto spoil = [&](std::span<const Case> stages, Observation& observation) {
      const ImageLayout layout = layout_of(stages[call], 0);
      observation.stages[call].images[0][to_size(layout.recv + 3)] ^= std::byte{0x40};
    };
    return examine(text, spoil).marks;
  };
  // The groups are {0, 1} and {2}, and then the world.
  EXPECT_EQ(marks_with(0), (MarkRows{"x", ".", "."}));
  EXPECT_EQ(marks_with(1), (MarkRows{".", ".", "x"}));
  EXPECT_EQ(marks_with(2), (MarkRows{"x", ".", "."}));
}

}  // namespace
}  // namespace rankcheck::cases
