#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace rankcheck::cases::reconstruct {

struct Color {
  double red = 0;
  double green = 0;
  double blue = 0;
};

/// A place on the canvas, in pixels from its upper left corner.
struct Point {
  double x = 0;
  double y = 0;
};

struct Panel {
  double left = 0;
  double top = 0;
  double width = 0;
  double height = 0;
};

/// Which end of a text is at its point.
enum class Anchor : std::uint8_t { left, middle, right };

/// A white picture to draw on. Lengths are in pixels.
class Canvas {
 public:
  Canvas(double width, double height);
  Canvas(const Canvas&) = delete;
  Canvas& operator=(const Canvas&) = delete;
  ~Canvas();

  /// Draws a text whose vertical middle is at the point.
  void text(Point at, Anchor anchor, const std::string& words, double size = 12);
  /// Draws a text that reads upwards, with its middle at the point.
  void text_upwards(Point at, const std::string& words, double size = 12);
  void line(const std::vector<Point>& points, Color color, double width = 1);
  void dot(Point at, Color color, double radius);
  /// Draws an image over the box. `pixels` are row by row, with `columns` pixels in a row.
  void image(Panel box, const std::vector<Color>& pixels, int columns);
  void frame(Panel box);

  /// Returns the bytes of the PNG file. Throws std::runtime_error if Cairo lacks memory.
  [[nodiscard]] std::string png() const;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

/// Returns about `wanted` round numbers between `low` and `high`. Includes the ends if they are
/// round.
[[nodiscard]] std::vector<double> round_ticks(double low, double high, int wanted);

}  // namespace rankcheck::cases::reconstruct
