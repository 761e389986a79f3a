#include "gpu/ptycho/kernels/spectrum.hpp"
#include "gpu/ptycho/kernels/transform.hpp"
#include "gpu/ptycho/registry.hpp"

namespace rankcheck::gpu {

namespace {

template <bool inverse>
void run_propagation(const OperatorRun& run) {
  constexpr spec::Array from = inverse ? spec::Array::far_waves : spec::Array::waves;
  constexpr spec::Array to = inverse ? spec::Array::waves : spec::Array::far_waves;
  for_each_local(run, [&]<class T>(int rank) {
    transform_unitary(run.cluster(),
                      rank,
                      run.scene().detector,
                      run.positions(rank) * run.scene().modes,
                      inverse,
                      run.in<Complex<T>>(rank, from),
                      run.out<Complex<T>>(rank, to));
  });
}

template <bool adjoint>
void run_travel(const OperatorRun& run) {
  for_each_local(run, [&]<class T>(int rank) {
    const FreeSpaceTravel<T> space(run.cluster(), rank, run.scene().detector, run.scene());
    space.run(run.positions(rank) * run.scene().modes,
              adjoint,
              run.in<Complex<T>>(rank, spec::Array::waves),
              run.out<Complex<T>>(rank, spec::Array::waves));
  });
}

template <bool back>
void run_shift(const OperatorRun& run) {
  for_each_local(run, [&]<class T>(int rank) {
    shift_frames(run.cluster(),
                 rank,
                 run.scene(),
                 run.positions(rank),
                 back,
                 run.in<T>(rank, spec::Array::positions),
                 run.in<Complex<T>>(rank, spec::Array::waves),
                 run.out<Complex<T>>(rank, spec::Array::waves));
  });
}

Operator by_fft(std::string_view summary, void (*run)(const OperatorRun& run)) {
  return {.name = "fft", .summary = summary, .run = run};
}

}  // namespace

std::vector<OperatorImplementation> algorithms_of_transforms() {
  constexpr std::string_view propagates =
      "The device's FFT library transforms all frames in one call. Then the frames are scaled.";
  constexpr std::string_view travels =
      "A forward transform, a multiplication by a table of the response and an inverse transform "
      "are applied.";
  constexpr std::string_view shifts =
      "A forward transform, a multiplication by a phase ramp for each axis and an inverse "
      "transform are applied.";
  return {
      {"propagate", by_fft(propagates, run_propagation<false>)},
      {"propagate_inverse", by_fft(propagates, run_propagation<true>)},
      {"propagate_fresnel", by_fft(travels, run_travel<false>)},
      {"propagate_fresnel_adjoint", by_fft(travels, run_travel<true>)},
      {"shift", by_fft(shifts, run_shift<false>)},
      {"shift_back", by_fft(shifts, run_shift<true>)},
  };
}

}  // namespace rankcheck::gpu
