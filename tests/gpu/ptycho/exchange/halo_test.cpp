#include "gpu/ptycho/exchange/halo.hpp"

#include <vector>

#include <gtest/gtest.h>

#include "tests/gpu/ptycho/devices.hpp"

namespace rankcheck::gpu {
namespace {

TEST(HaloDeathTest, EveryLocalRankHasATile) {
  Devices devices(1);
  const spec::Box box{.rows = 1, .cols = 1};
  const Tiling tiling{.rows = 1, .cols = 1, .owned = {box}, .held = {box}};
  const std::vector<const Complex<float>*> in{devices.put(0, std::vector<Complex<float>>(1))};
  const std::vector<Complex<float>*> no_tiles;
  EXPECT_DEATH(exchange_halos(devices, tiling, Halo::replace, in, no_tiles),
               "halo\\.cpp:[0-9]+: this invariant does not hold: out\\.size\\(\\)");
}

}  // namespace
}  // namespace rankcheck::gpu
