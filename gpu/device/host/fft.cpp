#include "gpu/device/host/fft.hpp"

#include <memory>
#include <mutex>

#include <fftw3.h>

#include "reference/spec/to_size.hpp"

namespace rankcheck::gpu::host {

namespace {

/// FFTW has one planner for the whole process, and two threads must not use it at once.
std::mutex& planner() {
  static std::mutex mutex;
  return mutex;
}

/// FFTW's functions for one precision.
template <class T>
struct Library;

template <>
struct Library<float> {
  using Complex = fftwf_complex;
  static constexpr auto plan = fftwf_plan_dft_2d;
  static constexpr auto execute = fftwf_execute_dft;
  static constexpr auto destroy = fftwf_destroy_plan;
  static constexpr auto alignment = fftwf_alignment_of;
};

template <>
struct Library<double> {
  using Complex = fftw_complex;
  static constexpr auto plan = fftw_plan_dft_2d;
  static constexpr auto execute = fftw_execute_dft;
  static constexpr auto destroy = fftw_destroy_plan;
  static constexpr auto alignment = fftw_alignment_of;
};

/// Whether every frame of an array is aligned as FFTW's vector instructions need it.
template <class T>
bool is_aligned(typename Library<T>::Complex* frames, std::int64_t pixels) {
  const auto offset = [](typename Library<T>::Complex* at) {
    return Library<T>::alignment(reinterpret_cast<T*>(at));
  };
  return offset(frames) == 0 && offset(frames + pixels) == 0;
}

}  // namespace

template <class T>
void Fft::run_typed(const Transform& transform, const void* in, void* out) {
  using Complex = typename Library<T>::Complex;
  // FFTW takes no pointer to const, but changes the input only if it is also the output.
  auto* from = static_cast<Complex*>(const_cast<void*>(in));
  auto* to = static_cast<Complex*>(out);
  const std::int64_t pixels = std::int64_t{transform.width} * transform.width;
  const bool aligned = is_aligned<T>(from, pixels) && is_aligned<T>(to, pixels);
  auto& plan =
      plans_[{transform.precision, transform.width, transform.inverse, in == out, aligned}];
  if (!plan) {
    const std::lock_guard lock(planner());
    // Planning uses buffers of its own: it must not touch memory that the caller may not read.
    const std::unique_ptr<Complex, decltype(&fftw_free)> scratch(
        static_cast<Complex*>(fftw_malloc(2 * spec::to_size(pixels) * sizeof(Complex))), fftw_free);
    Complex* const first = scratch.get();
    auto* made =
        Library<T>::plan(transform.width,
                         transform.width,
                         first,
                         in == out ? first : first + pixels,
                         transform.inverse ? FFTW_BACKWARD : FFTW_FORWARD,
                         FFTW_ESTIMATE | FFTW_PRESERVE_INPUT | (aligned ? 0U : FFTW_UNALIGNED));
    if (made == nullptr) throw DeviceError("FFTW made no plan");
    plan = std::shared_ptr<void>(made, [](void* old) {
      const std::lock_guard guard(planner());
      Library<T>::destroy(static_cast<decltype(made)>(old));
    });
  }
  auto* typed = static_cast<decltype(Library<T>::plan(0, 0, from, to, 0, 0))>(plan.get());
  for (std::int64_t b = 0; b < transform.batch; ++b) {
    Library<T>::execute(typed, from + b * pixels, to + b * pixels);
  }
}

void Fft::run(const Transform& transform, const void* in, void* out) {
  if (transform.batch == 0 || transform.width == 0) return;
  if (transform.precision == spec::Type::f64) {
    run_typed<double>(transform, in, out);
  } else {
    run_typed<float>(transform, in, out);
  }
}

}  // namespace rankcheck::gpu::host
