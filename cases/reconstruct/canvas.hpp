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

/// Where a text stands with respect to its point.
enum class Anchor : std::uint8_t { left, middle, right };

/// A white picture to draw on.
class Canvas {
 public:
  Canvas(double width, double height);
  Canvas(const Canvas&) = delete;
  Canvas& operator=(const Canvas&) = delete;
  ~Canvas();

  /// The text's vertical middle is at the point.
  void text(Point at, Anchor anchor, const std::string& words, double size = 12);
  /// The text reads upwards, its middle at the point.
  void text_upwards(Point at, const std::string& words, double size = 12);
  void line(const std::vector<Point>& points, Color color, double width = 1);
  void dot(Point at, Color color, double radius);
  /// Pixels row by row, `columns` of them in a row, stretched over the box.
  void image(Panel box, const std::vector<Color>& pixels, int columns);
  void frame(Panel box);

  /// The bytes of the PNG file.
  [[nodiscard]] std::string png() const;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

/// Round numbers from `low` to `high`, both included where they are round: about `wanted` of them.
[[nodiscard]] std::vector<double> round_ticks(double low, double high, int wanted);

}  // namespace rankcheck::cases::reconstruct
