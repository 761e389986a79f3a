#pragma once

#include <complex>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace H5 {
class H5File;
}

/// Readers and writers of HDF5 files for scan data. Names are paths in the file without a leading
/// slash.
namespace rankcheck::cases::reconstruct::hdf5 {

using Shape = std::vector<std::int64_t>;

/// For example "[3, 4, 4]" or "a single value". A negative extent is written as "any".
[[nodiscard]] std::string text(const Shape& shape);

/// The numbers of a dataset, row-major.
template <class T>
struct Array {
  Shape shape;
  std::vector<T> values;
};

/// Reads a file. If something is wrong with the file, throws BadInput "<file>: <dataset>: found
/// <what>, expected <what>".
class Reader {
 public:
  /// Throws FileError if the file cannot be opened, and BadInput if it is not an HDF5 file.
  explicit Reader(const std::filesystem::path& path);
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  ~Reader();

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  /// Whether a group or dataset has this name. Follows links. Rejects a link whose target is
  /// missing.
  [[nodiscard]] bool has(const std::string& name) const;
  /// Returns the first of the names that exists. Rejects a file with none of them; `expected`
  /// describes the missing dataset.
  [[nodiscard]] std::string first_of(const std::vector<std::string>& names,
                                     std::string_view expected) const;
  /// Returns the sorted names in a group. Numbers are sorted by value.
  [[nodiscard]] std::vector<std::string> members(const std::string& group) const;
  [[nodiscard]] Shape shape(const std::string& name) const;

  /// Reads numbers of any kind and converts them to float or double.
  template <class T>
  [[nodiscard]] Array<T> numbers(const std::string& name) const;
  /// Reads the numbers whose first index is first … first+count-1 and converts them to float.
  void rows(const std::string& name,
            std::int64_t first,
            std::int64_t count,
            std::vector<float>& values) const;
  /// Returns the number of first indices that the file stores together; 1 if it stores each by
  /// itself. Reading fewer at a time reads the same data repeatedly.
  [[nodiscard]] std::int64_t rows_together(const std::string& name) const;
  /// For datasets of integers, returns the smallest float that is not a count. For unsigned types,
  /// it is the largest integer, which detectors write into bad pixels. For signed types, it is
  /// infinity, because detectors write negative numbers into bad pixels. Empty if the numbers are
  /// not integers.
  [[nodiscard]] std::optional<float> counts_end(const std::string& name) const;
  /// Reads a single number, or an array with one element.
  [[nodiscard]] double number(const std::string& name) const;
  /// Reads complex numbers: compounds of a real and an imaginary part, or real numbers.
  [[nodiscard]] Array<std::complex<float>> complex(const std::string& name) const;
  [[nodiscard]] std::string string(const std::string& name) const;
  /// Reads the text of a dataset's attribute. Empty if there is none.
  [[nodiscard]] std::string attribute(const std::string& dataset,
                                      const std::string& attribute) const;

  /// Throws BadInput that names the file, the dataset and what was expected.
  [[noreturn]] void reject(const std::string& name,
                           std::string_view expected,
                           std::string_view found) const;
  /// Rejects the dataset if one of its values is infinite or NaN, and names the first one. T:
  /// float, double or std::complex<float>.
  template <class T>
  void require_finite(const std::string& name, const std::vector<T>& values) const;

 private:
  /// Returns use(dataset) for a dataset, which must exist. Converts the library's exceptions, which
  /// are not derived from std::exception.
  template <class Use>
  auto with_dataset(const std::string& name, const Use& use) const;

  std::filesystem::path path_;
  std::unique_ptr<H5::H5File> file_;
};

/// The type of numbers in a file.
enum class Number : std::uint8_t { i8, u8, i16, u16, i32, u32, i64, u64, f32, f64 };

/// How a dataset is stored.
struct Storage {
  /// The type of the numbers in the file.
  Number number = Number::f32;
  /// Whether the data is compressed, in one chunk for each index of the first dimension.
  bool compressed = false;
};

/// Builds a file in memory, so that it is written to disk completely or not at all.
class Writer {
 public:
  Writer();
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  ~Writer();

  /// Writes numbers. Creates the groups in the name. T: float or double.
  template <class T>
  void numbers(const std::string& name,
               const Shape& shape,
               const std::vector<T>& values,
               Storage storage = {});
  /// Writes a single number as f64.
  void number(const std::string& name, double value) {
    numbers<double>(name, {}, {value}, {.number = Number::f64});
  }
  /// Writes compounds {r, i} of two 32-bit floats.
  void complex(const std::string& name,
               const Shape& shape,
               const std::vector<std::complex<float>>& values);
  void string(const std::string& name, const std::string& value);
  /// Writes a soft link. Its target need not exist.
  void link(const std::string& name, const std::string& target);
  void attribute(const std::string& dataset, const std::string& name, const std::string& value);

  /// Writes or replaces the file as a whole. If `is_sealed`, a checksum is appended for
  /// harness::require_seal(). Must be the last call. Throws FileError.
  void save(const std::filesystem::path& path, bool is_sealed = false);

 private:
  std::unique_ptr<H5::H5File> file_;
};

}  // namespace rankcheck::cases::reconstruct::hdf5
