#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>

#include "cases/reconstruct/dataset.hpp"
#include "cases/reconstruct/hdf5.hpp"
#include "tests/fuzz/targets.hpp"
#include "tests/harness/sample.hpp"

namespace rankcheck::fuzz {

namespace {

namespace hdf5 = cases::reconstruct::hdf5;
using cases::reconstruct::Dataset;

/// Takes numbers from the input; zeros after its end.
class Bytes {
 public:
  explicit Bytes(std::string_view input) : input_(input) {}

  std::uint8_t byte() {
    if (input_.empty()) return 0;
    const auto first = static_cast<std::uint8_t>(input_.front());
    input_.remove_prefix(1);
    return first;
  }
  double number() {
    double value = 0;
    const std::size_t size = std::min(input_.size(), sizeof value);
    std::memcpy(&value, input_.data(), size);
    input_.remove_prefix(size);
    return value;
  }

 private:
  std::string_view input_;
};

/// The datasets that a scan may have, in the order in which the input changes them.
const std::vector<std::string> names{"entry_1/instrument_1/detector_1/data",
                                     "entry_1/instrument_1/detector_1/distance",
                                     "entry_1/instrument_1/detector_1/x_pixel_size",
                                     "entry_1/instrument_1/detector_1/y_pixel_size",
                                     "entry_1/instrument_1/detector_1/basis_vectors",
                                     "entry_1/instrument_1/detector_1/mask",
                                     "entry_1/instrument_1/source_1/wavelength",
                                     "entry_1/instrument_1/source_1/energy",
                                     "entry_1/instrument_1/source_1/illumination",
                                     "entry_1/sample_1/geometry_1/translation",
                                     "entry_1/image_1/data"};

hdf5::Shape shape_of(const std::string& name) {
  const bool is_frame = name.ends_with("mask") || name.ends_with("image_1/data");
  if (name == names.front()) return {3, 4, 4};
  if (name.ends_with("illumination")) return {1, 4, 4};
  if (name.ends_with("translation")) return {3, 3};
  if (name.ends_with("basis_vectors")) return {2, 3};
  return is_frame ? hdf5::Shape{8, 8} : hdf5::Shape{};
}

/// Whether a good scan has the dataset.
bool is_usual(const std::string& name) {
  return !name.ends_with("basis_vectors") && !name.ends_with("mask") && !name.ends_with("energy") &&
         name != names.back();
}

double value_of(const std::string& name, std::size_t i) {
  if (name.ends_with("translation")) return i % 3 == 2 ? 0 : static_cast<double>(i % 5);
  if (name.ends_with("wavelength")) return 4;
  return name.ends_with("mask") ? 0 : 1;
}

/// Writes one dataset as the input chooses: whether it exists, its shape, its type, a few of its
/// values and its unit.
void write(const std::string& name, Bytes& bytes, hdf5::Writer& file) {
  const std::uint8_t changes = bytes.byte();
  if (is_usual(name) == ((changes & 1U) != 0)) return;
  hdf5::Shape shape = shape_of(name);
  if ((changes & 2U) != 0) shape.resize(bytes.byte() % 5, 1);
  if ((changes & 4U) != 0 && !shape.empty()) shape[bytes.byte() % shape.size()] = bytes.byte() % 9;
  std::size_t count = 1;
  for (const std::int64_t extent : shape) count *= static_cast<std::size_t>(extent);
  std::vector<double> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = value_of(name, i);
  for (unsigned changed = (changes >> 3U) & 3U; changed > 0 && count > 0; --changed) {
    const std::size_t at = bytes.byte() % count;
    values[at] = bytes.number();
  }
  const auto kind = static_cast<hdf5::Number>((changes & 32U) != 0 ? bytes.byte() % 10 : 9);
  if ((changes & 64U) != 0) {
    file.complex(name, shape, std::vector<std::complex<float>>(values.begin(), values.end()));
  } else {
    file.numbers(name, shape, values, {.number = kind});
  }
  constexpr std::array units{"m", "nm", "keV", "eV", "J", "um", "furlong", ""};
  if ((changes & 128U) != 0) file.attribute(name, "units", units[bytes.byte() % units.size()]);
}

/// Returns how an accepted scan breaks what the operators require; empty for a good scan.
std::string fault_of(const Dataset& data) {
  const auto is_finite = [](double value) { return std::isfinite(value); };
  const cases::reconstruct::Geometry& g = data.geometry;
  for (const double length : {g.wavelength, g.distance, g.pixel_height, g.pixel_width}) {
    if (!(length > 0) || !is_finite(length)) return "a length that is none";
  }
  if (data.count < 1 || data.detector < 1 || data.window < 1) return "no frames";
  if (data.frames.size() != static_cast<std::size_t>(data.count) * data.pixels() ||
      data.mask.size() != data.pixels() ||
      data.positions.size() != 2 * static_cast<std::size_t>(data.count)) {
    return "arrays of other sizes than they should have";
  }
  if (!std::all_of(data.frames.begin(), data.frames.end(), is_finite)) return "endless light";
  for (std::size_t i = 0; i < data.positions.size(); ++i) {
    const int most = (i % 2 == 0 ? data.rows : data.cols) - data.window;
    if (data.positions[i] < 0 || !(std::ceil(data.positions[i]) <= static_cast<float>(most))) {
      return "a window that is not on the object";
    }
  }
  return {};
}

std::string fault_of_scan(std::string_view input) {
  static const harness::TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "scan.cxi";
  Bytes bytes(input);
  hdf5::Writer file;
  for (const std::string& name : names) write(name, bytes, file);
  file.save(path);
  return fault_of_reading([&] { return fault_of(cases::reconstruct::read_dataset(path)); });
}

std::vector<std::string> seeds_of_scans() {
  std::vector<std::string> seeds{std::string(names.size(), '\0')};
  for (std::size_t i = 0; i < names.size(); ++i) {
    for (const char change : {'\1', '\2', '\4', '\10', '\40', '\100', '\200'}) {
      seeds.push_back(std::string(i, '\0') + change + std::string(16, '\3'));
    }
  }
  return seeds;
}

}  // namespace

Target cxi_target() {
  return {"cxi", fault_of_scan, seeds_of_scans};
}

}  // namespace rankcheck::fuzz
