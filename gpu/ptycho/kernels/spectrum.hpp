#pragma once

#include <cmath>
#include <cstdint>

#include "reference/spec/scene.hpp"

#include "gpu/ptycho/kernels/transform.hpp"

/// Operations on the frequencies of frames. Phases are computed in double precision, because they
/// are many turns.
namespace rankcheck::gpu {

inline constexpr double two_pi = 6.283185307179586477;

/// Returns the frequency of index k of a transform, in cycles per pixel.
RANKCHECK_HD inline double cycles(std::int64_t k, std::int64_t width) {
  return static_cast<double>(2 * k < width ? k : k - width) / static_cast<double>(width);
}

/// Returns length * exp(i angle).
template <class T>
RANKCHECK_HD inline Complex<T> turned(double length, double angle) {
  return {static_cast<T>(length * std::cos(angle)), static_cast<T>(length * std::sin(angle))};
}

/// Computes the response of free space to a frequency, divided by the factor width^2 of the two
/// transforms.
template <class T>
struct FreeSpace {
  double wavelength;
  double distance;
  std::int64_t width;
  Complex<T>* response;

  RANKCHECK_HD void operator()(std::int64_t i) const {
    const double down = cycles(i / width, width);
    const double right = cycles(i % width, width);
    const double left = 1 / (wavelength * wavelength) - (down * down + right * right);
    const double scale = 1 / static_cast<double>(width * width);
    if (left < 0) {
      const double decay = two_pi * std::abs(distance) * std::sqrt(-left);
      response[i] = {static_cast<T>(scale * std::exp(-decay)), 0};
    } else {
      response[i] = turned<T>(scale, two_pi * distance * std::sqrt(left));
    }
  }
};

template <class T>
struct Respond {
  const Complex<T>* response;
  Complex<T>* values;
  std::int64_t frame;
  bool conjugated;

  RANKCHECK_HD void operator()(std::int64_t i) const {
    const Complex<T> factor = response[i % frame];
    values[i] = (conjugated ? conj(factor) : factor) * values[i];
  }
};

/// Sends `batch` frames through the free space of a scene, or through its adjoint. `in` and `out`
/// may be the same array.
template <class T>
class FreeSpaceTravel {
 public:
  FreeSpaceTravel(Cluster& cluster, int rank, int width, const spec::Scene& scene)
      : cluster_(cluster), rank_(rank), width_(width) {
    response_ = cluster.allocate_array<Complex<T>>(rank, frame());
    launch(cluster,
           rank,
           frame(),
           FreeSpace<T>{.wavelength = scene.wavelength,
                        .distance = scene.distance,
                        .width = width,
                        .response = response_});
  }

  void run(std::int64_t batch, bool adjoint, const Complex<T>* in, Complex<T>* out) const {
    transform_frames(cluster_, rank_, width_, batch, false, in, out);
    launch(
        cluster_,
        rank_,
        batch * frame(),
        Respond<T>{.response = response_, .values = out, .frame = frame(), .conjugated = adjoint});
    transform_frames(cluster_, rank_, width_, batch, true, out, out);
  }

 private:
  [[nodiscard]] std::int64_t frame() const { return std::int64_t{width_} * width_; }

  Cluster& cluster_;
  int rank_;
  int width_;
  Complex<T>* response_ = nullptr;
};

/// Computes the phase ramps of the positions' shifts: all frequencies for each position and axis.
template <class T>
struct ShiftRamps {
  const T* positions;
  double sign;
  std::int64_t width;
  Complex<T>* ramps;

  RANKCHECK_HD void operator()(std::int64_t i) const {
    const double distance = sign * static_cast<double>(positions[i / width]);
    ramps[i] = turned<T>(1, -two_pi * cycles(i % width, width) * distance);
  }
};

template <class T>
struct Shift {
  const Complex<T>* ramps;
  Complex<T>* values;
  std::int64_t width;
  std::int64_t modes;
  T scale;

  RANKCHECK_HD void operator()(std::int64_t i) const {
    const Complex<T>* rows = ramps + i / (modes * width * width) * 2 * width;
    const Complex<T>* cols = rows + width;
    values[i] = scale * (rows[i / width % width] * cols[i % width] * values[i]);
  }
};

/// Shifts `modes` frames for each of `count` positions by the position, or back. `in` and `out` may
/// be the same array.
template <class T>
void shift_frames(Cluster& cluster,
                  int rank,
                  const spec::Scene& scene,
                  std::int64_t count,
                  bool back,
                  const T* positions,
                  const Complex<T>* in,
                  Complex<T>* out) {
  const std::int64_t width = scene.detector;
  const std::int64_t batch = count * scene.modes;
  auto* const ramps = cluster.allocate_array<Complex<T>>(rank, count * 2 * width);
  launch(cluster,
         rank,
         count * 2 * width,
         ShiftRamps<T>{
             .positions = positions, .sign = back ? -1.0 : 1.0, .width = width, .ramps = ramps});
  transform_frames(cluster, rank, scene.detector, batch, false, in, out);
  launch(cluster,
         rank,
         batch * width * width,
         Shift<T>{.ramps = ramps,
                  .values = out,
                  .width = width,
                  .modes = scene.modes,
                  .scale = 1 / static_cast<T>(width * width)});
  transform_frames(cluster, rank, scene.detector, batch, true, out, out);
}

}  // namespace rankcheck::gpu
