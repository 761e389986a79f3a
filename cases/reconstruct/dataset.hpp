#pragma once

#include <algorithm>
#include <complex>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "reference/spec/scene.hpp"

namespace rankcheck::cases::reconstruct {

/// The wavelength in metres of a photon of so many joules, and the other way round.
[[nodiscard]] constexpr double wavelength_of_energy(double joules) {
  return 6.62607015e-34 * 299792458 / joules;
}

/// Lengths of an experiment in metres.
struct Geometry {
  double wavelength = 0;
  /// From the sample to the detector.
  double distance = 0;
  /// The detector's pixels.
  double pixel_height = 0;
  double pixel_width = 0;
};

/// Reads the frames of a scan, one at a time.
class FrameSource {
 public:
  virtual ~FrameSource() = default;

  /// Fills [detector, detector] as in Dataset::frames; quickest in ascending order. Throws
  /// BadInput.
  virtual void read(std::int64_t n, std::span<float> frame) = 0;

  /// The mean intensity of the measured pixels at the borders of the frames that were read, by that
  /// of all measured pixels; 0 where nothing was measured there.
  [[nodiscard]] virtual double border_brightness() const { return 0; }
};

/// The sum of one frame, in order.
[[nodiscard]] inline double total_of(std::span<const float> frame) {
  return std::accumulate(frame.begin(), frame.end(), 0.0);
}

/// A scan as the operators take it.
struct Dataset {
  Geometry geometry;
  /// Scan positions, and so frames.
  std::int64_t count = 0;
  /// Width of the frames, which are square.
  int detector = 0;
  /// Of the frames in the file. Shorter sides have pixels at both ends that are not measured.
  int stored_rows = 0;
  int stored_cols = 0;
  int window = 0;
  int modes = 0;
  int rows = 0;
  int cols = 0;
  /// [count, detector, detector], zero frequency first; 0 where the mask is. Empty where they are
  /// still in the file.
  std::vector<float> frames;
  /// Reads them where they are.
  std::shared_ptr<FrameSource> source;
  /// Their sum, from whoever read them there.
  double source_total = 0;
  /// [detector, detector], zero frequency first: 1 where the detector measures, 0 where not.
  std::vector<float> mask;
  /// Pixels that the mask leaves out of all frames because they are bad in some: the operators have
  /// one mask for all positions.
  std::int64_t partly_bad = 0;
  /// [count, 2]: row and column of each window's minimum corner, in pixels of the object. Every
  /// window lies on the object, with the pixel that interpolation needs behind it.
  std::vector<float> positions;
  /// [modes, window, window]: from the file; where it has none, empty until somebody gives it a
  /// start (see starting_probe).
  std::vector<std::complex<float>> probe;
  /// [rows, cols]: from the file, or where it has none, ones.
  std::vector<std::complex<float>> object;
  /// The frames' file and dataset, for complaints.
  std::string frames_name;
  bool has_probe = false;
  bool has_object = false;
  /// Why the file's object is none to start from, with the names of both; empty where it is one,
  /// and where there is none.
  std::string object_fault;

  [[nodiscard]] spec::Scene scene() const {
    return {.rows = rows, .cols = cols, .window = window, .detector = detector, .modes = modes};
  }
  /// Pixels of a frame.
  [[nodiscard]] std::size_t pixels() const {
    return static_cast<std::size_t>(detector) * static_cast<std::size_t>(detector);
  }
  /// Copies frame n, from the file if need be; throws as FrameSource::read().
  void read_frame(std::int64_t n, std::span<float> frame) const;
  /// Pixels of the stored frames that the mask leaves out.
  [[nodiscard]] std::int64_t masked() const {
    const std::int64_t added =
        std::int64_t{detector} * detector - std::int64_t{stored_rows} * stored_cols;
    return std::count(mask.begin(), mask.end(), 0.0F) - added;
  }
  /// The sum of all frames.
  [[nodiscard]] double total() const;
  /// Metres.
  [[nodiscard]] double object_pixel_height() const {
    return geometry.wavelength * geometry.distance / (detector * geometry.pixel_height);
  }
  [[nodiscard]] double object_pixel_width() const {
    return geometry.wavelength * geometry.distance / (detector * geometry.pixel_width);
  }
};

/// Reads a scan from a CXI file or from ptypy's .ptyd layout, whichever the file has, but leaves
/// the frames there. Throws FileError where it cannot be opened, and BadInput with one line that
/// names the file, the dataset and what was expected; but an object that does not fit is left out.
[[nodiscard]] Dataset open_dataset(const std::filesystem::path& path);

/// Likewise, with the frames.
[[nodiscard]] Dataset read_dataset(const std::filesystem::path& path);

/// Throws BadInput unless frames that add up to `total` have light, and no more of it than single
/// precision holds.
void require_light(const Dataset& data, double total);

/// Writes a CXI file that read_dataset() reads: frames centred, as whole numbers where
/// `counts_photons`; translations in metres; object and probe where the data has them. Throws
/// FileError.
void write_dataset(const std::filesystem::path& path,
                   const Dataset& data,
                   const std::string& title,
                   bool counts_photons);

/// The probe with this number of modes: the first ones, and where there are too few, the first mode
/// times low powers of row and column, orthogonal to those before, the k-th added one with 1 / (10
/// k) of its power.
[[nodiscard]] std::vector<std::complex<float>> with_modes(const Dataset& data, int modes);

}  // namespace rankcheck::cases::reconstruct
