#pragma once

#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "reference/spec/call.hpp"

/// Generates cases, runs them, judges them, shrinks what fails and reports. Knows no operation.
namespace rankcheck::harness {

/// How the elements of the send buffers are derived from (data_seed, rank, index); see input.hpp.
enum class InputKind : std::uint8_t {
  exact,
  coded,
  general,
  cancelling,
  wide_range,
  special,
  /// Every special value of a floating-point type in turn: eight elements behind one another have
  /// them all.
  each_special,
  /// Operators of a scene: as general, with all bits of a double drawn where the type has them.
  fine,
  /// The send buffer holds what the stage before left in the recv buffer.
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
  /// All at one place.
  coincident,
  /// In a corner or at an edge of where the window fits.
  bordering,
  /// Also where the window hangs over the object's edge or misses the object.
  overhanging,
};

/// The scans' names, in the order of the enumerators.
inline constexpr std::array<std::string_view, 5> scan_names{
    "scattered", "whole", "coincident", "bordering", "overhanging"};

[[nodiscard]] std::string_view name(Scan scan);

/// How the inputs of an operator of a scene are bent, for laws that relate its results on inputs
/// that are related; see form.hpp.
enum class Form : std::uint8_t {
  plain,
  /// The object times i.
  turned,
  /// Twice the object's first slice, half the probe.
  stretched,
  /// Object, probe and scan reflected in both axes, object and probe conjugated; waves between
  /// slices travel the other way.
  twin,
  /// Everything with rows and columns exchanged.
  transposed,
  /// The first two modes in a unitary mixture.
  mixed,
  /// The object moved by a row and two columns of zeros, and the scan with it.
  translated,
  /// The positions in the opposite order, and what belongs to them.
  reversed,
  /// Every position twice, and what belongs to it.
  repeated,
  /// An object that interpolation must get exactly.
  bilinear,
  /// The object's first slice times a phase ramp, the probe times the opposite one.
  ramped,
  /// Object, probe, scan and what the detector sees reflected in both axes.
  reflected,
  /// One more mode of the probe, without light.
  dark,
  /// Twice the probe, four times the frames.
  brightened,
  /// Every position at twice its row and its column: of whole pixels, a raster of even ones.
  raster,
  /// A raster whose object's first slice is multiplied with phases that come again every two
  /// pixels, and its probe with the opposite ones.
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

/// One run of one operation as a small value: everything else follows from it. Printed as JSON with
/// the defaults left out; a case is stable text that replays for ever.
struct Case {
  std::string operation;
  std::string property = "agrees_with_reference";
  std::string backend = "sim";
  std::string algorithm;
  /// Ranks of the world, 0 … ranks-1.
  int ranks = 1;
  /// World ranks of the members in group order; empty: the whole world in order.
  std::vector<int> group;
  /// Rank within the group.
  int root = 0;
  std::int64_t count = 0;
  std::vector<std::int64_t> counts;
  std::int64_t gap = 0;
  spec::Type type = spec::Type::f32;
  spec::ReduceOp op = spec::ReduceOp::none;
  spec::Pattern pattern = spec::Pattern::ring;
  int shift = 1;
  /// Operators of a scene only.
  spec::Scene scene;
  Scan scan = Scan::scattered;
  bool in_place = false;
  /// Elements by which both buffers are moved off a 64-byte boundary.
  std::int64_t offset = 0;
  /// Elements of a pipeline chunk, of operators positions of a batch; 0: the algorithm's choice.
  std::int64_t chunk = 0;
  InputKind input = InputKind::general;
  std::uint64_t data_seed = 1;
  /// The rank whose inputs world rank r holds is (r + rotate) mod ranks: how a property permutes
  /// the inputs without permuting the ranks.
  int rotate = 0;
  /// Element i of block b takes the input of element b * index_stride + first_index + i: how a
  /// property cuts a whole into parts. A stride of 0 numbers the buffer's elements through.
  std::int64_t first_index = 0;
  std::int64_t index_stride = 0;
  /// Small whole number that multiplies the exact inputs.
  int scale = 1;
  /// Where above 0: the inputs of this seed are added to those of data_seed (exact inputs only).
  std::uint64_t added_seed = 0;
  /// Operators of a scene: the array that scale and added_seed apply to.
  spec::Array varied = spec::Array::none;
  /// Operators of a scene: how often the added inputs are halved.
  int halvings = 0;
  /// Operators of a scene: how all inputs are bent at last; the scene is that of the bent ones.
  Form form = Form::plain;
  /// Operators of a scene: arrays that an earlier stage gave are taken from there.
  bool chained = false;
  /// Operators of a scene: whole pixels that every position is moved by, in both directions.
  int moved = 0;
  /// Text form of gpu's schedule and fault; interpreted by the backend.
  std::string schedule = "in_order";
  std::string fault;

  friend bool operator==(const Case&, const Case&) = default;
};

/// World ranks of the group's members, also where the case leaves the group out.
[[nodiscard]] std::vector<int> members(const Case& c);

/// Number of members.
[[nodiscard]] int group_size(const Case& c);

/// The call that the members make.
[[nodiscard]] spec::Call call_of(const Case& c);

/// A case as JSON, defaults left out, fields in a fixed order.
[[nodiscard]] nlohmann::ordered_json to_json(const Case& c);
/// to_json on one line.
[[nodiscard]] std::string to_text(const Case& c);

/// Reads a case. Throws BadInput that names the field and what was expected: unknown fields, wrong
/// types, values out of range. Does not know which operations exist.
[[nodiscard]] Case case_from_json(const nlohmann::json& json);
[[nodiscard]] Case case_from_text(const std::string& text);

/// Bad input of a user: one line that names the place and what was expected; exit status 2.
class BadInput : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace rankcheck::harness
