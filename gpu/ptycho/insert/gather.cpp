#include "gpu/ptycho/gather.hpp"

#include "gpu/ptycho/arrays.hpp"
#include "gpu/ptycho/operator.hpp"

namespace rankcheck::gpu::insert {

namespace {

template <class T>
struct PatchPixel {
  const Complex<T>* patches;
  Frames frames;

  using Line = const Complex<T>*;

  [[nodiscard]] RANKCHECK_HD Line line(std::int64_t n, std::int64_t p) const {
    return patches + frames.row(n, p);
  }
  RANKCHECK_HD Complex<T> operator()(Line line, std::int64_t q) const { return line[q]; }
};

template <class T>
void run_typed(const OperatorRun& run) {
  const spec::Scene& scene = run.scene();
  for (const int rank : run.local()) {
    auto* const object = run.out<Complex<T>>(rank, spec::Array::object);
    fill(run.cluster(), rank, run.size(rank, spec::Array::object), object, Complex<T>{});
    add_windows(run.cluster(),
                rank,
                scene,
                run.in<T>(rank, spec::Array::positions),
                run.positions(rank),
                PatchPixel<T>{.patches = run.in<Complex<T>>(rank, spec::Array::patches),
                              .frames = {.width = scene.detector, .margin = spec::margin(scene)}},
                object);
  }
  run.sum_over_ranks(spec::Array::object);
}

}  // namespace

Operator gather() {
  return {
      .name = "gather",
      .summary = "A thread for each pixel of the object sums over the windows that cover it.",
      .run =
          [](const OperatorRun& run) {
            with_precision(run.call().type, [&]<class T>() { run_typed<T>(run); });
          },
  };
}

}  // namespace rankcheck::gpu::insert
