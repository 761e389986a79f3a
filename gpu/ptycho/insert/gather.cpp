#include "gpu/ptycho/passes/gather.hpp"

namespace rankcheck::gpu::insert {

namespace {

template <class T>
struct PatchPixel {
  const Complex<T>* patches;
  FrameLayout frames;

  using Line = const Complex<T>*;

  [[nodiscard]] RANKCHECK_HD Line line(std::int64_t n, std::int64_t p) const {
    return patches + frames.row(n, p);
  }
  RANKCHECK_HD Complex<T> operator()(Line line, std::int64_t q) const { return line[q]; }
};

struct Patches {
  static constexpr spec::Array output = spec::Array::object;

  template <class T>
  static PatchPixel<T> share(const OperatorRun& run, int rank) {
    return {.patches = run.in<Complex<T>>(rank, spec::Array::patches),
            .frames = {.width = run.scene().detector, .margin = spec::margin(run.scene())}};
  }
};

}  // namespace

Operator gather() {
  return gather_windows<Patches>();
}

}  // namespace rankcheck::gpu::insert
