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
#include "reference/spec/to_size.hpp"

namespace rankcheck::cases::reconstruct {

using Complexes = std::vector<std::complex<float>>;

/// Returns the wavelength in metres of a photon with this energy. The same formula converts a
/// wavelength to joules.
[[nodiscard]] constexpr double wavelength_of_energy(double joules) {
  return 6.62607015e-34 * 299792458 / joules;
}

/// Lengths of an experiment in metres.
struct Geometry {
  double wavelength = 0;
  /// Distance from the sample to the detector.
  double distance = 0;
  /// Size of the detector's pixels.
  double pixel_height = 0;
  double pixel_width = 0;
};

/// Reads the frames of a scan, one at a time.
class FrameSource {
 public:
  virtual ~FrameSource() = default;

  /// Fills [detector, detector] as in Dataset::frames. Reading is fastest in ascending order.
  /// Throws BadInput.
  virtual void read(std::int64_t n, std::span<float> frame) = 0;

  /// Returns the mean intensity of the measured pixels at the borders of all frames read so far,
  /// divided by the mean of all measured pixels. Returns 0 if nothing was measured at the borders.
  [[nodiscard]] virtual double border_brightness() const { return 0; }
};

/// Returns the sum of one frame, added in order.
[[nodiscard]] inline double total_of(std::span<const float> frame) {
  return std::accumulate(frame.begin(), frame.end(), 0.0);
}

/// A scan in the form that the operators take.
struct Dataset {
  Geometry geometry;
  /// Number of scan positions, which is also the number of frames.
  std::int64_t count = 0;
  /// Width of the frames, which are square.
  int detector = 0;
  /// Size of the frames in the file. The shorter side is padded at both ends with pixels that count
  /// as not measured.
  int stored_rows = 0;
  int stored_cols = 0;
  int window = 0;
  int modes = 0;
  int rows = 0;
  int cols = 0;
  /// [count, detector, detector], zero frequency first. Masked pixels are 0. Empty if the frames
  /// are still in the file.
  std::vector<float> frames;
  /// Reads the frames that are still in the file.
  std::shared_ptr<FrameSource> source;
  /// Sum of all frames while they are in the file. Set by the code that has read them.
  double source_total = 0;
  /// [detector, detector], zero frequency first: 1 where the detector measures, else 0.
  std::vector<float> mask;
  /// Number of pixels that the mask leaves out of all frames because they are bad in some. The
  /// operators have one mask for all positions.
  std::int64_t partly_bad = 0;
  /// [count, 2]: row and column of each window's minimum corner, in pixels of the object. Every
  /// window lies on the object, together with the pixel behind it that interpolation needs.
  std::vector<float> positions;
  /// [modes, window, window]. If the file has no probe, it is empty until it gets a start, see
  /// starting_probe().
  Complexes probe;
  /// [rows, cols]. Ones if the file has no object.
  Complexes object;
  /// File and dataset of the frames, for error messages.
  std::string frames_name;
  bool has_probe = false;
  bool has_object = false;
  /// Why the file's object cannot be used as a start, with the names of file and dataset. Empty if
  /// it can, or if there is none.
  std::string object_fault;

  [[nodiscard]] spec::Scene scene() const {
    return {.rows = rows, .cols = cols, .window = window, .detector = detector, .modes = modes};
  }
  /// Returns the number of pixels of a frame.
  [[nodiscard]] std::size_t pixels() const {
    return spec::to_size(detector) * spec::to_size(detector);
  }
  /// Copies frame n, from the file if necessary. Throws like FrameSource::read().
  void read_frame(std::int64_t n, std::span<float> frame) const;
  /// Returns the number of pixels of the stored frames that the mask leaves out.
  [[nodiscard]] std::int64_t masked() const {
    const std::int64_t added =
        std::int64_t{detector} * detector - std::int64_t{stored_rows} * stored_cols;
    return std::count(mask.begin(), mask.end(), 0.0F) - added;
  }
  /// Returns the sum of all frames.
  [[nodiscard]] double total() const;
  /// Sizes of the object's pixels in metres.
  [[nodiscard]] double object_pixel_height() const {
    return geometry.wavelength * geometry.distance / (detector * geometry.pixel_height);
  }
  [[nodiscard]] double object_pixel_width() const {
    return geometry.wavelength * geometry.distance / (detector * geometry.pixel_width);
  }
};

/// Reads a scan from a CXI file or from a file in ptypy's .ptyd layout, but leaves the frames in
/// the file. Throws FileError if the file cannot be opened. Throws BadInput with one line that
/// names the file, the dataset and what was expected. An object that does not fit is left out
/// instead; see object_fault.
[[nodiscard]] Dataset open_dataset(const std::filesystem::path& path);

/// Does the same as open_dataset(), and reads the frames.
[[nodiscard]] Dataset read_dataset(const std::filesystem::path& path);

/// Throws BadInput unless the sum of the frames is above 0 and small enough for single precision.
void require_light(const Dataset& data, double total);

/// Writes a CXI file that read_dataset() reads. The frames are centred, and whole numbers if
/// `counts_photons`. The translations are in metres. Object and probe are written if the data have
/// them. Throws FileError.
void write_dataset(const std::filesystem::path& path,
                   const Dataset& data,
                   const std::string& title,
                   bool counts_photons);

}  // namespace rankcheck::cases::reconstruct
