#include "gpu/ptycho/passes/gather.hpp"

namespace rankcheck::gpu::illuminate_adjoint_object {

namespace {

struct Waves {
  static constexpr spec::Array output = spec::Array::object;

  template <class T>
  static ConjugateTimesWaves<T> share(const OperatorRun& run, int rank) {
    return {.probe = run.in<Complex<T>>(rank, spec::Array::probe),
            .waves = run.in<Complex<T>>(rank, spec::Array::waves),
            .scene = run.scene()};
  }
};

}  // namespace

Operator gather() {
  return gather_windows<Waves>();
}

}  // namespace rankcheck::gpu::illuminate_adjoint_object
