#include "gpu/ptycho/kernels/transform.hpp"
#include "gpu/ptycho/operator.hpp"

namespace rankcheck::gpu::propagate {

Operator fft() {
  return {
      .name = "fft",
      .summary =
          "The device's FFT library transforms all frames in one call. Then the frames are scaled.",
      .run =
          [](const OperatorRun& run) {
            with_precision(run.call().type, [&]<class T>() {
              for (const int rank : run.local()) {
                transform_unitary(run.cluster(),
                                  rank,
                                  run.scene().detector,
                                  run.positions(rank) * run.scene().modes,
                                  false,
                                  run.in<Complex<T>>(rank, spec::Array::waves),
                                  run.out<Complex<T>>(rank, spec::Array::far_waves));
              }
            });
          },
  };
}

}  // namespace rankcheck::gpu::propagate
