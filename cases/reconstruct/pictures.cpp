#include "cases/reconstruct/pictures.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numbers>
#include <stdexcept>

#include <cairo/cairo.h>
#include <fmt/format.h>

#include "reference/spec/to_size.hpp"

#include "harness/base/files.hpp"

#if defined(__SANITIZE_ADDRESS__)
// Known leaks of libraries. Fontconfig, which finds Cairo's fonts, keeps its settings until the
// program ends. HDF5 loses some of its memory when files are damaged.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() {
  return "leak:libfontconfig\nleak:libhdf5";
}
#endif

namespace rankcheck::cases::reconstruct {

namespace {

using std::numbers::pi;

struct Color {
  double red = 0;
  double green = 0;
  double blue = 0;
};

constexpr Color ink{0.13, 0.13, 0.13};
constexpr Color curve_color{0.12, 0.36, 0.65};
constexpr Color result_color{0.75, 0.25, 0.1};
constexpr Color grid_color{0.88, 0.88, 0.88};
constexpr double title_size = 15;
/// Margins for ticks and labels, in pixels.
constexpr double left_margin = 78;
constexpr double top_margin = 44;
constexpr double bottom_margin = 54;

struct Panel {
  double left = 0;
  double top = 0;
  double width = 0;
  double height = 0;
};

/// Which end of a text is at its point.
enum class Anchor : std::uint8_t { left, middle, right };

std::uint32_t channel(double value) {
  return static_cast<std::uint32_t>(std::lround(255 * std::clamp(value, 0.0, 1.0)));
}

/// Throws std::runtime_error if Cairo failed. Only a lack of memory explains a failure.
void check(cairo_status_t status) {
  if (status == CAIRO_STATUS_SUCCESS) return;
  throw std::runtime_error(fmt::format("picture: {}", cairo_status_to_string(status)));
}

/// A white picture to draw on. Lengths are in pixels, and points are measured from the upper left
/// corner.
class Canvas {
 public:
  Canvas(double width, double height)
      : surface_(cairo_image_surface_create(CAIRO_FORMAT_RGB24,
                                            static_cast<int>(std::ceil(width)),
                                            static_cast<int>(std::ceil(height)))),
        context_(cairo_create(surface_)) {
    cairo_select_font_face(
        context_, "sans-serif", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
    begin({1, 1, 1});
    cairo_paint(context_);
  }
  Canvas(const Canvas&) = delete;
  Canvas& operator=(const Canvas&) = delete;
  ~Canvas() {
    cairo_destroy(context_);
    cairo_surface_destroy(surface_);
  }

  /// Draws a text whose vertical middle is at the point.
  void text(Point at, Anchor anchor, const std::string& words, double size = 12) {
    begin(ink);
    cairo_set_font_size(context_, size);
    cairo_text_extents_t extents;
    cairo_text_extents(context_, words.c_str(), &extents);
    const double share = anchor == Anchor::left ? 0 : anchor == Anchor::middle ? 0.5 : 1;
    // The middle of a line is the middle of its capital letters, so it does not depend on the text.
    cairo_move_to(context_, at.x - share * extents.x_advance, at.y + 0.36 * size);
    cairo_show_text(context_, words.c_str());
  }

  /// Draws a text that reads upwards, with its middle at the point.
  void text_upwards(Point at, const std::string& words, double size) {
    cairo_save(context_);
    cairo_translate(context_, at.x, at.y);
    cairo_rotate(context_, -pi / 2);
    text({0, 0}, Anchor::middle, words, size);
    cairo_restore(context_);
  }

  void line(const std::vector<Point>& points, Color color, double width = 1) {
    begin(color);
    cairo_set_line_width(context_, width);
    cairo_set_line_join(context_, CAIRO_LINE_JOIN_ROUND);
    for (const Point& point : points) cairo_line_to(context_, point.x, point.y);
    cairo_stroke(context_);
  }

  void dot(Point at, Color color, double radius) {
    begin(color);
    cairo_arc(context_, at.x, at.y, radius, 0, 2 * pi);
    cairo_fill(context_);
  }

  /// Draws an image over the box, inside a frame. `pixels` are row by row, with `columns` pixels in
  /// a row.
  void image(Panel box, const std::vector<Color>& pixels, int columns) {
    const int rows = static_cast<int>(pixels.size()) / columns;
    cairo_surface_t* stamp = cairo_image_surface_create(CAIRO_FORMAT_RGB24, columns, rows);
    check(cairo_surface_status(stamp));
    cairo_surface_flush(stamp);
    unsigned char* bytes = cairo_image_surface_get_data(stamp);
    const int stride = cairo_image_surface_get_stride(stamp);
    for (std::ptrdiff_t i = 0; i < std::ssize(pixels); ++i) {
      const Color& color = pixels[spec::to_size(i)];
      const std::uint32_t value =
          channel(color.red) << 16 | channel(color.green) << 8 | channel(color.blue);
      std::memcpy(bytes + i / columns * stride + i % columns * 4, &value, sizeof value);
    }
    cairo_surface_mark_dirty(stamp);
    cairo_save(context_);
    cairo_translate(context_, box.left, box.top);
    cairo_scale(context_, box.width / columns, box.height / rows);
    cairo_set_source_surface(context_, stamp, 0, 0);
    // Enlarged pixels stay squares; reduced pixels are averaged.
    const bool is_enlarged = box.width >= columns;
    cairo_pattern_set_filter(cairo_get_source(context_),
                             is_enlarged ? CAIRO_FILTER_NEAREST : CAIRO_FILTER_GOOD);
    cairo_new_path(context_);
    cairo_rectangle(context_, 0, 0, columns, rows);
    cairo_fill(context_);
    cairo_restore(context_);
    cairo_surface_destroy(stamp);
    frame(box);
  }

  void frame(Panel box) {
    begin(ink);
    cairo_set_line_width(context_, 1);
    cairo_rectangle(context_, box.left, box.top, box.width, box.height);
    cairo_stroke(context_);
  }

  /// Returns the bytes of the PNG file. Throws std::runtime_error if Cairo lacks memory.
  [[nodiscard]] std::string png() const {
    check(cairo_status(context_));
    std::string bytes;
    const auto append = [](void* out, const unsigned char* data, unsigned length) {
      static_cast<std::string*>(out)->append(reinterpret_cast<const char*>(data), length);
      return CAIRO_STATUS_SUCCESS;
    };
    check(cairo_surface_write_to_png_stream(surface_, append, &bytes));
    return bytes;
  }

 private:
  /// Begins a drawing. Without a new path, it would go on from the end of the last text.
  void begin(Color color) {
    cairo_set_source_rgb(context_, color.red, color.green, color.blue);
    cairo_new_path(context_);
  }

  cairo_surface_t* surface_;
  cairo_t* context_;
};

/// Returns how many pixels of the picture one pixel of an image takes. A whole number if the image
/// is small.
double magnification(int rows, int cols) {
  const double longest = std::max(rows, cols);
  return longest <= 640 ? std::max(1.0, std::floor(640 / longest)) : 1280 / longest;
}

/// An axis of an image or a plot: maps values from `low` to `high` to pixels from `start` to `end`.
struct Axis {
  double low = 0;
  double high = 1;
  double start = 0;
  double end = 1;

  [[nodiscard]] double at(double value) const {
    return start + (value - low) / (high - low) * (end - start);
  }
};

void ticks_below(Canvas& canvas, const Axis& axis, double y, const std::string& label) {
  for (const double tick : round_ticks(axis.low, axis.high, 6)) {
    canvas.line({{axis.at(tick), y}, {axis.at(tick), y + 5}}, {}, 1);
    canvas.text({axis.at(tick), y + 15}, Anchor::middle, fmt::format("{:g}", tick));
  }
  canvas.text({(axis.start + axis.end) / 2, y + 38}, Anchor::middle, label, 13);
}

void ticks_beside(Canvas& canvas, const Axis& axis, double x, const std::string& label) {
  for (const double tick : round_ticks(axis.low, axis.high, 6)) {
    canvas.line({{x - 5, axis.at(tick)}, {x, axis.at(tick)}}, {}, 1);
    canvas.text({x - 8, axis.at(tick)}, Anchor::right, fmt::format("{:g}", tick));
  }
  canvas.text_upwards({x - 60, (axis.start + axis.end) / 2}, label, 13);
}

/// Returns how much light each pixel of the object got from all positions together.
std::vector<double> light_on(const Dataset& data, const Complexes& modes) {
  const auto window = spec::to_size(data.window);
  std::vector<double> probe(window * window, 0);
  for (std::size_t i = 0; i < modes.size(); ++i) {
    probe[i % probe.size()] += std::norm(modes[i]);
  }
  const auto cols = spec::to_size(data.cols);
  std::vector<double> light(spec::to_size(data.rows) * cols, 0);
  for (std::size_t n = 0; n < data.positions.size(); n += 2) {
    const auto row = static_cast<std::size_t>(data.positions[n]);
    const auto col = static_cast<std::size_t>(data.positions[n + 1]);
    for (std::size_t i = 0; i < probe.size(); ++i) {
      light[(row + i / window) * cols + col + i % window] += probe[i];
    }
  }
  return light;
}

/// Returns the pixels that got at least a tenth of the light of the brightest one.
std::vector<std::size_t> lit_pixels(const Dataset& data, const Complexes& probe) {
  const std::vector<double> light = light_on(data, probe);
  const double least = 0.1 * *std::max_element(light.begin(), light.end());
  std::vector<std::size_t> lit;
  for (std::size_t i = 0; i < light.size(); ++i) {
    if (light[i] >= least) lit.push_back(i);
  }
  return lit;
}

/// Returns the first and the 99th percentile of the values at some places, at least `least` apart.
Axis grey_range(const std::vector<double>& values,
                const std::vector<std::size_t>& places,
                double least) {
  std::vector<double> chosen;
  for (const std::size_t place : places) {
    if (std::isfinite(values[place])) chosen.push_back(values[place]);
  }
  if (chosen.empty()) chosen.push_back(0);
  std::sort(chosen.begin(), chosen.end());
  const std::size_t last = chosen.size() - 1;
  const double low = chosen[last / 100];
  const double high = chosen[last - last / 100];
  const double room = std::max(0.0, (least - (high - low)) / 2);
  return {.low = low - room, .high = high + room};
}

/// Draws values in grey inside a frame, with micrometres along its sides and a scale beside it.
std::string draw_grey(const Dataset& data,
                      const Complexes& probe,
                      const std::vector<double>& values,
                      const std::string& title,
                      const std::string& unit,
                      double least_range) {
  const double scale = magnification(data.rows, data.cols);
  const Panel box{left_margin, top_margin, scale * data.cols, scale * data.rows};
  const double right = box.left + box.width;
  const double bottom = box.top + box.height;
  Canvas canvas(right + 140, bottom + bottom_margin);
  Axis range = grey_range(values, lit_pixels(data, probe), least_range);
  std::vector<Color> pixels;
  for (const double value : values) {
    const double grey = (value - range.low) / (range.high - range.low);
    pixels.push_back({grey, grey, grey});
  }
  canvas.text({box.left, top_margin / 2}, Anchor::left, title, title_size);
  canvas.image(box, pixels, data.cols);
  const double width = 1e6 * data.object_pixel_width() * data.cols;
  const double height = 1e6 * data.object_pixel_height() * data.rows;
  ticks_below(canvas, {0, width, box.left, right}, bottom, "µm");
  ticks_beside(canvas, {0, height, box.top, bottom}, box.left, "µm");
  const Panel bar{right + 84, box.top, 18, box.height};
  std::vector<Color> greys;
  for (int i = 255; i >= 0; --i) greys.push_back({i / 255.0, i / 255.0, i / 255.0});
  canvas.image(bar, greys, 1);
  range.start = bottom;
  range.end = box.top;
  ticks_beside(canvas, range, bar.left, unit);
  return canvas.png();
}

Color from_hue(double phase, double value) {
  const auto wave = [&](double shift) {
    const double sixth = std::fmod(phase / (2 * pi) * 6 + shift + 12, 6);
    return value * (1 - std::clamp(std::min(sixth, 4 - sixth), 0.0, 1.0));
  };
  return {wave(5), wave(3), wave(1)};
}

/// Draws a scale of the hues and their phases.
void draw_hues(Canvas& canvas, Panel bar) {
  std::vector<Color> hues;
  for (int i = 0; i < 256; ++i) hues.push_back(from_hue(2 * pi * (i / 255.0 - 0.5), 1));
  canvas.image(bar, hues, static_cast<int>(hues.size()));
  const double y = bar.top + bar.height + 12;
  canvas.text({bar.left, y}, Anchor::middle, "−π");
  canvas.text({bar.left + bar.width / 2, y}, Anchor::middle, "phase");
  canvas.text({bar.left + bar.width, y}, Anchor::middle, "π");
}

/// Returns ticks of a logarithmic axis: decades if there are enough, otherwise round numbers.
std::vector<double> logarithmic_ticks(double low, double high) {
  std::vector<double> ticks;
  const double decades = std::log10(high / low);
  const int stride = std::max(1, static_cast<int>(std::ceil(decades / 8)));
  const int last = static_cast<int>(std::floor(std::log10(high))) + 1;
  for (int power = static_cast<int>(std::floor(std::log10(low))); power <= last; power += stride) {
    for (const double factor : {1.0, 2.0, 5.0}) {
      if (factor > 1 && decades > 2) continue;
      const double tick = factor * std::pow(10, power);
      if (tick >= low * (1 - 1e-9) && tick <= high * (1 + 1e-9)) ticks.push_back(tick);
    }
  }
  return ticks.size() < 2 ? round_ticks(low, high, 5) : ticks;
}

/// Replaces costs by their decimal logarithms. Leaves out points whose cost has none.
std::vector<Point> logarithms(const std::vector<Point>& costs) {
  std::vector<Point> points;
  for (const Point& cost : costs) {
    if (cost.y > 0 && std::isfinite(cost.y)) points.push_back({cost.x, std::log10(cost.y)});
  }
  return points;
}

/// Returns the range from the smallest to the largest logarithm, with some margin.
Axis cost_range(const std::vector<Point>& points) {
  if (points.empty()) return {.low = -1, .high = 0};
  const auto [least, most] = std::minmax_element(
      points.begin(), points.end(), [](const Point& a, const Point& b) { return a.y < b.y; });
  const double room = std::max(0.02, 0.05 * (most->y - least->y));
  return {.low = least->y - room, .high = most->y + room};
}

}  // namespace

std::vector<double> round_ticks(double low, double high, int wanted) {
  std::vector<double> ticks;
  if (!(high > low)) return {low};
  const double raw = (high - low) / wanted;
  const double decade = std::pow(10, std::floor(std::log10(raw)));
  double step = 10 * decade;
  for (const double factor : {5.0, 2.0, 1.0}) {
    if (factor * decade >= raw * (1 - 1e-9)) step = factor * decade;
  }
  const double slack = 1e-9 * step;
  for (double i = std::ceil((low - slack) / step); i * step <= high + slack; ++i) {
    // Adding 0 turns -0 into 0, which prints without a minus.
    ticks.push_back(i * step + 0.0);
  }
  return ticks;
}

std::string draw_phase(const Dataset& data, const State& state) {
  std::complex<double> sum = 0;
  for (const std::size_t place : lit_pixels(data, state.probe)) sum += state.object[place];
  std::vector<double> phases;
  for (const std::complex<double> value : state.object) {
    phases.push_back(std::arg(value * std::conj(sum)));
  }
  return draw_grey(data, state.probe, phases, "Object, phase", "radians", 0.02);
}

std::string draw_amplitude(const Dataset& data, const State& state) {
  std::vector<double> amplitudes;
  double sum = 0;
  for (const std::complex<float>& value : state.object) {
    amplitudes.push_back(std::abs(value));
    if (std::isfinite(amplitudes.back())) sum += amplitudes.back();
  }
  const double mean = sum > 0 ? sum / static_cast<double>(amplitudes.size()) : 1;
  return draw_grey(data, state.probe, amplitudes, "Object, amplitude", "amplitude", 0.02 * mean);
}

std::string draw_probe(const Dataset& data, const Complexes& probe) {
  const auto pixels = spec::to_size(data.window) * spec::to_size(data.window);
  const int modes = static_cast<int>(probe.size() / pixels);
  const int columns = std::min(modes, 4);
  const double side = data.window * std::max(1.0, std::floor(256.0 / data.window));
  const double pitch = side + 24;
  const int rows = (modes + columns - 1) / columns;
  Canvas canvas(std::max(24 + columns * pitch, 320.0), top_margin + rows * (pitch + 16) + 52);
  canvas.text({24, top_margin / 2},
              Anchor::left,
              fmt::format("Probe, {:.3g} µm wide", 1e6 * data.object_pixel_width() * data.window),
              title_size);
  double total = 0;
  for (const std::complex<float>& value : probe) total += std::norm(value);
  for (int m = 0; m < modes; ++m) {
    const auto* mode = probe.data() + spec::to_size(m) * pixels;
    double power = 0;
    double largest = 1e-30;
    for (std::size_t i = 0; i < pixels; ++i) {
      power += std::norm(mode[i]);
      largest = std::max<double>(largest, std::abs(mode[i]));
    }
    std::vector<Color> colors;
    for (std::size_t i = 0; i < pixels; ++i) {
      colors.push_back(from_hue(std::arg(mode[i]), std::abs(mode[i]) / largest));
    }
    const int row = m / columns;
    const Panel box{24 + m % columns * pitch, top_margin + row * (pitch + 16), side, side};
    canvas.image(box, colors, data.window);
    canvas.text(
        {box.left, box.top + side + 14},
        Anchor::left,
        fmt::format(
            "mode {}: {:.3g} % of the power", m + 1, total > 0 ? 100 * power / total : 0.0));
  }
  draw_hues(canvas, {40, top_margin + rows * (pitch + 16) + 4, 200, 14});
  return canvas.png();
}

CostPlot plot_of(const Result& result) {
  CostPlot plot;
  const auto iterations = spec::to_size(result.iterations);
  const bool is_one_curve = result.batches == 1;
  for (std::size_t i = 0; i < result.costs.size(); ++i) {
    const auto at = static_cast<double>(i);
    if (is_one_curve || i < iterations) {
      plot.curve.push_back({is_one_curve ? at : at + 0.5, result.costs[i]});
    } else {
      plot.result = Point{at, result.costs[i]};
    }
  }
  return plot;
}

std::string draw_costs(const Result& result, std::string_view model) {
  const CostPlot plot = plot_of(result);
  const Panel box{left_margin + 12, top_margin, 640, 400};
  const double bottom = box.top + box.height;
  Canvas canvas(box.left + box.width + 28, bottom + bottom_margin);
  canvas.text({box.left, top_margin / 2}, Anchor::left, "Cost of each iteration", title_size);
  const double iterations = std::max<double>(1, static_cast<double>(result.iterations));
  const Axis x{0, iterations, box.left, box.left + box.width};
  const std::vector<Point> points = logarithms(plot.curve);
  const std::vector<Point> last = plot.result ? logarithms({*plot.result}) : std::vector<Point>();
  std::vector<Point> all = points;
  all.insert(all.end(), last.begin(), last.end());
  Axis y = cost_range(all);
  y.start = bottom;
  y.end = box.top;
  for (const double tick : logarithmic_ticks(std::pow(10, y.low), std::pow(10, y.high))) {
    const double height = y.at(std::log10(tick));
    canvas.line({{box.left, height}, {box.left + box.width, height}}, grid_color);
    canvas.text({box.left - 8, height}, Anchor::right, fmt::format("{:.4g}", tick));
  }
  const char* what = model == "poisson" ? "Σ (I − d − d log(I / d)) / Σ d" : "Σ (√I − √d)² / Σ d";
  canvas.text_upwards({box.left - 68, box.top + box.height / 2}, what, 13);
  std::vector<Point> curve;
  for (const Point& point : points) curve.push_back({x.at(point.x), y.at(point.y)});
  canvas.line(curve, curve_color, 1.5);
  for (const Point& point : curve) canvas.dot(point, curve_color, curve.size() > 100 ? 1.2 : 2.4);
  for (const Point& point : last) {
    canvas.dot({x.at(point.x), y.at(point.y)}, result_color, 4);
    const double label = box.left + box.width;
    canvas.dot({label - 92, top_margin / 2}, result_color, 4);
    canvas.text({label - 84, top_margin / 2}, Anchor::left, "of the result");
  }
  canvas.frame(box);
  ticks_below(canvas, x, bottom, "iterations");
  return canvas.png();
}

void write_pictures(const std::filesystem::path& folder,
                    const Dataset& data,
                    const Result& result,
                    std::string_view model) {
  const State& state = result.state;
  harness::make_folder(folder);
  harness::write_file(folder / "object-phase.png", draw_phase(data, state));
  harness::write_file(folder / "object-amplitude.png", draw_amplitude(data, state));
  harness::write_file(folder / "probe.png", draw_probe(data, state.probe));
  harness::write_file(folder / "cost.png", draw_costs(result, model));
}

}  // namespace rankcheck::cases::reconstruct
