#include "gpu/ptycho/passes/gather.hpp"

namespace rankcheck::gpu::object_preconditioner {

namespace {

struct Lights {
  static constexpr spec::Array output = spec::Array::object_weight;

  template <class T>
  static ProbeLight<T> share(const OperatorRun& run, int rank) {
    return {.probe = run.in<Complex<T>>(rank, spec::Array::probe), .scene = run.scene()};
  }
};

}  // namespace

Operator gather() {
  return gather_windows<Lights>();
}

}  // namespace rankcheck::gpu::object_preconditioner
