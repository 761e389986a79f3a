#pragma once

#include <algorithm>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/case.hpp"

#include "cases/reconstruct/dataset.hpp"
#include "cases/reconstruct/hdf5.hpp"

/// What the readers of the formats have in common.
namespace rankcheck::cases::reconstruct {

/// A scan as it stands in a file, with the names of its datasets for complaints.
struct Recording {
  Geometry geometry;
  std::string frames_name;
  /// Stacks of [positions, rows, columns], one behind the other.
  std::vector<std::string> stacks;
  /// Of all of them together.
  hdf5::Shape frames_shape;
  /// The pixel of zero frequency of the frames, made square.
  int middle_row = 0;
  int middle_col = 0;
  /// Of one image: 1 where the detector measures, 0 where not; as it lies in the file.
  std::vector<float> mask;
  /// See Dataset.
  std::int64_t partly_bad = 0;
  std::string translation_name;
  /// Metres, row and column of each position.
  std::vector<double> translation;
  std::string probe_name;
  /// [modes, window, window]; empty where the file has none.
  hdf5::Array<std::complex<float>> probe;
  std::string object_name;
  /// [rows, cols]; empty where the file has none.
  hdf5::Array<std::complex<float>> object;
  /// See Dataset; then the object is empty, too.
  std::string object_fault;
};

/// Does without the object where `use` throws BadInput, and notes why.
template <class Use>
void try_object(Recording& recording, const Use& use) {
  if (!recording.object_fault.empty()) return;
  try {
    use();
  } catch (const harness::BadInput& bad) {
    recording.object_fault = bad.what();
    recording.object = {};
  }
}

/// The metres of one unit of a dataset's lengths: as its attribute `units` says, 1 where it has
/// none. Rejects units that are none of m, mm, um, nm and angstrom.
[[nodiscard]] double metres_per_unit(const hdf5::Reader& file, const std::string& name);

/// A finite number more than 0; `unit` is what it counts. Rejects others.
[[nodiscard]] double positive(const hdf5::Reader& file,
                              const std::string& name,
                              double value,
                              std::string_view unit);

/// A dataset's single length, more than 0, in metres.
[[nodiscard]] double read_length(const hdf5::Reader& file, const std::string& name);

/// Where an image lies in the square that is as wide as its longer side: their middles (n / 2) are
/// at the same place.
struct Square {
  explicit Square(const hdf5::Shape& frames)
      : rows(static_cast<int>(frames[1])),
        cols(static_cast<int>(frames[2])),
        width(std::max(rows, cols)),
        first_row(width / 2 - rows / 2),
        first_col(width / 2 - cols / 2) {}

  int rows;
  int cols;
  int width;
  int first_row;
  int first_col;

  /// Copies an image into its place.
  void put(const float* image, float* square) const {
    for (int row = 0; row < rows; ++row) {
      std::copy_n(image + static_cast<std::ptrdiff_t>(row) * cols,
                  cols,
                  square + static_cast<std::ptrdiff_t>(first_row + row) * width + first_col);
    }
  }
};

/// Leaves pixels out of the mask: those that are bad in any of `images` images, of which `bad_in`
/// says in how many each of them is.
void mask_bad(const std::vector<std::int64_t>& bad_in, std::int64_t images, Recording& recording);

/// Throws BadInput where frames of this shape, or what is kept for each of their pixels, would not
/// fit into this machine's memory.
void require_room(const hdf5::Reader& file, const std::string& name, const hdf5::Shape& shape);

/// Rejects frames that are no [positions, rows, columns] of at least one position and pixel.
void require_frames(const hdf5::Reader& file, const std::string& name, const hdf5::Shape& shape);

/// Reads stacks of images that lie one behind the other.
class ImageReader {
 public:
  /// `file` has to outlive it.
  ImageReader(const hdf5::Reader& file, const std::vector<std::string>& names);

  [[nodiscard]] std::int64_t count() const { return count_; }
  /// Stands until the next call. Reads what the file stores together at once.
  [[nodiscard]] std::span<const float> image(std::int64_t n);

 private:
  struct Stack {
    std::string name;
    std::int64_t first;
    std::int64_t count;
    std::int64_t together;
  };

  const hdf5::Reader& file_;
  std::vector<Stack> stacks_;
  std::int64_t count_ = 0;
  /// The images from first_ on.
  std::vector<float> block_;
  std::int64_t first_ = 0;
  std::int64_t block_count_ = 0;
};

/// Turns every image of a row-major stack so that the pixel (row, col) becomes the first.
template <class T>
void corner_first(std::span<T> images, int width, int row, int col) {
  const auto stride = static_cast<std::ptrdiff_t>(width);
  for (auto image = images.begin(); image != images.end(); image += stride * stride) {
    std::rotate(image, image + row * stride, image + stride * stride);
    for (auto line = image; line != image + stride * stride; line += stride) {
      std::rotate(line, line + col, line + stride);
    }
  }
}

/// Checks that everything fits together and places the windows on the object; the frames stay in
/// the file.
[[nodiscard]] Dataset assemble(std::shared_ptr<const hdf5::Reader> file, Recording recording);

/// The readers.
[[nodiscard]] Recording read_cxi(const hdf5::Reader& file);
[[nodiscard]] Recording read_ptyd(const hdf5::Reader& file);

}  // namespace rankcheck::cases::reconstruct
