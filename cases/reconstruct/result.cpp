#include <charconv>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "reference/spec/to_size.hpp"

#include "harness/base/files.hpp"
#include "harness/base/table.hpp"
#include "harness/case/case.hpp"

#include "cases/reconstruct/hdf5.hpp"
#include "cases/reconstruct/reconstruction.hpp"

namespace rankcheck::cases::reconstruct {

namespace {

const std::string image = "entry_1/image_1/";
const std::string illumination = "entry_1/instrument_1/source_1/illumination";
const std::string solver_name = "rankcheck_1/solver";
const std::string iterations_name = "rankcheck_1/iterations";
const std::string batches_name = "rankcheck_1/batches";
const std::string frames_hash_name = "rankcheck_1/frames_hash";
const std::string memory = "rankcheck_1/memory";

std::int64_t read_count(const hdf5::Reader& file, const std::string& name, double least) {
  const double value = file.number(name);
  if (!(value >= least && value <= std::numeric_limits<int>::max()) || value != std::floor(value)) {
    file.reject(name, fmt::format("a whole number, {} or more", least), fmt::format("{}", value));
  }
  return static_cast<std::int64_t>(value);
}

std::uint64_t read_hash(const hdf5::Reader& file, const std::string& name) {
  const std::string text = file.string(name);
  std::uint64_t hash = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, hash, 16);
  if (error != std::errc{} || rest != end) file.reject(name, "hexadecimal digits", text);
  return hash;
}

/// Reads complex numbers of a shape. A negative extent allows any extent.
std::vector<std::complex<float>> read_complex(const hdf5::Reader& file,
                                              const std::string& name,
                                              const hdf5::Shape& expected) {
  hdf5::Array<std::complex<float>> array = file.complex(name);
  bool fits = array.shape.size() == expected.size();
  for (std::size_t i = 0; fits && i < expected.size(); ++i) {
    fits = expected[i] < 0 || array.shape[i] == expected[i];
  }
  if (!fits) {
    file.reject(name,
                fmt::format("{}, as the data have it", hdf5::text(expected)),
                hdf5::text(array.shape));
  }
  if (array.values.empty()) file.reject(name, "at least one number", hdf5::text(array.shape));
  file.require_finite(name, array.values);
  return std::move(array.values);
}

}  // namespace

void write_result(const std::filesystem::path& path,
                  const Dataset& data,
                  const Result& result,
                  bool with_memory) {
  hdf5::Writer file;
  file.numbers<double>("cxi_version", {}, {160}, {.number = hdf5::Number::i64});
  file.string("entry_1/title",
              fmt::format("reconstructed by rankcheck: {}, {}",
                          result.solver,
                          harness::counted(result.iterations, "iteration", "iterations")));
  file.complex(image + "data", {data.rows, data.cols}, result.state.object);
  file.numbers(image + "positions", {data.count, 2}, data.positions);
  file.numbers(image + "cost",
               {static_cast<std::int64_t>(result.costs.size())},
               result.costs,
               {.number = hdf5::Number::f64});
  file.numbers<double>(image + "pixel_size",
                       {2},
                       {data.object_pixel_height(), data.object_pixel_width()},
                       {.number = hdf5::Number::f64});
  const std::int64_t window = data.window;
  file.complex(illumination, {result.state.modes(data.window), window, window}, result.state.probe);
  file.number("entry_1/instrument_1/source_1/wavelength", data.geometry.wavelength);
  file.number("entry_1/instrument_1/source_1/energy",
              wavelength_of_energy(data.geometry.wavelength));
  file.number("entry_1/instrument_1/detector_1/distance", data.geometry.distance);
  file.number("entry_1/instrument_1/detector_1/x_pixel_size", data.geometry.pixel_width);
  file.number("entry_1/instrument_1/detector_1/y_pixel_size", data.geometry.pixel_height);
  file.string(solver_name, result.solver);
  file.number(iterations_name, static_cast<double>(result.iterations));
  file.number(batches_name, result.batches);
  file.string(frames_hash_name, fmt::format("{:016x}", result.frames_hash));
  if (with_memory) {
    for (const auto& [name, values] : result.state.memory) {
      file.numbers(
          fmt::format("{}/{}", memory, name), {static_cast<std::int64_t>(values.size())}, values);
    }
    file.numbers<float>(memory + "/is_complete", {}, {1}, {.number = hdf5::Number::u8});
  }
  file.save(path, with_memory);
}

Result read_result(const std::filesystem::path& path, const Dataset& data) {
  harness::require_seal(path);
  const hdf5::Reader file(path);
  const std::string complete = memory + "/is_complete";
  if (!file.has(complete)) file.reject(memory, "a checkpoint", "none");
  Result result;
  result.solver = file.string(solver_name);
  result.iterations = read_count(file, iterations_name, 0);
  result.batches = static_cast<int>(read_count(file, batches_name, 1));
  result.frames_hash = read_hash(file, frames_hash_name);
  result.state.object = read_complex(file, image + "data", {data.rows, data.cols});
  result.state.probe = read_complex(file, illumination, {-1, data.window, data.window});
  result.costs = file.numbers<double>(image + "cost").values;
  file.require_finite(image + "cost", result.costs);
  if (static_cast<std::int64_t>(result.costs.size()) < result.iterations) {
    file.reject(image + "cost",
                fmt::format("a cost of each of {} iterations", result.iterations),
                fmt::format("{}", result.costs.size()));
  }
  if (file.numbers<float>(image + "positions").values != data.positions) {
    file.reject(image + "positions", "the positions of the data", "others");
  }
  for (const std::string& name : file.members(memory)) {
    if (name == "is_complete") continue;
    const std::string place = fmt::format("{}/{}", memory, name);
    std::vector<float>& values = result.state.memory[name];
    values = file.numbers<float>(place).values;
    file.require_finite(place, values);
  }
  return result;
}

void require_memory(const std::filesystem::path& path,
                    const Result& result,
                    const Solver& solver,
                    const Dataset& data) {
  spec::Scene scene = data.scene();
  scene.modes = result.state.modes(data.window);
  for (const spec::Array array : solver.remembers) {
    const std::string name(spec::name(array));
    const auto kept = result.state.memory.find(name);
    const std::size_t found = kept == result.state.memory.end() ? 0 : kept->second.size();
    const std::int64_t copies = spec::is_per_position(scene, array) ? data.count : 1;
    const auto expected = spec::to_size(copies * spec::components(scene, array));
    if (found == expected) continue;
    throw harness::BadInput(fmt::format("{}: {}/{}: found {} numbers, expected {}",
                                        path.string(),
                                        memory,
                                        name,
                                        found == 0 ? "no" : fmt::format("{}", found),
                                        expected));
  }
}

void require_same_frames(const std::filesystem::path& path,
                         const Result& result,
                         std::uint64_t frames_hash) {
  if (result.frames_hash == frames_hash) return;
  throw harness::BadInput(
      fmt::format("{}: {}: found {:016x}, expected {:016x}, of the data's frames and mask",
                  path.string(),
                  frames_hash_name,
                  result.frames_hash,
                  frames_hash));
}

}  // namespace rankcheck::cases::reconstruct
