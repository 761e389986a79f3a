#pragma once

#include <algorithm>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "cases/reconstruct/hdf5.hpp"

/// Small scans as files, which tests corrupt.
namespace rankcheck::cases::reconstruct {

inline const std::string detector_1 = "entry_1/instrument_1/detector_1/";
inline const std::string source_1 = "entry_1/instrument_1/source_1/";
inline const std::string frames_1 = detector_1 + "data";
inline const std::string mask_1 = detector_1 + "mask";
inline const std::string probe_1 = source_1 + "illumination";
inline const std::string object_1 = "entry_1/image_1/data";
inline const std::string translation_1 = "entry_1/sample_1/geometry_1/translation";

/// A dataset of a file.
struct Part {
  std::string name;
  std::function<void(hdf5::Writer&, const std::string& name)> write;
};

inline Part numbers(const std::string& name,
                    const hdf5::Shape& shape,
                    const std::vector<double>& values,
                    hdf5::Storage storage = {.number = hdf5::Number::f64}) {
  return {name, [=](hdf5::Writer& file, const std::string& path) {
            file.numbers(path, shape, values, storage);
          }};
}

inline Part number(const std::string& name, double value) {
  return numbers(name, {}, {value});
}

/// Frames of 4 × 4.
inline Part frames_of(const std::vector<double>& values,
                      hdf5::Storage storage = {.number = hdf5::Number::f64}) {
  return numbers(frames_1, {std::ssize(values) / 16, 4, 4}, values, storage);
}

/// Takes (x, y, 0) of each position.
inline Part translations(const std::vector<double>& values) {
  return numbers(translation_1, {std::ssize(values) / 3, 3}, values);
}

/// Returns the part with an attribute that names its units.
inline Part in_units(const Part& part, const std::string& units) {
  return {part.name, [=](hdf5::Writer& file, const std::string& path) {
            part.write(file, path);
            file.attribute(path, "units", units);
          }};
}

inline Part complex(const std::string& name,
                    const hdf5::Shape& shape,
                    const std::vector<std::complex<float>>& values) {
  return {name,
          [=](hdf5::Writer& file, const std::string& path) { file.complex(path, shape, values); }};
}

/// Complex numbers that are all the same.
inline Part filled(const std::string& name, const hdf5::Shape& shape, std::complex<float> value) {
  const std::int64_t count =
      std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
  return complex(
      name, shape, std::vector<std::complex<float>>(static_cast<std::size_t>(count), value));
}

inline Part words(const std::string& name, const std::string& value) {
  return {name, [=](hdf5::Writer& file, const std::string& path) { file.string(path, value); }};
}

inline Part link(const std::string& name, const std::string& target) {
  return {name, [=](hdf5::Writer& file, const std::string& path) { file.link(path, target); }};
}

/// Returns 0, 1, 2, …
inline std::vector<double> ascending(std::size_t count) {
  std::vector<double> values(count);
  std::iota(values.begin(), values.end(), 0);
  return values;
}

/// Three frames of 4 × 4; pixel i of frame n is 16 n + i. Wavelength (4 m), distance (1 m) and
/// detector pixels (1 m) give object pixels of 1 m. The positions are (0, 0), (2, 1) and (4.5,
/// 3.25) as (row, column).
inline std::vector<Part> small_scan() {
  return {
      frames_of(ascending(48)),
      number(detector_1 + "distance", 1),
      number(detector_1 + "x_pixel_size", 1),
      number(detector_1 + "y_pixel_size", 1),
      number(source_1 + "wavelength", 4),
      translations({0, 0, 0, 1, 2, 0, 3.25, 4.5, 0}),
  };
}

/// Returns the parts whose names are not in `names`.
inline std::vector<Part> without(std::vector<Part> parts, const std::vector<std::string>& names) {
  std::erase_if(parts, [&](const Part& part) {
    return std::find(names.begin(), names.end(), part.name) != names.end();
  });
  return parts;
}

/// Returns the parts with changes. A change replaces the part of the same name.
inline std::vector<Part> with(std::vector<Part> parts, const std::vector<Part>& changes) {
  for (const Part& change : changes) {
    parts = without(std::move(parts), {change.name});
    parts.push_back(change);
  }
  return parts;
}

inline void write(const std::filesystem::path& path, const std::vector<Part>& parts) {
  hdf5::Writer file;
  for (const Part& part : parts) part.write(file, part.name);
  file.save(path);
}

}  // namespace rankcheck::cases::reconstruct
