#include "gpu/ptycho/kernels/window.hpp"
#include "gpu/ptycho/operator.hpp"

namespace rankcheck::gpu::pad {

namespace {

template <class T>
struct Pad {
  static constexpr spec::Array output = spec::Array::patches;

  const Complex<T>* windows;
  Complex<T>* patches;
  spec::Scene scene;

  static Pad of(const OperatorRun& run, int rank) {
    return {.windows = run.in<Complex<T>>(rank, spec::Array::windows),
            .patches = run.out<Complex<T>>(rank, output),
            .scene = run.scene()};
  }

  RANKCHECK_HD void operator()(std::int64_t i) const {
    const FramePixel at(scene, i);
    patches[i] = at.is_in_window ? windows[(at.frame * scene.window + at.p) * scene.window + at.q]
                                 : Complex<T>{};
  }
};

}  // namespace

Operator pixelwise() {
  return {.name = "pixelwise",
          .summary = "One thread computes each pixel of a frame.",
          .run = launch_for_each_value<Pad>};
}

}  // namespace rankcheck::gpu::pad
