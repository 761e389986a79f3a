#include "gpu/ptycho/kernels/spectrum.hpp"
#include "gpu/ptycho/operator.hpp"

namespace rankcheck::gpu::shift_back {

Operator fft() {
  return {
      .name = "fft",
      .summary =
          "A forward transform, a multiplication by a phase ramp for each axis and an inverse "
          "transform are applied.",
      .run =
          [](const OperatorRun& run) {
            with_precision(run.call().type, [&]<class T>() {
              for (const int rank : run.local()) {
                shift_frames(run.cluster(),
                             rank,
                             run.scene(),
                             run.positions(rank),
                             true,
                             run.in<T>(rank, spec::Array::positions),
                             run.in<Complex<T>>(rank, spec::Array::waves),
                             run.out<Complex<T>>(rank, spec::Array::waves));
              }
            });
          },
  };
}

}  // namespace rankcheck::gpu::shift_back
