#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "cases/reconstruct/hdf5.hpp"

/// Small scans as files, which tests corrupt.
namespace rankcheck::cases::reconstruct {

inline const std::string detector_1 = "entry_1/instrument_1/detector_1/";
inline const std::string source_1 = "entry_1/instrument_1/source_1/";
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

/// Three frames of 4 × 4; pixel i of frame n is 16 n + i. Wavelength (4 m), distance (1 m) and
/// detector pixels (1 m) give object pixels of 1 m. The positions are (0, 0), (2, 1) and (4.5,
/// 3.25) as (row, column).
inline std::vector<Part> small_scan() {
  std::vector<double> frames;
  for (int i = 0; i < 48; ++i) frames.push_back(i);
  return {
      numbers(detector_1 + "data", {3, 4, 4}, frames),
      number(detector_1 + "distance", 1),
      number(detector_1 + "x_pixel_size", 1),
      number(detector_1 + "y_pixel_size", 1),
      number(source_1 + "wavelength", 4),
      numbers(translation_1, {3, 3}, {0, 0, 0, 1, 2, 0, 3.25, 4.5, 0}),
  };
}

/// Returns the parts with changes. A change replaces the part of the same name, or else is
/// appended.
inline std::vector<Part> with(std::vector<Part> parts, const std::vector<Part>& changes) {
  for (const Part& change : changes) {
    bool is_known = false;
    for (Part& part : parts) {
      if (part.name == change.name) {
        part = change;
        is_known = true;
      }
    }
    if (!is_known) parts.push_back(change);
  }
  return parts;
}

/// Returns the parts whose names are not in `names`.
inline std::vector<Part> without(const std::vector<Part>& parts,
                                 const std::vector<std::string>& names) {
  std::vector<Part> rest;
  for (const Part& part : parts) {
    bool is_wanted = true;
    for (const std::string& name : names) is_wanted = is_wanted && part.name != name;
    if (is_wanted) rest.push_back(part);
  }
  return rest;
}

inline void write(const std::filesystem::path& path, const std::vector<Part>& parts) {
  hdf5::Writer file;
  for (const Part& part : parts) part.write(file, part.name);
  file.save(path);
}

}  // namespace rankcheck::cases::reconstruct
