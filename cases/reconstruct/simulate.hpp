#pragma once

#include <cstdint>

#include "cases/reconstruct/dataset.hpp"

namespace rankcheck::cases::reconstruct {

/// The path of the scan. `raster`: row by row; `spiral`: Fermat's, from the middle outwards;
/// `random`: anywhere in the square that a raster would fill.
enum class ScanPath : std::uint8_t { raster, spiral, random };

/// A simulated experiment; widths and lengths in pixels of the object.
struct Simulation {
  ScanPath path = ScanPath::raster;
  int positions = 100;
  int detector = 64;
  /// Width of the probe's window.
  int probe = 64;
  int modes = 1;
  /// Width of the square object; 0: as wide as the scan needs.
  int object = 0;
  /// Distance of neighbours.
  double step = 10;
  /// How far positions of a raster or a spiral are off, as a share of the step. Without it, a
  /// raster admits objects and probes with a period of its step.
  double jitter = 0.25;
  /// Photons of the probe in a frame.
  double photons = 1e6;
  /// Photons arrive at random, else intensities are what they are.
  bool poisson = false;
  std::uint64_t seed = 1;
};

/// Makes up object and probe and computes the frames with the references. The object has a smooth
/// phase and amplitudes between 0.5 and 1; the probe is a defocused Gaussian, further modes are
/// orthogonal to it and each has half the power of the one before. The same simulation gives the
/// same bits. Throws BadInput where the object is too small for the scan.
[[nodiscard]] Dataset simulate(const Simulation& simulation);

}  // namespace rankcheck::cases::reconstruct
