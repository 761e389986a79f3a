#include "gpu/ptycho/kernels/spectrum.hpp"
#include "gpu/ptycho/operator.hpp"

namespace rankcheck::gpu::propagate_fresnel {

Operator fft() {
  return {
      .name = "fft",
      .summary =
          "A forward transform, a multiplication by a table of the response and an inverse "
          "transform are applied.",
      .run =
          [](const OperatorRun& run) {
            with_precision(run.call().type, [&]<class T>() {
              for (const int rank : run.local()) {
                const FreeSpaceTravel<T> space(
                    run.cluster(), rank, run.scene().detector, run.scene());
                space.run(run.positions(rank) * run.scene().modes,
                          false,
                          run.in<Complex<T>>(rank, spec::Array::waves),
                          run.out<Complex<T>>(rank, spec::Array::waves));
              }
            });
          },
  };
}

}  // namespace rankcheck::gpu::propagate_fresnel
