#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "reference/spec/to_size.hpp"

#include "cases/reconstruct/recording.hpp"

namespace rankcheck::cases::reconstruct {

namespace {

const std::string detector = "entry_1/instrument_1/detector_1/";
const std::string source = "entry_1/instrument_1/source_1/";

constexpr double joules_per_electronvolt = 1.602176634e-19;
/// Upper limit for the energy of a photon in joules. A larger number must be in another unit.
constexpr double photon_joules_max = 1e-9;

double joules(const hdf5::Reader& file, const std::string& name) {
  const double value = positive(file, name, file.number(name), "joules");
  const std::string unit = file.attribute(name, "units");
  if (unit == "eV") return value * joules_per_electronvolt;
  if (unit == "keV") return value * 1000 * joules_per_electronvolt;
  if (!unit.empty() && unit != "J") {
    file.reject(name, "an attribute units of J, eV or keV, or none", unit);
  }
  if (value > photon_joules_max) {
    file.reject(name,
                "a photon's energy in joules, or an attribute units of eV or keV",
                fmt::format("{}", value));
  }
  return value;
}

double wavelength(const hdf5::Reader& file) {
  const std::string name =
      file.first_of({source + "wavelength", source + "energy"}, "metres or joules");
  return name == source + "energy" ? wavelength_of_energy(joules(file, name))
                                   : read_length(file, name);
}

/// Reads height and width of the detector's pixels. They are datasets of their own, or the lengths
/// of two vectors: from a pixel to the next row, and to the next column.
void read_pixels(const hdf5::Reader& file, Geometry& geometry) {
  const std::string height = detector + "y_pixel_size";
  const std::string width = detector + "x_pixel_size";
  const std::string vectors = detector + "basis_vectors";
  const std::string first = file.first_of({width, height, vectors}, "metres");
  if (first == vectors) {
    const hdf5::Array<double> basis = file.numbers<double>(vectors);
    if (basis.shape != hdf5::Shape{2, 3}) file.reject(vectors, "[2, 3]", hdf5::text(basis.shape));
    const double metres = metres_per_unit(file, vectors);
    const auto length = [&](std::size_t i, std::string_view next) {
      const double* const v = basis.values.data() + i;
      const double norm = std::hypot(v[0], v[1], v[2]);
      if (norm > 0 && std::isfinite(norm)) return metres * norm;
      file.reject(vectors,
                  "vectors with a length above 0",
                  fmt::format("({}, {}, {}) from a pixel to the next {}", v[0], v[1], v[2], next));
    };
    geometry.pixel_height = length(0, "row");
    geometry.pixel_width = length(3, "column");
    return;
  }
  geometry.pixel_width = read_length(file, first);
  geometry.pixel_height = file.has(height) ? read_length(file, height) : geometry.pixel_width;
}

/// Reads the mask: 1 where the detector measures. A pixel that is bad in one frame is left out in
/// all frames. Without a mask, the detector's codes for bad pixels count, which stand in place of
/// counts.
void read_mask(const hdf5::Reader& file, const hdf5::Shape& frames, Recording& recording) {
  const std::string name = detector + "mask";
  const hdf5::Shape image{frames[1], frames[2]};
  std::vector<std::int64_t> bad_in(spec::to_size(image[0] * image[1]), 0);
  if (!file.has(name)) {
    if (const std::optional<float> end = file.counts_end(recording.frames_name)) {
      for_each_value(file, recording.frames_name, [&](std::size_t i, float value) {
        if (value < 0 || value >= *end) ++bad_in[i % bad_in.size()];
      });
    }
    return recording.set_mask(
        file, recording.frames_name, "a pixel with counts in all frames", bad_in, frames[0]);
  }
  const hdf5::Shape shape = file.shape(name);
  if (shape != image && shape != frames) {
    file.reject(
        name, fmt::format("[{}, {}], as the frames", image[0], image[1]), hdf5::text(shape));
  }
  for_each_value(file, name, [&](std::size_t i, float value) {
    if (value != 0) ++bad_in[i % bad_in.size()];
  });
  const std::int64_t images = shape == image ? 1 : frames[0];
  recording.set_mask(file, name, "zeros, which mean good pixels", bad_in, images);
}

/// Reads (x, y) or (x, y, z) of each position. Returns (row, column) in metres.
std::vector<double> read_translation(const hdf5::Reader& file,
                                     const std::string& name,
                                     std::int64_t positions) {
  const hdf5::Shape shape = file.shape(name);
  const bool fits = shape.size() == 2 && shape[0] == positions && (shape[1] == 2 || shape[1] == 3);
  if (!fits) {
    file.reject(
        name, fmt::format("[{}, 3], a position for each frame", positions), hdf5::text(shape));
  }
  const hdf5::Array<double> stored = file.numbers<double>(name);
  std::vector<double> translation;
  const double metres = metres_per_unit(file, name);
  const auto stride = spec::to_size(stored.shape[1]);
  for (std::size_t i = 0; i < stored.values.size(); i += stride) {
    translation.push_back(metres * stored.values[i + 1]);
    translation.push_back(metres * stored.values[i]);
  }
  return translation;
}

/// Reads an array and gives it `rank` dimensions: adds leading dimensions of 1, or drops them.
hdf5::Array<std::complex<float>> read_complex(const hdf5::Reader& file,
                                              const std::string& name,
                                              std::size_t rank) {
  hdf5::Array<std::complex<float>> array = file.complex(name);
  while (array.shape.size() < rank) array.shape.insert(array.shape.begin(), 1);
  while (array.shape.size() > rank && array.shape.front() == 1) {
    array.shape.erase(array.shape.begin());
  }
  return array;
}

void read_object(const hdf5::Reader& file, Recording& recording) {
  recording.object_name = "entry_1/image_1/data";
  if (!file.has(recording.object_name)) return;
  const hdf5::Shape shape = file.shape(recording.object_name);
  // Stacks of slices are large, so the shape is checked before reading.
  const auto is_one = [](std::int64_t extent) { return extent == 1; };
  if (shape.size() > 2 && !std::all_of(shape.begin(), shape.end() - 2, is_one)) {
    file.reject(recording.object_name, "[rows, columns]", hdf5::text(shape));
  }
  recording.object = read_complex(file, recording.object_name, 2);
  if (!recording.object.values.empty()) return;
  file.reject(recording.object_name, "at least one pixel", hdf5::text(shape));
}

void read_start(const hdf5::Reader& file, Recording& recording) {
  for (const std::string& name : {source + "illumination", detector + "data_illumination"}) {
    if (!recording.probe_name.empty() || !file.has(name)) continue;
    recording.probe_name = name;
    recording.probe = read_complex(file, name, 3);
  }
  try_object(recording, [&] { read_object(file, recording); });
}

}  // namespace

Recording read_cxi(const hdf5::Reader& file) {
  Recording recording;
  recording.frames_name =
      file.first_of({detector + "data", "entry_1/data_1/data"}, "[positions, rows, columns]");
  const hdf5::Shape shape = file.shape(recording.frames_name);
  require_frames(file, recording.frames_name, shape);
  recording.stacks = {recording.frames_name};
  recording.frames_shape = shape;
  recording.middle_row = recording.middle_col = Square(shape).width / 2;
  recording.translation_name = file.first_of({"entry_1/sample_1/geometry_1/translation",
                                              "entry_1/data_1/translation",
                                              detector + "translation"},
                                             "(x, y, z) in metres for each frame");
  recording.geometry.wavelength = wavelength(file);
  recording.geometry.distance = read_length(file, file.first_of({detector + "distance"}, "metres"));
  read_pixels(file, recording.geometry);
  recording.translation = read_translation(file, recording.translation_name, shape[0]);
  read_mask(file, shape, recording);
  read_start(file, recording);
  return recording;
}

void write_dataset(const std::filesystem::path& path,
                   const Dataset& data,
                   const std::string& title,
                   bool counts_photons) {
  hdf5::Writer file;
  file.numbers<double>("cxi_version", {}, {160}, {.number = hdf5::Number::i64});
  file.string("entry_1/title", title);
  const std::int64_t width = data.detector;
  const int middle = data.detector - data.detector / 2;
  const auto frame_like = [&](std::vector<float> images) {
    corner_first(std::span(images), data.detector, middle % data.detector, middle % data.detector);
    return images;
  };
  file.numbers(detector + "data",
               {data.count, width, width},
               frame_like(data.frames),
               {.number = counts_photons ? hdf5::Number::u32 : hdf5::Number::f32,
                .compressed = counts_photons});
  if (std::count(data.mask.begin(), data.mask.end(), 0.0F) > 0) {
    std::vector<float> bad = frame_like(data.mask);
    for (float& each : bad) each = 1 - each;
    file.numbers(detector + "mask", {width, width}, bad, {.number = hdf5::Number::u32});
  }
  file.number(detector + "distance", data.geometry.distance);
  file.number(detector + "x_pixel_size", data.geometry.pixel_width);
  file.number(detector + "y_pixel_size", data.geometry.pixel_height);
  file.number(source + "wavelength", data.geometry.wavelength);
  file.number(source + "energy", wavelength_of_energy(data.geometry.wavelength));
  std::vector<double> translation;
  for (std::size_t i = 0; i < data.positions.size(); i += 2) {
    translation.push_back(data.positions[i + 1] * data.object_pixel_width());
    translation.push_back(data.positions[i] * data.object_pixel_height());
    translation.push_back(0);
  }
  file.numbers("entry_1/sample_1/geometry_1/translation",
               {data.count, 3},
               translation,
               {.number = hdf5::Number::f64});
  file.link("entry_1/data_1/data", detector + "data");
  file.link("entry_1/data_1/translation", "entry_1/sample_1/geometry_1/translation");
  if (data.has_object) file.complex("entry_1/image_1/data", {data.rows, data.cols}, data.object);
  if (data.has_probe) {
    file.complex(source + "illumination", {data.modes, data.window, data.window}, data.probe);
  }
  file.save(path);
}

}  // namespace rankcheck::cases::reconstruct
