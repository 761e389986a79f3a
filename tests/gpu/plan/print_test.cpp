#include "gpu/plan/print.hpp"

#include <gtest/gtest.h>

#include "tests/gpu/plan/sketch.hpp"

namespace rankcheck::gpu::plan {
namespace {

TEST(PrintTest, WritesAStepALine) {
  Sketch sketch(2);
  Builder& builder = sketch.builder;
  const Range slot = builder.scratch(1, 4);
  builder.wait(1, builder.send_to(slot, builder.send(0)));
  builder.reduce(builder.recv(1), {slot, builder.send(1)}, true);
  EXPECT_EQ(to_text(sketch.plan),
            "rank 0\n"
            "  0 wait entry of rank 1\n"
            "  1 put send[0..4) -> scratch[0..4) of rank 1\n"
            "  2 signal event 2\n"
            "rank 1, scratch 4\n"
            "  0 wait event 2\n"
            "  1 reduce scratch[0..4) + send[0..4) -> recv[0..4), finish\n");
}

}  // namespace
}  // namespace rankcheck::gpu::plan
