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

#include "harness/case/case.hpp"

#include "cases/reconstruct/dataset.hpp"
#include "cases/reconstruct/hdf5.hpp"

/// The parts that the readers of all formats share.
namespace rankcheck::cases::reconstruct {

/// A scan as it is in a file, with the names of its datasets for error messages.
struct Recording {
  Geometry geometry;
  std::string frames_name;
  /// Datasets [positions, rows, columns]; their frames follow one another.
  std::vector<std::string> stacks;
  /// Shape of all stacks together.
  hdf5::Shape frames_shape;
  /// The pixel of zero frequency in the frames after padding to squares.
  int middle_row = 0;
  int middle_col = 0;
  /// Mask of one image in the file's order: 1 where the detector measures, else 0.
  std::vector<float> mask;
  /// See Dataset.
  std::int64_t partly_bad = 0;
  std::string translation_name;
  /// Metres, row and column of each position.
  std::vector<double> translation;
  std::string probe_name;
  /// [modes, window, window]. Empty if the file has none.
  hdf5::Array<std::complex<float>> probe;
  std::string object_name;
  /// [rows, cols]. Empty if the file has none.
  hdf5::Array<std::complex<float>> object;
  /// See Dataset. If it is set, the object is empty.
  std::string object_fault;

  /// Masks the pixels that are bad in any of `images` images. `bad_in` says in how many images each
  /// pixel is bad. Rejects the dataset `name`, which says so, if no pixel is left.
  void set_mask(const hdf5::Reader& file,
                const std::string& name,
                std::string_view expected,
                const std::vector<std::int64_t>& bad_in,
                std::int64_t images);
};

/// Calls `use`. If it throws BadInput, drops the object and notes the reason.
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

/// Returns the metres of one unit of a dataset's lengths, from its attribute `units`; 1 without the
/// attribute. Rejects units other than m, mm, um, nm and angstrom.
[[nodiscard]] double metres_per_unit(const hdf5::Reader& file, const std::string& name);

/// Returns `value` if it is finite and above 0, otherwise rejects it. `unit` names its unit for the
/// message.
[[nodiscard]] double positive(const hdf5::Reader& file,
                              const std::string& name,
                              double value,
                              std::string_view unit);

/// Reads a dataset's single length in metres. Rejects lengths that are not above 0.
[[nodiscard]] double read_length(const hdf5::Reader& file, const std::string& name);

/// The place of an image in a square that is as wide as the image's longer side. Both have their
/// middle (n/2) at the same pixel.
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

  /// Copies an image into its place in the square.
  void put(const float* image, float* square) const {
    for (int row = 0; row < rows; ++row) {
      std::copy_n(image + static_cast<std::ptrdiff_t>(row) * cols,
                  cols,
                  square + static_cast<std::ptrdiff_t>(first_row + row) * width + first_col);
    }
  }
};

/// Throws BadInput if frames of this shape, or the arrays for one frame, do not fit into this
/// machine's memory.
void require_room(const hdf5::Reader& file, const std::string& name, const hdf5::Shape& shape);

/// Rejects frames that are not [positions, rows, columns] with at least one position and pixel.
void require_frames(const hdf5::Reader& file, const std::string& name, const hdf5::Shape& shape);

/// Reads the images of several stacks as one sequence.
class ImageReader {
 public:
  /// `file` must outlive this object.
  ImageReader(const hdf5::Reader& file, const std::vector<std::string>& names);

  [[nodiscard]] std::int64_t count() const { return count_; }
  /// Returns image n, which is valid until the next call. Reads images together that the file
  /// stores together.
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
  /// The images from number first_ on.
  std::vector<float> block_;
  std::int64_t first_ = 0;
  std::int64_t block_count_ = 0;
};

/// Calls body(i, value) for each value of a dataset, where i is its index in row-major order.
template <class Body>
void for_each_value(const hdf5::Reader& file, const std::string& name, const Body& body) {
  // The dataset is a stack of images, or a single image that is read by rows.
  ImageReader images(file, {name});
  std::size_t i = 0;
  for (std::int64_t n = 0; n < images.count(); ++n) {
    for (const float value : images.image(n)) body(i++, value);
  }
}

/// Rotates every image of a row-major stack cyclically so that pixel (row, col) becomes the first.
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

/// Checks that all parts fit together and places the windows on the object. The frames stay in the
/// file. Throws BadInput.
[[nodiscard]] Dataset assemble(std::shared_ptr<const hdf5::Reader> file, Recording recording);

/// The readers of the two formats.
[[nodiscard]] Recording read_cxi(const hdf5::Reader& file);
[[nodiscard]] Recording read_ptyd(const hdf5::Reader& file);

}  // namespace rankcheck::cases::reconstruct
