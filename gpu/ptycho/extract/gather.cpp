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
  spec::Scene scene;

  static Gather of(const OperatorRun& run, int rank) {
    return {.object = {run.scene(), run.in<Complex<T>>(rank, spec::Array::object)},
            .positions = run.in<T>(rank, spec::Array::positions),
            .patches = run.out<Complex<T>>(rank, output),
            .scene = run.scene()};
  }

  RANKCHECK_HD void operator()(std::int64_t i) const {
    const FramePixel at(scene, i);
    patches[i] =
        at.is_in_window ? object.at(Window<T>(positions + 2 * at.frame), at.p, at.q) : Complex<T>{};
  }
};

}  // namespace

Operator gather() {
  return {.name = "gather",
          .summary = "One thread for each pixel of a patch reads up to four pixels of the object.",
          .run = launch_for_each_value<Gather>};
}

}  // namespace rankcheck::gpu::extract
