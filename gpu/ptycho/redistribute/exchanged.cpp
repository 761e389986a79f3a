#include "gpu/ptycho/exchange/redistribution.hpp"

namespace rankcheck::gpu::redistribute {

namespace {

template <class T>
void move(const OperatorRun& run, spec::Array from, spec::Array to) {
  Redistribution plan(run.cluster(), run.call().counts, owners_of<T>(run));
  plan.redistribute(
      arrays<const T>(run, from), arrays<T>(run, to), spec::values(run.scene(), from));
}

}  // namespace

Operator exchanged() {
  return {
      .name = "exchanged",
      .summary =
          "Each rank sorts its data by owner, then all ranks exchange their data in one call.",
      .run =
          [](const OperatorRun& run) {
            using spec::Array;
            with_precision(run.call().type, [&]<class T>() {
              move<T>(run, Array::positions, Array::shard_positions);
              move<T>(run, Array::frames, Array::shard_frames);
            });
          },
  };
}

}  // namespace rankcheck::gpu::redistribute
