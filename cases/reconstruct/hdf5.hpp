#pragma once

#include <complex>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// HDF5 files as far as scan data need them. Names are paths within the file without a leading
/// slash.
namespace rankcheck::cases::reconstruct::hdf5 {

using Shape = std::vector<std::int64_t>;

/// [3, 4, 4], or "a single number"; a negative extent stands for any.
[[nodiscard]] std::string text(const Shape& shape);

/// A dataset's numbers, row-major.
template <class T>
struct Array {
  Shape shape;
  std::vector<T> values;
};

/// Reads a file. Whatever is wrong with the file is a BadInput "<file>: <dataset>: expected
/// <what>, found <what>".
class Reader {
 public:
  /// Throws FileError where the file cannot be opened, BadInput where it is no HDF5.
  explicit Reader(const std::filesystem::path& path);
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  ~Reader();

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  /// Whether a group or dataset has this name. Links are followed; one whose
  /// target is missing is rejected.
  [[nodiscard]] bool has(const std::string& name) const;
  /// The first of the names that exists. Rejects a file with none of them; `expected` says what
  /// it lacks.
  [[nodiscard]] std::string first_of(const std::vector<std::string>& names,
                                     std::string_view expected) const;
  /// The names in a group, sorted; numbers by their value.
  [[nodiscard]] std::vector<std::string> members(const std::string& group) const;
  [[nodiscard]] Shape shape(const std::string& name) const;

  /// Numbers of any kind, converted to float or double.
  template <class T>
  [[nodiscard]] Array<T> numbers(const std::string& name) const;
  /// The numbers whose first index is first … first+count-1, likewise.
  void rows(const std::string& name,
            std::int64_t first,
            std::int64_t count,
            std::vector<float>& values) const;
  /// How many first indices the file stores together; reading fewer at a time reads them again and
  /// again. 1 where it stores each by itself.
  [[nodiscard]] std::int64_t rows_together(const std::string& name) const;
  /// From where on integers of a dataset, as floats, are no counts: the largest of an unsigned
  /// type, which detectors write into bad pixels; infinite of a signed one, which has negative
  /// numbers for that. Nothing where the numbers are not integers.
  [[nodiscard]] std::optional<float> counts_end(const std::string& name) const;
  /// A single number, or an array of one.
  [[nodiscard]] double number(const std::string& name) const;
  /// Complex numbers: compounds of a real and an imaginary part, or real numbers.
  [[nodiscard]] Array<std::complex<float>> complex(const std::string& name) const;
  [[nodiscard]] std::string string(const std::string& name) const;
  /// The text of a dataset's attribute; empty where there is none.
  [[nodiscard]] std::string attribute(const std::string& dataset,
                                      const std::string& attribute) const;

  /// Throws BadInput that names the file, the dataset and what was expected.
  [[noreturn]] void reject(const std::string& name,
                           std::string_view expected,
                           std::string_view found) const;
  /// Rejects the dataset where one of its values is infinite or none at all, and says which.
  /// T: float, double or std::complex<float>.
  template <class T>
  void require_finite(const std::string& name, const std::vector<T>& values) const;

 private:
  struct Implementation;
  std::filesystem::path path_;
  std::unique_ptr<Implementation> implementation_;
};

/// Numbers in a file.
enum class Number : std::uint8_t { i8, u8, i16, u16, i32, u32, i64, u64, f32, f64 };

/// How a dataset is stored.
struct Storage {
  /// What the numbers become in the file.
  Number number = Number::f32;
  /// One chunk for each index of the first dimension, compressed.
  bool compressed = false;
};

/// Builds a file in memory, so that it reaches the disk whole or not at all.
class Writer {
 public:
  Writer();
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  ~Writer();

  /// Groups are created as names need them. T: float or double.
  template <class T>
  void numbers(const std::string& name,
               const Shape& shape,
               const std::vector<T>& values,
               Storage storage = {});
  /// A single number, as f64.
  void number(const std::string& name, double value) {
    numbers<double>(name, {}, {value}, {.number = Number::f64});
  }
  /// Compounds {r, i} of two 32-bit floats.
  void complex(const std::string& name,
               const Shape& shape,
               const std::vector<std::complex<float>>& values);
  void string(const std::string& name, const std::string& value);
  /// A soft link; its target need not exist.
  void link(const std::string& name, const std::string& target);
  void attribute(const std::string& dataset, const std::string& name, const std::string& value);

  /// Replaces the file at once; `is_sealed`: with a checksum at its end, for
  /// harness::require_seal(). Throws FileError. The last call.
  void save(const std::filesystem::path& path, bool is_sealed = false);

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace rankcheck::cases::reconstruct::hdf5
