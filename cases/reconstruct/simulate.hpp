#pragma once

#include <cstdint>

#include "cases/reconstruct/dataset.hpp"

namespace rankcheck::cases::reconstruct {

/// The path of the scan. `raster`: row by row. `spiral`: Fermat's spiral, from the middle outwards.
/// `random`: anywhere in the square that a raster would fill.
enum class ScanPath : std::uint8_t { raster, spiral, random };

/// A simulated experiment. Widths and lengths are in pixels of the object.
struct Simulation {
  ScanPath path = ScanPath::raster;
  int positions = 100;
  int detector = 64;
  /// Width of the probe's window.
  int probe = 64;
  int modes = 1;
  /// Width of the square object; 0: as wide as the scan needs.
  int object = 0;
  /// Distance of neighbouring positions.
  double step = 10;
  /// Largest random displacement of positions of a raster or a spiral along each axis, as a share
  /// of the step. Without displacements, the frames of a raster do not exclude objects and probes
  /// with the period of its step.
  double jitter = 0.25;
  /// Photons of the probe in a frame.
  double photons = 1e6;
  /// Whether photons arrive at random. Otherwise the frames are the exact intensities.
  bool poisson = false;
  std::uint64_t seed = 1;
};

/// Makes an object and a probe, and computes the frames with the references. The object has a
/// smooth phase and amplitudes between 0.5 and 1. The probe is a defocused Gaussian. Further modes
/// are orthogonal to the modes before, and each has half the power of the one before. The same
/// simulation gives the same bits. Throws BadInput if the object is too small for the scan.
[[nodiscard]] Dataset simulate(const Simulation& simulation);

}  // namespace rankcheck::cases::reconstruct
