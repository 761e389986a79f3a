#pragma once

#include <cstdint>

#include "reference/spec/contract.hpp"

#include "harness/case/case.hpp"
#include "harness/case/drawing.hpp"

/// How cases of operators are drawn.
namespace rankcheck::cases {

/// A case is a "site/large_scene" if the object has more columns, a detector is wider (in pixels),
/// or a rank has more positions than this. The kernels of this project handle such a scene in
/// several pieces.
inline constexpr int large_cols = 128;
inline constexpr int large_detector = 32;
inline constexpr std::int64_t large_positions = 64;

/// The name of this class of cases.
inline constexpr std::string_view large_scene = "site/large_scene";

/// Draws the scene, the scan and the numbers of positions. Ranks and group are already drawn.
void draw_operator(const spec::Contract& contract,
                   const harness::Drawing& drawing,
                   harness::Case& out);

}  // namespace rankcheck::cases
