#include <algorithm>
#include <cmath>
#include <tuple>

#include <fmt/format.h>

#include "reference/spec/to_size.hpp"

#include "cases/reconstruct/recording.hpp"

namespace rankcheck::cases::reconstruct {

namespace {

constexpr double joules_per_kiloelectronvolt = 1.602176634e-16;

/// Reads one number for both axes, or one for rows and one for columns.
std::pair<double, double> read_pair(const hdf5::Reader& file, const std::string& name) {
  const std::vector<double> values = file.numbers<double>(name).values;
  if (values.empty() || values.size() > 2) {
    file.reject(name, "one or two numbers", fmt::format("{}", values.size()));
  }
  return {values.front(), values.back()};
}

/// Returns meta/<name>, or info/<name>, which older files have.
std::string described(const hdf5::Reader& file,
                      const std::string& name,
                      std::string_view expected) {
  return file.first_of({"meta/" + name, "info/" + name}, expected);
}

Geometry read_geometry(const hdf5::Reader& file) {
  const std::string energy = described(file, "energy", "kiloelectronvolts");
  const std::string distance = described(file, "distance", "metres");
  const std::string pixels = described(file, "psize", "metres");
  const auto [height, width] = read_pair(file, pixels);
  const double metres = metres_per_unit(file, pixels);
  return {.wavelength = wavelength_of_energy(
              joules_per_kiloelectronvolt *
              positive(file, energy, file.number(energy), "kiloelectronvolts")),
          .distance = read_length(file, distance),
          .pixel_height = metres * positive(file, pixels, height, "metres"),
          .pixel_width = metres * positive(file, pixels, width, "metres")};
}

/// Returns the number of pixels of one image.
std::size_t pixels_of(const hdf5::Shape& frames) {
  return spec::to_size(frames[1] * frames[2]);
}

/// Notes which pixels of a chunk's frames have no weight.
void apply_weights(const hdf5::Reader& file,
                   const std::string& name,
                   const hdf5::Shape& frames,
                   std::vector<bool>& is_bad) {
  const hdf5::Shape shape = file.shape(name);
  // If all frames share their weights, ptypy's chunks have an empty array in place of weights.
  if (shape == hdf5::Shape{0}) return;
  if (shape != hdf5::Shape{frames[1], frames[2]} && shape != frames) {
    file.reject(name, fmt::format("{}, as the frames", hdf5::text(frames)), hdf5::text(shape));
  }
  const std::size_t stride = shape.size() == 2 ? pixels_of(frames) : is_bad.size();
  for_each_value(file, name, [&](std::size_t at, float weight) {
    for (std::size_t i = at; !(weight > 0) && i < is_bad.size(); i += stride) is_bad[i] = true;
  });
}

/// Adds a chunk to the recording. `bad_in` counts the frames in which each pixel is bad.
void read_chunk(const hdf5::Reader& file,
                const std::string& chunk,
                Recording& recording,
                std::vector<std::int64_t>& bad_in) {
  const std::string data = chunk + "/data";
  const hdf5::Shape shape = file.shape(data);
  require_frames(file, data, shape);
  hdf5::Shape& frames = recording.frames_shape;
  if (frames.empty()) {
    frames = {0, shape[1], shape[2]};
    bad_in.assign(pixels_of(shape), 0);
  }
  if (shape[1] != frames[1] || shape[2] != frames[2]) {
    file.reject(
        data,
        fmt::format("frames of {} × {} pixels, as in the chunk before", frames[1], frames[2]),
        hdf5::text(shape));
  }
  recording.stacks.push_back(data);
  frames[0] += shape[0];
  require_room(file, "chunks", frames);
  std::vector<bool> is_bad(spec::to_size(shape[0]) * pixels_of(shape), false);
  for (const char* name : {"/weights", "/mask"}) {
    if (file.has(chunk + name)) apply_weights(file, chunk + name, shape, is_bad);
  }
  // Weights that all frames share. If there are none, ptypy writes a text instead.
  for (const char* name : {"meta/weight2d", "info/weight2d"}) {
    if (!file.has(name) || file.shape(name).size() != 2) continue;
    apply_weights(file, name, shape, is_bad);
    break;
  }
  for (std::size_t i = 0; i < is_bad.size(); ++i) bad_in[i % bad_in.size()] += is_bad[i] ? 1 : 0;
  const hdf5::Array<double> positions = file.numbers<double>(chunk + "/positions");
  if (positions.shape != hdf5::Shape{shape[0], 2}) {
    file.reject(chunk + "/positions",
                fmt::format("[{}, 2], a position for each frame", shape[0]),
                hdf5::text(positions.shape));
  }
  const double metres = metres_per_unit(file, chunk + "/positions");
  for (const double value : positions.values) recording.translation.push_back(metres * value);
}

/// Returns the row and column of zero frequency in the square that contains the frames. This is the
/// middle if the file does not say.
std::pair<int, int> read_center(const hdf5::Reader& file, const Square& square) {
  for (const std::string& name : {std::string("meta/center"), std::string("info/center")}) {
    if (!file.has(name)) continue;
    const auto [row, col] = read_pair(file, name);
    if (!(row >= 0 && row < square.rows && col >= 0 && col < square.cols)) {
      file.reject(name,
                  fmt::format("a pixel of frames of {} × {}", square.rows, square.cols),
                  fmt::format("({}, {})", row, col));
    }
    return {(square.first_row + static_cast<int>(std::lround(row))) % square.width,
            (square.first_col + static_cast<int>(std::lround(col))) % square.width};
  }
  return {square.width / 2, square.width / 2};
}

}  // namespace

Recording read_ptyd(const hdf5::Reader& file) {
  Recording recording;
  recording.geometry = read_geometry(file);
  const std::vector<std::string> chunks = file.members("chunks");
  if (chunks.empty()) file.reject("chunks", "at least one chunk", "none");
  recording.frames_name = "chunks";
  recording.translation_name = "chunks/" + chunks.front() + "/positions";
  std::vector<std::int64_t> bad_in;
  for (const std::string& chunk : chunks) read_chunk(file, "chunks/" + chunk, recording, bad_in);
  recording.set_mask(
      file, "chunks", "pixels with a weight in every frame", bad_in, recording.frames_shape[0]);
  std::tie(recording.middle_row, recording.middle_col) =
      read_center(file, Square(recording.frames_shape));
  return recording;
}

}  // namespace rankcheck::cases::reconstruct
