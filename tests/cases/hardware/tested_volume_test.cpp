#include "cases/hardware/tested_volume.hpp"

#include <cmath>

#include <gtest/gtest.h>

namespace rankcheck::cases::hardware {
namespace {

TEST(TestedVolumeTest, WithoutErrorsTheBoundIsTheRuleOfThree) {
  EXPECT_NEAR(error_rate_bound(0, 100), 0.029513, 1e-6);
  // -log(0.05) = 2.99573.
  EXPECT_NEAR(error_rate_bound(0, 1'000'000'000'000) * 1e12, 2.99573, 1e-5);
}

/// The values are from published tables of the Clopper-Pearson interval.
TEST(TestedVolumeTest, WithErrorsTheBoundIsThatOfClopperAndPearson) {
  EXPECT_NEAR(error_rate_bound(1, 10), 0.39416, 1e-5);
  EXPECT_NEAR(error_rate_bound(2, 10), 0.50690, 1e-5);
  EXPECT_NEAR(error_rate_bound(5, 10), 0.77756, 1e-5);
  EXPECT_NEAR(error_rate_bound(9, 10), 0.99488, 1e-5);
}

/// With many trials the binomial distribution approaches Poisson's: P(X <= 1; 4.74386) = 0.05 and
/// P(X <= 10; 16.9622) = 0.05.
TEST(TestedVolumeTest, BoundIsPoissonsWhereErrorsAreRare) {
  EXPECT_NEAR(error_rate_bound(1, 1'000'000'000'000'000) * 1e15, 4.74386, 1e-4);
  EXPECT_NEAR(error_rate_bound(10, 1'000'000'000'000'000) * 1e15, 16.9622, 1e-3);
}

TEST(TestedVolumeTest, BoundIsOneWhereNothingOrNothingRightWasSeen) {
  EXPECT_EQ(error_rate_bound(0, 0), 1);
  EXPECT_EQ(error_rate_bound(7, 7), 1);
}

TEST(TestedVolumeTest, BoundOfMostlyWrongBytesIsFoundInNoTime) {
  const double bound = error_rate_bound(5'000'000'000, 10'000'000'000);
  EXPECT_GT(bound, 0.5);
  // Normal approximation: 1.645 sqrt(1/4 / 1e10).
  EXPECT_NEAR((bound - 0.5) * 1e6, 8.224, 1e-2);
}

TEST(TestedVolumeTest, TermsAddUpToOne) {
  EXPECT_NEAR(probability_of_at_most(3, 4, 0.8) + std::pow(0.8, 4), 1, 1e-12);
}

TEST(TestedVolumeTest, TextStatesTrialsAndTheMethod) {
  TestedVolume volume{.bytes_of_copy = std::int64_t{64} << 20,
                      .patterns = 12,
                      .copies = 48,
                      .bytes = std::int64_t{48} * 64 << 20};
  EXPECT_EQ(to_text(volume),
            "64 MiB x 12 patterns, 48 copies: 3,221,225,472 bytes compared, 0 wrong; error rate "
            "per byte below 9.3e-10 (95 %, rule of three)");
  volume += {.bytes_of_copy = 8, .patterns = 1, .copies = 1, .bytes = 8, .wrong_bytes = 1};
  EXPECT_EQ(volume.patterns, 13);
  EXPECT_NE(to_text(volume).find("Clopper-Pearson"), std::string::npos);
  EXPECT_EQ(to_text({}), "nothing was compared");
}

}  // namespace
}  // namespace rankcheck::cases::hardware
