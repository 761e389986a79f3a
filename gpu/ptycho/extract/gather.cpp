#include "gpu/ptycho/kernels/window.hpp"
#include "gpu/ptycho/operator.hpp"

namespace rankcheck::gpu::extract {

namespace {

/// Computes one pixel of a patch.
template <class T>
struct Gather {
  ObjectView<T> object;
  const T* positions;
  Complex<T>* patches;
  std::int64_t detector;
  std::int64_t window;
  std::int64_t margin;

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
  return {
      .name = "gather",
      .summary = "One thread for each pixel of a patch reads up to four pixels of the object.",
      .run =
          [](const OperatorRun& run) {
            with_precision(run.call().type, [&]<class T>() {
              const spec::Scene& scene = run.scene();
              for (const int rank : run.local()) {
                launch(run.cluster(),
                       rank,
                       run.size(rank, spec::Array::patches),
                       Gather<T>{.object = {.values = run.in<Complex<T>>(rank, spec::Array::object),
                                            .rows = scene.rows,
                                            .cols = scene.cols},
                                 .positions = run.in<T>(rank, spec::Array::positions),
                                 .patches = run.out<Complex<T>>(rank, spec::Array::patches),
                                 .detector = scene.detector,
                                 .window = scene.window,
                                 .margin = spec::margin(scene)});
              }
            });
          },
  };
}

}  // namespace rankcheck::gpu::extract
