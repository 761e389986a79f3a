#include "gpu/ptycho/gather.hpp"

namespace rankcheck::gpu::object_preconditioner {

namespace {

/// The light of all modes on a pixel of the window.
template <class T>
struct Light {
  const Complex<T>* probe;
  std::int64_t width;
  std::int64_t modes;
  bool varying_probe;

  using Line = const Complex<T>*;

  [[nodiscard]] RANKCHECK_HD Line line(std::int64_t n, std::int64_t p) const {
    return probe + ((varying_probe ? n * modes : 0) * width + p) * width;
  }
  RANKCHECK_HD T operator()(Line line, std::int64_t q) const {
    T light = 0;
    for (std::int64_t m = 0; m < modes; ++m) light += norm(line[m * width * width + q]);
    return light;
  }
};

struct Lights {
  static constexpr spec::Array output = spec::Array::object_weight;

  template <class T>
  static Light<T> share(const OperatorRun& run, int rank) {
    return {.probe = run.in<Complex<T>>(rank, spec::Array::probe),
            .width = run.scene().window,
            .modes = run.scene().modes,
            .varying_probe = run.scene().varying_probe};
  }
};

}  // namespace

Operator gather() {
  return gather_windows<Lights>();
}

}  // namespace rankcheck::gpu::object_preconditioner
