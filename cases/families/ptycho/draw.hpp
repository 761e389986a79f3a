#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "reference/spec/contract.hpp"

#include "harness/case/case.hpp"
#include "harness/case/drawing.hpp"

/// How cases of operators are drawn.
namespace rankcheck::cases {

/// A scene is large if the object has more columns, a detector is wider (in pixels), or a rank has
/// more positions than this. The kernels of this project handle such a scene in several pieces.
inline constexpr int large_cols = 128;
inline constexpr int large_detector = 32;
inline constexpr std::int64_t large_positions = 64;

/// The names of the classes of cases that are large in these ways.
inline constexpr std::array<std::string_view, 3> large_scenes{
    "site/wide_object", "site/wide_detector", "site/many_positions"};

/// Draws the scene, the scan and the numbers of positions. Ranks and group are already drawn.
void draw_operator(const spec::Contract& contract,
                   const harness::Drawing& drawing,
                   harness::Case& out);

}  // namespace rankcheck::cases
