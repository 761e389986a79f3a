#include "gpu/device/mpi/mpich_words.hpp"

#include <gtest/gtest.h>

namespace rankcheck::gpu::mpi {
namespace {

using Words = std::vector<std::string>;

TEST(MpichWordsTest, StandInTheOrderOfTheirValues) {
  EXPECT_EQ(words_of_description(
                "Variable to select bcast algorithmauto - Internal algorithm selection"
                "binomial                - Force Binomial Treenb - Force nonblocking algorithm"
                "scatter_ring_allgather  - Force Scatter Ring"),
            (Words{"auto", "binomial", "nb", "scatter_ring_allgather"}));
}

TEST(MpichWordsTest, OfNonblockingCallsBeginWithTheirKind) {
  EXPECT_EQ(words_of_description("Variable to select iallgather algorithmauto - Internal"
                                 "sched_ring - Force ring algorithmtsp_k_brucks - Force brucks"),
            (Words{"auto", "sched_ring", "tsp_k_brucks"}));
}

TEST(MpichWordsTest, AreEmptyIfTheyAreNotKnown) {
  EXPECT_EQ(words_of_description("algorithmauto - x"
                                 "k_reduce_scatter_allgather - Force k"
                                 "reduce_scatter_allgather - Force"),
            (Words{"auto", "", "reduce_scatter_allgather"}));
  EXPECT_EQ(words_of_description(""), Words());
}

}  // namespace
}  // namespace rankcheck::gpu::mpi
