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

/// Widest object that is accepted, in pixels.
constexpr double object_pixels_max = 1 << 16;

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

/// The windows of a scan on the object.
class Windows {
 public:
  /// Takes the corners in pixels from the translations in metres. Rejects scans over less than a
  /// pixel: translations in a unit that the file does not name are often far too small. Scans that
  /// are far too large are rejected by place().
  Windows(const hdf5::Reader& file, const Recording& recording, const Dataset& data)
      : file_(file), recording_(recording), window_(data.window), corners_(recording.translation) {
    const std::array pixel{data.object_pixel_height(), data.object_pixel_width()};
    for (std::size_t i = 0; i < corners_.size(); ++i) {
      double& corner = corners_[i];
      corner /= pixel[i % 2];
      if (!std::isfinite(corner)) {
        reject_scan("finite metres",
                    fmt::format("{} of position {}", recording.translation[i], i / 2));
      }
      Span& span = spans_[i % 2];
      span.low = std::min(span.low, corner);
      span.high = std::max(span.high, corner);
    }
    const double extent = std::max(spans_[0].high - spans_[0].low, spans_[1].high - spans_[1].low);
    if (extent == 0 || extent >= 1) return;
    reject_scan(
        fmt::format(
            "metres, over at least one pixel of the object, {:.3g} × {:.3g} m", pixel[0], pixel[1]),
        fmt::format("a scan over {:.3g} pixels", extent));
  }

  [[nodiscard]] const std::vector<double>& corners() const { return corners_; }

  /// Rejects an object that is too small for the windows, wherever along an axis they are put.
  void require_extent(std::size_t axis) const {
    const std::int64_t known = recording_.object.shape[axis];
    const double needed = spans_[axis].pixels(window_) - 2 * border;
    if (spans_[axis].fits(window_, known) || needed <= static_cast<double>(known)) return;
    file_.reject(recording_.object_name,
                 fmt::format("at least {} {} for the windows of {}",
                             needed,
                             extents_of(axis),
                             recording_.translation_name),
                 fmt::format("{}", known));
  }

  /// Moves corners along an axis by whole pixels so that all windows fit. Returns the object's
  /// extent. If a known object already holds the windows, nothing moves. In a larger object, the
  /// scan is put in the middle.
  int place(std::size_t axis) {
    const Span& span = spans_[axis];
    const bool has_object = !recording_.object.values.empty();
    const std::int64_t known = has_object ? recording_.object.shape[axis] : 0;
    if (has_object && span.fits(window_, known)) return static_cast<int>(known);
    const double wanted = span.pixels(window_);
    if (wanted > object_pixels_max) {
      reject_scan(
          fmt::format("metres, within {} {} of the object", object_pixels_max, extents_of(axis)),
          fmt::format("a scan over {:.3g}", wanted));
    }
    const double extent = has_object ? static_cast<double>(known) : wanted;
    const double first = border + std::max(0.0, std::floor((extent - wanted) / 2));
    const double shift = std::min(first, extent - (wanted - 2 * border)) - std::floor(span.low);
    for (std::size_t i = axis; i < corners_.size(); i += 2) corners_[i] += shift;
    return static_cast<int>(extent);
  }

 private:
  [[noreturn]] void reject_scan(std::string_view expected, std::string_view found) const {
    file_.reject(recording_.translation_name, expected, found);
  }
  /// Returns the name of what an axis counts.
  static std::string_view extents_of(std::size_t axis) { return axis == 0 ? "rows" : "columns"; }

  const hdf5::Reader& file_;
  const Recording& recording_;
  int window_;
  std::vector<double> corners_;
  std::array<Span, 2> spans_;
};

/// Sets the object's extent and the windows' places on it.
void place_scan(const hdf5::Reader& file, Recording& recording, Dataset& data) {
  Windows windows(file, recording, data);
  if (!recording.object.values.empty()) {
    try_object(recording, [&] {
      windows.require_extent(0);
      windows.require_extent(1);
    });
  }
  data.rows = windows.place(0);
  data.cols = windows.place(1);
  data.positions.assign(windows.corners().begin(), windows.corners().end());
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

/// Throws BadInput unless `what`, such as "intensities", add up to more than 0 and so little that
/// single precision suffices. A transform without scaling multiplies by the number of pixels of a
/// frame, and sums over all positions must be finite, too.
void require_light(const std::string& place, std::string_view what, double total, int detector) {
  const double most =
      std::numeric_limits<float>::max() / (static_cast<double>(detector) * detector);
  if (total > 0 && total <= most) return;
  throw harness::BadInput(
      fmt::format("{}: found {:.3g}, expected light: {} that add up to more than 0 and at most "
                  "{:.3g}, as single precision needs it",
                  place,
                  total,
                  what,
                  most));
}

}  // namespace

void require_light(const Dataset& data, double total) {
  require_light(data.frames_name, "intensities", total, data.detector);
}

double metres_per_unit(const hdf5::Reader& file, const std::string& name) {
  struct Unit {
    double metres;
    std::vector<std::string_view> names;
  };
  // µ is the micro sign or the Greek letter.
  static const std::vector<Unit> units{{1, {"", "m", "metre", "meter", "metres", "meters"}},
                                       {1e-3, {"mm"}},
                                       {1e-6, {"um", "\u00b5m", "\u03bcm"}},
                                       {1e-9, {"nm"}},
                                       {1e-10, {"angstrom", "Angstrom", "\u00c5"}}};
  const std::string found = file.attribute(name, "units");
  for (const Unit& unit : units) {
    if (std::count(unit.names.begin(), unit.names.end(), found) > 0) return unit.metres;
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

void Recording::set_mask(const hdf5::Reader& file,
                         const std::string& name,
                         std::string_view expected,
                         const std::vector<std::int64_t>& bad_in,
                         std::int64_t images) {
  partly_bad = 0;
  mask.clear();
  for (const std::int64_t bad : bad_in) {
    mask.push_back(bad == 0 ? 1 : 0);
    if (bad > 0 && bad < images) ++partly_bad;
  }
  if (std::count(mask.begin(), mask.end(), 1.0F) == 0) file.reject(name, expected, "none");
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
    double total = 0;
    for (const std::complex<double> value : data.probe) total += std::norm(value);
    const std::string place = fmt::format("{}: {}", file.path().string(), recording.probe_name);
    require_light(place, "squares", total, data.detector);
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
