#pragma once

#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "reference/spec/call.hpp"

/// The harness generates cases, runs and judges them, shrinks failures and reports. It knows no
/// operation by name.
namespace rankcheck::harness {

/// How the elements of the send buffers are derived from (data_seed, rank, index); see input.hpp.
enum class InputKind : std::uint8_t {
  exact,
  coded,
  general,
  cancelling,
  wide_range,
  special,
  /// Every special value of a floating-point type in turn: any eight consecutive elements contain
  /// all of them.
  each_special,
  /// For operators of a scene: like general, but in f64 all bits of a double are drawn.
  fine,
  /// The send buffer holds the values that the previous stage left in the recv buffer.
  previous,
};

/// The kinds' names, in the order of the enumerators.
inline constexpr std::array<std::string_view, 9> input_kind_names{"exact",
                                                                  "coded",
                                                                  "general",
                                                                  "cancelling",
                                                                  "wide_range",
                                                                  "special",
                                                                  "each_special",
                                                                  "fine",
                                                                  "previous"};

[[nodiscard]] std::string_view name(InputKind kind);

/// Where the scan positions of an operator of a scene lie; see scene_input.hpp.
enum class Scan : std::uint8_t {
  /// Anywhere the window fits, in steps of 1/256 pixel.
  scattered,
  /// At whole pixels.
  whole,
  /// All positions at one place.
  coincident,
  /// In a corner or at an edge of the area in which the window fits.
  bordering,
  /// Anywhere, even if the window hangs over the object's edge or misses the object.
  overhanging,
};

/// The scans' names, in the order of the enumerators.
inline constexpr std::array<std::string_view, 5> scan_names{
    "scattered", "whole", "coincident", "bordering", "overhanging"};

[[nodiscard]] std::string_view name(Scan scan);

/// How the inputs of an operator of a scene are transformed ("bent"), for laws that relate the
/// results on related inputs; see form.hpp.
enum class Form : std::uint8_t {
  plain,
  /// The object is multiplied by i.
  turned,
  /// The object's first slice is doubled and the probe is halved.
  stretched,
  /// Object, probe and scan are reflected in both axes; object and probe are conjugated. Waves
  /// between slices travel in the opposite direction.
  twin,
  /// Rows and columns of everything are exchanged.
  transposed,
  /// The first two modes are mixed by a unitary matrix.
  mixed,
  /// The object is moved by one row and two columns of zeros, and the scan moves with it.
  translated,
  /// The positions and their data are in the opposite order.
  reversed,
  /// Every position and its data appear twice.
  repeated,
  /// The object is a bilinear function, which interpolation must reproduce exactly.
  bilinear,
  /// The object's first slice is multiplied by a phase ramp, and the probe by the opposite ramp.
  ramped,
  /// Object, probe, scan and the detector's frames are reflected in both axes.
  reflected,
  /// The probe has one more mode, without light.
  dark,
  /// The probe is doubled, and the frames are multiplied by four.
  brightened,
  /// Row and column of every position are doubled: whole pixels become even pixels.
  raster,
  /// As raster. In addition, the object's first slice is multiplied by phases that repeat every two
  /// pixels, and the probe by the opposite phases.
  periodic,
  /// Every pixel is measured.
  unmasked,
};

/// The forms' names, in the order of the enumerators.
inline constexpr std::array<std::string_view, 17> form_names{"plain",
                                                             "turned",
                                                             "stretched",
                                                             "twin",
                                                             "transposed",
                                                             "mixed",
                                                             "translated",
                                                             "reversed",
                                                             "repeated",
                                                             "bilinear",
                                                             "ramped",
                                                             "reflected",
                                                             "dark",
                                                             "brightened",
                                                             "raster",
                                                             "periodic",
                                                             "unmasked"};

[[nodiscard]] std::string_view name(Form form);

/// One run of one operation, as a small value: everything else follows from it. Its JSON leaves out
/// fields with their defaults. A case is stable text that can always be replayed.
struct Case {
  std::string operation;
  std::string property = "agrees_with_reference";
  std::string backend = "sim";
  std::string algorithm;
  /// Number of ranks of the world; they are 0 … ranks-1.
  int ranks = 1;
  /// World ranks of the members in group order. Empty: the whole world in order.
  std::vector<int> group;
  /// The root's rank within the group.
  int root = 0;
  std::int64_t count = 0;
  std::vector<std::int64_t> counts;
  std::int64_t gap = 0;
  spec::Type type = spec::Type::f32;
  spec::ReduceOp op = spec::ReduceOp::none;
  spec::Pattern pattern = spec::Pattern::ring;
  int shift = 1;
  /// For operators of a scene only.
  spec::Scene scene;
  Scan scan = Scan::scattered;
  bool in_place = false;
  /// Number of elements by which both buffers start behind a 64-byte boundary.
  std::int64_t offset = 0;
  /// Elements of a pipeline chunk; for operators, positions of a batch. 0: the algorithm decides.
  std::int64_t chunk = 0;
  InputKind input = InputKind::general;
  std::uint64_t data_seed = 1;
  /// World rank r holds the inputs of rank (r + rotate) mod ranks. So a property can permute the
  /// inputs without permuting the ranks.
  int rotate = 0;
  /// Element i of block b takes the input of element b * index_stride + first_index + i. So a
  /// property can cut a whole into parts. If the stride is 0, the elements of the whole buffer are
  /// numbered consecutively.
  std::int64_t first_index = 0;
  std::int64_t index_stride = 0;
  /// A small whole number that multiplies the exact inputs.
  int scale = 1;
  /// If above 0, the inputs of this seed are added to the inputs of data_seed (exact inputs only).
  std::uint64_t added_seed = 0;
  /// Operators of a scene: the array that scale and added_seed apply to.
  spec::Array varied = spec::Array::none;
  /// Operators of a scene: how often the added inputs are halved.
  int halvings = 0;
  /// Operators of a scene: how all inputs are bent, as the last step. `scene` describes the bent
  /// inputs.
  Form form = Form::plain;
  /// Operators of a scene: whether arrays that an earlier stage made are taken from that stage.
  bool chained = false;
  /// Operators of a scene: every position is moved by this many whole pixels in both directions.
  int moved = 0;
  /// Schedule and fault in gpu's text form; the backend interprets them.
  std::string schedule = "in_order";
  std::string fault;

  friend bool operator==(const Case&, const Case&) = default;
};

/// World ranks of the group's members, even if the case does not list them.
[[nodiscard]] std::vector<int> members(const Case& c);

/// Number of the group's members.
[[nodiscard]] int group_size(const Case& c);

/// The call that the group's members make.
[[nodiscard]] spec::Call call_of(const Case& c);

/// A case as JSON, without defaults, with fields in a fixed order.
[[nodiscard]] nlohmann::ordered_json to_json(const Case& c);
/// to_json on one line.
[[nodiscard]] std::string to_text(const Case& c);

/// Reads a case. Throws BadInput for unknown fields, wrong types and values out of range; the
/// message names the field and what was expected. Does not know which operations exist.
[[nodiscard]] Case case_from_json(const nlohmann::json& json);
[[nodiscard]] Case case_from_text(const std::string& text);

/// Bad input by a user: one line that names the place and what was expected. The exit status is 2.
class BadInput : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace rankcheck::harness
