#include "cases/reconstruct/canvas.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <stdexcept>

#include <cairo/cairo.h>
#include <fmt/format.h>

#include "reference/spec/to_size.hpp"

#if defined(__SANITIZE_ADDRESS__)
// Known leaks of libraries. Fontconfig, which finds Cairo's fonts, keeps its settings until the
// program ends. HDF5 loses some of its memory when files are damaged.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() {
  return "leak:libfontconfig\nleak:libhdf5";
}
#endif

namespace rankcheck::cases::reconstruct {

struct Canvas::Implementation {
  cairo_surface_t* surface = nullptr;
  cairo_t* context = nullptr;

  void use(Color color) const { cairo_set_source_rgb(context, color.red, color.green, color.blue); }
};

namespace {

constexpr Color ink{0.13, 0.13, 0.13};

std::uint32_t channel(double value) {
  return static_cast<std::uint32_t>(std::lround(255 * std::clamp(value, 0.0, 1.0)));
}

/// Throws std::runtime_error if Cairo failed. Only a lack of memory explains a failure.
void check(cairo_status_t status) {
  if (status == CAIRO_STATUS_SUCCESS) return;
  throw std::runtime_error(fmt::format("picture: {}", cairo_status_to_string(status)));
}

}  // namespace

Canvas::Canvas(double width, double height) : implementation_(std::make_unique<Implementation>()) {
  Implementation& here = *implementation_;
  here.surface = cairo_image_surface_create(
      CAIRO_FORMAT_RGB24, static_cast<int>(std::ceil(width)), static_cast<int>(std::ceil(height)));
  here.context = cairo_create(here.surface);
  cairo_select_font_face(
      here.context, "sans-serif", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
  here.use({1, 1, 1});
  cairo_paint(here.context);
}

Canvas::~Canvas() {
  cairo_destroy(implementation_->context);
  cairo_surface_destroy(implementation_->surface);
}

void Canvas::text(Point at, Anchor anchor, const std::string& words, double size) {
  cairo_t* context = implementation_->context;
  implementation_->use(ink);
  cairo_set_font_size(context, size);
  cairo_text_extents_t extents;
  cairo_text_extents(context, words.c_str(), &extents);
  const double share = anchor == Anchor::left ? 0 : anchor == Anchor::middle ? 0.5 : 1;
  // The middle of a line is the middle of its capital letters, so it does not depend on the text.
  cairo_move_to(context, at.x - share * extents.x_advance, at.y + 0.36 * size);
  cairo_show_text(context, words.c_str());
}

void Canvas::text_upwards(Point at, const std::string& words, double size) {
  cairo_t* context = implementation_->context;
  cairo_save(context);
  cairo_translate(context, at.x, at.y);
  cairo_rotate(context, -std::numbers::pi / 2);
  text({0, 0}, Anchor::middle, words, size);
  cairo_restore(context);
}

void Canvas::line(const std::vector<Point>& points, Color color, double width) {
  cairo_t* context = implementation_->context;
  implementation_->use(color);
  cairo_set_line_width(context, width);
  cairo_set_line_join(context, CAIRO_LINE_JOIN_ROUND);
  // Drawing a text leaves its end as the start of a path.
  cairo_new_path(context);
  for (const Point& point : points) cairo_line_to(context, point.x, point.y);
  cairo_stroke(context);
}

void Canvas::dot(Point at, Color color, double radius) {
  cairo_t* context = implementation_->context;
  implementation_->use(color);
  cairo_new_path(context);
  cairo_arc(context, at.x, at.y, radius, 0, 2 * std::numbers::pi);
  cairo_fill(context);
}

void Canvas::image(Panel box, const std::vector<Color>& pixels, int columns) {
  const int rows = static_cast<int>(pixels.size()) / columns;
  cairo_surface_t* stamp = cairo_image_surface_create(CAIRO_FORMAT_RGB24, columns, rows);
  check(cairo_surface_status(stamp));
  cairo_surface_flush(stamp);
  unsigned char* bytes = cairo_image_surface_get_data(stamp);
  const int stride = cairo_image_surface_get_stride(stamp);
  for (int row = 0; row < rows; ++row) {
    for (int col = 0; col < columns; ++col) {
      const Color& color = pixels[spec::to_size(row) * spec::to_size(columns) + spec::to_size(col)];
      const std::uint32_t value =
          channel(color.red) << 16 | channel(color.green) << 8 | channel(color.blue);
      std::copy_n(reinterpret_cast<const unsigned char*>(&value),
                  sizeof value,
                  bytes + static_cast<std::ptrdiff_t>(row) * stride + std::ptrdiff_t{4} * col);
    }
  }
  cairo_surface_mark_dirty(stamp);
  cairo_t* context = implementation_->context;
  cairo_save(context);
  cairo_translate(context, box.left, box.top);
  cairo_scale(context, box.width / columns, box.height / rows);
  cairo_set_source_surface(context, stamp, 0, 0);
  // Enlarged pixels stay squares; reduced pixels are averaged.
  const bool is_enlarged = box.width >= columns;
  cairo_pattern_set_filter(cairo_get_source(context),
                           is_enlarged ? CAIRO_FILTER_NEAREST : CAIRO_FILTER_GOOD);
  cairo_new_path(context);
  cairo_rectangle(context, 0, 0, columns, rows);
  cairo_fill(context);
  cairo_restore(context);
  cairo_surface_destroy(stamp);
}

void Canvas::frame(Panel box) {
  cairo_t* context = implementation_->context;
  implementation_->use(ink);
  cairo_set_line_width(context, 1);
  cairo_new_path(context);
  cairo_rectangle(context, box.left, box.top, box.width, box.height);
  cairo_stroke(context);
}

std::string Canvas::png() const {
  check(cairo_status(implementation_->context));
  std::string bytes;
  const auto append = [](void* out, const unsigned char* data, unsigned length) {
    static_cast<std::string*>(out)->append(reinterpret_cast<const char*>(data), length);
    return CAIRO_STATUS_SUCCESS;
  };
  check(cairo_surface_write_to_png_stream(implementation_->surface, append, &bytes));
  return bytes;
}

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

}  // namespace rankcheck::cases::reconstruct
