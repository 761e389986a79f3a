#include "cases/reconstruct/recording.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "reference/spec/to_size.hpp"

#include "harness/case/case.hpp"
#include "harness/run/memory.hpp"

namespace rankcheck::cases::reconstruct {

namespace {

/// Pixels of the object beyond the windows on every side. Bilinear interpolation needs one.
constexpr int border = 1;

/// Smallest and largest corner along an axis, in pixels.
struct Span {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  /// Returns how many pixels of the object hold all windows and a border.
  [[nodiscard]] double pixels(int window) const {
    return std::floor(high) - std::floor(low) + window + 1 + 2 * border;
  }
  /// Whether all windows, without being moved, lie on an object of `object` pixels.
  [[nodiscard]] bool fits(int window, std::int64_t object) const {
    return low >= 0 && std::ceil(high) + window <= static_cast<double>(object);
  }
};

Span span_of(const std::vector<double>& corners, std::size_t axis) {
  Span span;
  for (std::size_t i = axis; i < corners.size(); i += 2) {
    span.low = std::min(span.low, corners[i]);
    span.high = std::max(span.high, corners[i]);
  }
  return span;
}

/// Widest object that is accepted, in pixels.
constexpr double object_pixels_max = 1 << 16;

/// Returns the corners in pixels from the translations in metres.
std::vector<double> corners_of(const hdf5::Reader& file,
                               const Recording& recording,
                               const Dataset& data) {
  std::vector<double> corners = recording.translation;
  for (std::size_t i = 0; i < corners.size(); ++i) {
    corners[i] /= i % 2 == 0 ? data.object_pixel_height() : data.object_pixel_width();
    if (!std::isfinite(corners[i])) {
      file.reject(recording.translation_name,
                  "finite metres",
                  fmt::format("{} of position {}", recording.translation[i], i / 2));
    }
  }
  return corners;
}

/// Rejects scans over less than a pixel. Translations in a unit that the file does not name are
/// often far too small. Scans that are far too large are rejected by place().
void require_scan(const hdf5::Reader& file,
                  const Recording& recording,
                  const Dataset& data,
                  const std::vector<double>& corners) {
  double extent = 0;
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const Span span = span_of(corners, axis);
    extent = std::max(extent, span.high - span.low);
  }
  if (extent == 0 || extent >= 1) return;
  file.reject(recording.translation_name,
              fmt::format("metres, over at least one pixel of the object, {:.3g} × {:.3g} m",
                          data.object_pixel_height(),
                          data.object_pixel_width()),
              fmt::format("a scan over {:.3g} pixels", extent));
}

/// Returns the name of what an axis counts.
std::string_view extents_of(std::size_t axis) {
  return axis == 0 ? "rows" : "columns";
}

/// Rejects an object that is too small for the windows, wherever along an axis they are put.
void require_extent(const hdf5::Reader& file,
                    const Recording& recording,
                    int window,
                    std::size_t axis,
                    const std::vector<double>& corners) {
  const Span span = span_of(corners, axis);
  const std::int64_t known = recording.object.shape[axis];
  const double needed = span.pixels(window) - 2 * border;
  if (span.fits(window, known) || needed <= static_cast<double>(known)) return;
  file.reject(recording.object_name,
              fmt::format("at least {} {} for the windows of {}",
                          needed,
                          extents_of(axis),
                          recording.translation_name),
              fmt::format("{}", known));
}

/// Moves corners along an axis by whole pixels so that all windows fit. Returns the object's
/// extent. If a known object already holds the windows, nothing moves. In a larger object, the scan
/// is put in the middle.
int place(const hdf5::Reader& file,
          const Recording& recording,
          int window,
          std::size_t axis,
          std::vector<double>& corners) {
  const Span span = span_of(corners, axis);
  const bool has_object = !recording.object.values.empty();
  const std::int64_t known = has_object ? recording.object.shape[axis] : 0;
  if (has_object && span.fits(window, known)) return static_cast<int>(known);
  const double wanted = span.pixels(window);
  if (wanted > object_pixels_max) {
    file.reject(
        recording.translation_name,
        fmt::format("metres, within {} {} of the object", object_pixels_max, extents_of(axis)),
        fmt::format("a scan over {:.3g}", wanted));
  }
  const double extent = has_object ? static_cast<double>(known) : wanted;
  const double first = border + std::max(0.0, std::floor((extent - wanted) / 2));
  const double shift = std::min(first, extent - (wanted - 2 * border)) - std::floor(span.low);
  for (std::size_t i = axis; i < corners.size(); i += 2) corners[i] += shift;
  return static_cast<int>(extent);
}

/// Sets the object's extent and the windows' places on it.
void place_scan(const hdf5::Reader& file, Recording& recording, Dataset& data) {
  std::vector<double> corners = corners_of(file, recording, data);
  require_scan(file, recording, data, corners);
  if (!recording.object.values.empty()) {
    try_object(recording, [&] {
      require_extent(file, recording, data.window, 0, corners);
      require_extent(file, recording, data.window, 1, corners);
    });
  }
  data.rows = place(file, recording, data.window, 0, corners);
  data.cols = place(file, recording, data.window, 1, corners);
  data.positions.assign(corners.begin(), corners.end());
}

/// Takes the object if it can be used as a start, otherwise ones.
void take_object(Recording& recording, Dataset& data) {
  data.has_object = !recording.object.values.empty();
  data.object_fault = std::move(recording.object_fault);
  data.object = std::move(recording.object.values);
  if (data.has_object) return;
  harness::run::require_memory(
      data.frames_name,
      fmt::format("an object of {} × {}, which the scan needs,", data.rows, data.cols),
      static_cast<double>(data.rows) * data.cols * sizeof(data.object.front()));
  data.object.assign(spec::to_size(data.rows) * spec::to_size(data.cols), 1);
}

void take_probe(const hdf5::Reader& file, Recording& recording, Dataset& data) {
  const hdf5::Shape& shape = recording.probe.shape;
  const std::string expected =
      fmt::format("[modes, width, width] of at most the frames' {} pixels", data.detector);
  const bool fits = shape.size() == 3 && shape[0] > 0 && shape[1] == shape[2] && shape[1] > 0 &&
                    shape[1] <= data.detector;
  if (!fits) file.reject(recording.probe_name, expected, hdf5::text(shape));
  data.modes = static_cast<int>(shape[0]);
  data.window = static_cast<int>(shape[1]);
  data.probe = std::move(recording.probe.values);
  data.has_probe = true;
}

/// Measures how bright the borders of frames are. Each border is a sixteenth of the frame's side
/// wide, at least one pixel.
class BorderBrightness {
 public:
  BorderBrightness(const hdf5::Shape& shape, const std::vector<float>& mask) {
    const auto is_at_end = [](std::int64_t at, std::int64_t side) {
      const std::int64_t width = std::max<std::int64_t>(side / 16, 1);
      return at < width || at >= side - width;
    };
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(mask.size()); ++i) {
      if (mask[spec::to_size(i)] == 0) continue;
      ++measured_;
      if (is_at_end(i / shape[2], shape[1]) || is_at_end(i % shape[2], shape[2])) {
        border_.push_back(spec::to_size(i));
      }
    }
  }

  void add(std::span<const float> frame) {
    total_ += total_of(frame);
    for (const std::size_t i : border_) of_border_ += frame[i];
  }

  [[nodiscard]] double value() const {
    if (border_.empty() || !(total_ > 0)) return 0;
    const double border_mean = of_border_ / static_cast<double>(border_.size());
    return border_mean / (total_ / static_cast<double>(measured_));
  }

 private:
  std::vector<std::size_t> border_;
  std::int64_t measured_ = 0;
  double of_border_ = 0;
  double total_ = 0;
};

/// Square frames, zero frequency first. Masked pixels and padding are 0.
class FramesInFile final : public FrameSource {
 public:
  FramesInFile(std::shared_ptr<const hdf5::Reader> file, const Recording& recording)
      : file_(std::move(file)),
        name_(recording.frames_name),
        square_(recording.frames_shape),
        middle_row_(recording.middle_row),
        middle_col_(recording.middle_col),
        mask_(recording.mask),
        brightness_(recording.frames_shape, recording.mask),
        images_(*file_, recording.stacks) {}

  void read(std::int64_t n, std::span<float> frame) override {
    const std::span<const float> image = images_.image(n);
    clean_.resize(image.size());
    for (std::size_t i = 0; i < image.size(); ++i) {
      clean_[i] = mask_[i] == 0 ? 0 : image[i];
      if (std::isfinite(clean_[i]) && clean_[i] >= 0) continue;
      file_->reject(name_,
                    "finite numbers, none negative, wherever the mask has none",
                    fmt::format("{} in frame {}", clean_[i], n));
    }
    brightness_.add(clean_);
    std::fill(frame.begin(), frame.end(), 0.0F);
    square_.put(clean_.data(), frame.data());
    corner_first(frame, square_.width, middle_row_, middle_col_);
  }

  [[nodiscard]] double border_brightness() const override { return brightness_.value(); }

 private:
  std::shared_ptr<const hdf5::Reader> file_;
  std::string name_;
  Square square_;
  int middle_row_;
  int middle_col_;
  std::vector<float> mask_;
  /// Buffer for one image.
  std::vector<float> clean_;
  BorderBrightness brightness_;
  ImageReader images_;
};

/// Returns the most that intensities may add up to. A transform without scaling multiplies by the
/// number of pixels of a frame, and sums over all positions must be finite, too.
double light_max(int detector) {
  return std::numeric_limits<float>::max() / (static_cast<double>(detector) * detector);
}

bool is_light(double total, int detector) {
  return total > 0 && total <= light_max(detector);
}

std::string expected_light(std::string_view of, int detector) {
  return fmt::format(
      "light: {} that add up to more than 0 and at most {:.3g}, as single precision "
      "needs it",
      of,
      light_max(detector));
}

void require_light(const hdf5::Reader& file, const Recording& recording, const Dataset& data) {
  double total = 0;
  for (const std::complex<double> value : data.probe) total += std::norm(value);
  if (is_light(total, data.detector)) return;
  file.reject(
      recording.probe_name, expected_light("squares", data.detector), fmt::format("{:.3g}", total));
}

}  // namespace

void require_light(const Dataset& data, double total) {
  if (is_light(total, data.detector)) return;
  throw harness::BadInput(fmt::format("{}: found {:.3g}, expected {}",
                                      data.frames_name,
                                      total,
                                      expected_light("intensities", data.detector)));
}

double metres_per_unit(const hdf5::Reader& file, const std::string& name) {
  struct Unit {
    std::string_view name;
    double metres;
  };
  constexpr std::array units{Unit{"", 1},
                             Unit{"m", 1},
                             Unit{"metre", 1},
                             Unit{"meter", 1},
                             Unit{"metres", 1},
                             Unit{"meters", 1},
                             Unit{"mm", 1e-3},
                             Unit{"um", 1e-6},
                             // The micro sign and the Greek letter.
                             Unit{"\u00b5m", 1e-6},
                             Unit{"\u03bcm", 1e-6},
                             Unit{"nm", 1e-9},
                             Unit{"angstrom", 1e-10},
                             Unit{"Angstrom", 1e-10},
                             Unit{"\u00c5", 1e-10}};
  const std::string found = file.attribute(name, "units");
  for (const Unit& unit : units) {
    if (unit.name == found) return unit.metres;
  }
  file.reject(name, "an attribute units of m, mm, um, nm or angstrom, or none", found);
}

double positive(const hdf5::Reader& file,
                const std::string& name,
                double value,
                std::string_view unit) {
  if (!(value > 0) || !std::isfinite(value)) {
    file.reject(name, fmt::format("{}, more than 0", unit), fmt::format("{}", value));
  }
  return value;
}

double read_length(const hdf5::Reader& file, const std::string& name) {
  return metres_per_unit(file, name) * positive(file, name, file.number(name), "metres");
}

void require_room(const hdf5::Reader& file, const std::string& name, const hdf5::Shape& shape) {
  const std::string place = fmt::format("{}: {}", file.path().string(), name);
  const auto width = static_cast<double>(std::max(shape[1], shape[2]));
  // A frame as it is in the file and as it is used, the mask, and a counter of how often each pixel
  // is bad.
  constexpr double bytes_per_pixel = 4 * sizeof(float) + 2 * sizeof(std::int64_t);
  harness::run::require_memory(
      place,
      fmt::format("the arrays for one frame of {:.0f} × {:.0f}", width, width),
      width * width * bytes_per_pixel);
  harness::run::require_memory(place,
                               fmt::format("{} frames of {:.0f} × {:.0f}", shape[0], width, width),
                               static_cast<double>(shape[0]) * width * width * sizeof(float),
                               harness::run::MemoryShare::three_quarters);
}

void require_frames(const hdf5::Reader& file, const std::string& name, const hdf5::Shape& shape) {
  const bool is_stack = shape.size() == 3 && shape[1] > 0 && shape[2] > 0;
  if (!is_stack) file.reject(name, "[positions, rows, columns]", hdf5::text(shape));
  if (shape[0] == 0) file.reject(name, "at least one frame", "none");
  require_room(file, name, shape);
}

void mask_bad(const std::vector<std::int64_t>& bad_in, std::int64_t images, Recording& recording) {
  recording.partly_bad = 0;
  for (std::size_t i = 0; i < bad_in.size(); ++i) {
    if (bad_in[i] == 0) continue;
    recording.mask[i] = 0;
    if (bad_in[i] < images) ++recording.partly_bad;
  }
}

ImageReader::ImageReader(const hdf5::Reader& file, const std::vector<std::string>& names)
    : file_(file) {
  for (const std::string& name : names) {
    const std::int64_t count = file.shape(name).front();
    stacks_.push_back(
        {.name = name, .first = count_, .count = count, .together = file.rows_together(name)});
    count_ += count;
  }
}

std::span<const float> ImageReader::image(std::int64_t n) {
  if (n < first_ || n >= first_ + block_count_) {
    const auto stack = std::find_if(stacks_.begin(), stacks_.end(), [&](const Stack& each) {
      return n < each.first + each.count;
    });
    const std::int64_t begin = (n - stack->first) / stack->together * stack->together;
    block_count_ = std::min(stack->together, stack->count - begin);
    first_ = stack->first + begin;
    file_.rows(stack->name, begin, block_count_, block_);
  }
  const std::size_t pixels = block_.size() / spec::to_size(block_count_);
  return std::span(block_).subspan(spec::to_size(n - first_) * pixels, pixels);
}

Dataset assemble(std::shared_ptr<const hdf5::Reader> opened, Recording recording) {
  const hdf5::Reader& file = *opened;
  Dataset data;
  data.geometry = recording.geometry;
  data.frames_name = fmt::format("{}: {}", file.path().string(), recording.frames_name);
  const Square square(recording.frames_shape);
  data.count = recording.frames_shape[0];
  data.detector = square.width;
  data.stored_rows = square.rows;
  data.stored_cols = square.cols;
  data.mask.assign(data.pixels(), 0);
  square.put(recording.mask.data(), data.mask.data());
  corner_first(std::span(data.mask), data.detector, recording.middle_row, recording.middle_col);
  data.partly_bad = recording.partly_bad;
  data.source = std::make_shared<FramesInFile>(std::move(opened), recording);
  if (recording.probe_name.empty()) {
    data.modes = 1;
    data.window = data.detector;
  } else {
    file.require_finite(recording.probe_name, recording.probe.values);
    take_probe(file, recording, data);
    require_light(file, recording, data);
  }
  try_object(recording,
             [&] { file.require_finite(recording.object_name, recording.object.values); });
  place_scan(file, recording, data);
  take_object(recording, data);
  return data;
}

Dataset open_dataset(const std::filesystem::path& path) {
  const auto file = std::make_shared<const hdf5::Reader>(path);
  return assemble(file, file->has("chunks") ? read_ptyd(*file) : read_cxi(*file));
}

}  // namespace rankcheck::cases::reconstruct
