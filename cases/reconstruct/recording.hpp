#pragma once

#include <algorithm>
#include <complex>
#include <cstddef>
#include <string>
#include <vector>

#include "cases/reconstruct/dataset.hpp"
#include "cases/reconstruct/hdf5.hpp"

/// What the readers of the formats have in common.
namespace rankcheck::cases::reconstruct {

/// A scan as it stands in a file, with the names of its datasets for complaints.
struct Recording {
  Geometry geometry;
  std::string frames_name;
  /// [positions, detector, detector], zero frequency first once corner_first() was called.
  hdf5::Array<float> frames;
  /// [detector, detector]: 1 where the detector measures, 0 where not; as the frames.
  std::vector<float> mask;
  std::string translation_name;
  /// Metres, row and column of each position.
  std::vector<double> translation;
  std::string probe_name;
  /// [modes, window, window]; empty where the file has none.
  hdf5::Array<std::complex<float>> probe;
  std::string object_name;
  /// [rows, cols]; empty where the file has none.
  hdf5::Array<std::complex<float>> object;
};

/// Rejects frames that are no [positions, width, width] of at least one position and pixel.
void require_frames(const hdf5::Reader& file, const std::string& name, const hdf5::Shape& shape);

/// Turns every image of a row-major stack so that the pixel (row, col) becomes the first.
template <class T>
void corner_first(std::vector<T>& images, int width, int row, int col) {
  const auto stride = static_cast<std::ptrdiff_t>(width);
  for (auto image = images.begin(); image != images.end(); image += stride * stride) {
    std::rotate(image, image + row * stride, image + stride * stride);
    for (auto line = image; line != image + stride * stride; line += stride) {
      std::rotate(line, line + col, line + stride);
    }
  }
}

/// Puts zeros where the mask is and rejects numbers elsewhere that are no intensities.
void clean_frames(const hdf5::Reader& file, Recording& recording);

/// Checks that everything fits together and places the windows on the object.
[[nodiscard]] Dataset assemble(const hdf5::Reader& file, Recording recording);

/// The readers.
[[nodiscard]] Recording read_cxi(const hdf5::Reader& file);
[[nodiscard]] Recording read_ptyd(const hdf5::Reader& file);

}  // namespace rankcheck::cases::reconstruct
