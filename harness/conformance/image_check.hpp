#pragma once

#include <optional>
#include <string>

#include "harness/case/family.hpp"
#include "harness/case/image.hpp"

/// Compares what a worker wrote around a call with what the pages demand. The outputs themselves
/// are not looked at.
namespace rankcheck::harness::conformance {

/// What is known about one member's image after a stage.
struct ImageToCheck {
  const Family& family;
  const Case& c;
  int world_rank = 0;
  const ImageLayout& layout;
  /// The image as it must be before the call.
  const Image& before;
  const Image& after;
  /// Whether the harness sent the image, so that the worker only had to keep it.
  bool is_sent = false;
};

/// What is wrong, each in one sentence with the expected value and the one that was found.
struct ImageProblems {
  /// A buffer that lies at another place than the layout says. Nothing else is looked for then.
  std::optional<std::string> layout = {};
  /// Bytes outside the buffers' blocks.
  std::optional<std::string> poison = {};
  /// Elements of the send blocks.
  std::optional<std::string> inputs = {};
};

/// Checks all bytes that the call must leave alone. The image must have the layout's size.
[[nodiscard]] ImageProblems check_image(const ImageToCheck& image);

}  // namespace rankcheck::harness::conformance
