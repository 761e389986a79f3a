#include "gpu/ptycho/kernels/window.hpp"
#include "gpu/ptycho/operator.hpp"

namespace rankcheck::gpu::extract {

namespace {

/// Computes one pixel of a patch.
template <class T>
struct Gather {
  static constexpr spec::Array output = spec::Array::patches;

  ObjectView<T> object;
  const T* positions;
  Complex<T>* patches;
  std::int64_t detector;
  std::int64_t window;
  std::int64_t margin;

  static Gather of(const OperatorRun& run, int rank) {
    return {.object = {.values = run.in<Complex<T>>(rank, spec::Array::object),
                       .rows = run.scene().rows,
                       .cols = run.scene().cols},
            .positions = run.in<T>(rank, spec::Array::positions),
            .patches = run.out<Complex<T>>(rank, output),
            .detector = run.scene().detector,
            .window = run.scene().window,
            .margin = spec::margin(run.scene())};
  }

  RANKCHECK_HD void operator()(std::int64_t i) const {
    const std::int64_t q = i % detector - margin;
    const std::int64_t p = i / detector % detector - margin;
    const std::int64_t n = i / (detector * detector);
    const bool inside = p >= 0 && p < window && q >= 0 && q < window;
    patches[i] = inside ? object.at(Window<T>(positions + 2 * n), p, q) : Complex<T>{};
  }
};

}  // namespace

Operator gather() {
  return {.name = "gather",
          .summary = "One thread for each pixel of a patch reads up to four pixels of the object.",
          .run = launch_for_each_value<Gather>};
}

}  // namespace rankcheck::gpu::extract
