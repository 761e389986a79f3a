#include "gpu/ptycho/exchange/redistribution.hpp"

namespace rankcheck::gpu::fuse {

namespace {

template <class T>
void move(const OperatorRun& run, spec::Array from, spec::Array to) {
  Redistribution plan(run.cluster(), run.call().counts, owners_of<T>(run));
  plan.fuse(arrays<const T>(run, from), arrays<T>(run, to), spec::values(run.scene(), from));
}

}  // namespace

Operator exchanged() {
  return {
      .name = "exchanged",
      .summary = "All ranks exchange their data in one call, then each rank sorts it by position.",
      .run =
          [](const OperatorRun& run) {
            using spec::Array;
            with_precision(run.call().type, [&]<class T>() {
              move<T>(run, Array::shard_positions, Array::positions);
              move<T>(run, Array::shard_frames, Array::frames);
            });
          },
  };
}

}  // namespace rankcheck::gpu::fuse
