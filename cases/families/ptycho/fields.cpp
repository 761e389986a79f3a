#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "reference/spec/to_size.hpp"

#include "harness/base/weights.hpp"
#include "harness/case/family_field.hpp"

#include "cases/families/ptycho/case.hpp"
#include "cases/families/ptycho/family.hpp"
#include "cases/families/ptycho/symmetry.hpp"

// The harness looks for these functions in the types' own namespaces.
namespace rankcheck::spec {

void read_value(const nlohmann::json& value, Array& out) {
  std::vector<std::string_view> names;
  for (const ArrayInfo& each : array_table) names.push_back(each.name);
  out = static_cast<Array>(harness::read_name(value, names));
}
nlohmann::ordered_json write_value(Array value) {
  return name(value);
}

}  // namespace rankcheck::spec

namespace rankcheck::cases {

void read_value(const nlohmann::json& value, Scan& out) {
  out = static_cast<Scan>(harness::read_name(value, scan_names));
}
void read_value(const nlohmann::json& value, Symmetry& out) {
  out = static_cast<Symmetry>(harness::read_name(value, symmetry_names));
}
nlohmann::ordered_json write_value(Scan value) {
  return scan_names[spec::to_size(value)];
}
nlohmann::ordered_json write_value(Symmetry value) {
  return name(value);
}

namespace {

using harness::Case;
using harness::FamilyField;
using harness::FieldRole;
using harness::smaller;
using spec::Scene;

/// The plainest scan comes first.
constexpr std::array plain_scans{
    Scan::whole, Scan::scattered, Scan::coincident, Scan::bordering, Scan::overhanging};

template <auto member>
constexpr harness::Field<Case> field(std::string_view name) {
  return harness::part_field<harness::MemberOfPart<member>>(name);
}

template <auto member>
constexpr harness::Field<Case> scene_field(std::string_view name) {
  return harness::part_field<harness::InnerOfPart<&PtychoCase::scene, member>>(name);
}

template <auto member>
std::uint64_t value_of(const Case& c) {
  return static_cast<std::uint64_t>(ptycho(c).*member);
}

template <auto member>
std::uint64_t size_of(const Case& c) {
  return static_cast<std::uint64_t>(ptycho(c).scene.*member);
}

std::uint64_t weight_of_moved(const Case& c) {
  return harness::distance_from(0, ptycho(c).moved);
}

std::uint64_t weight_of_distance(const Case& c) {
  const double distance = ptycho(c).scene.distance;
  return static_cast<std::uint64_t>(std::abs(distance) * 16) * 2 + (distance < 0 ? 1 : 0);
}

/// The plainest wavelength is one pixel.
std::uint64_t weight_of_wavelength(const Case& c) {
  return static_cast<std::uint64_t>(std::abs(ptycho(c).scene.wavelength - 1) * 16);
}

std::uint64_t weight_of_scan(const Case& c) {
  return harness::place(plain_scans, ptycho(c).scan);
}

/// The window shrinks alone, or object and detector shrink with it.
void shrink_window(const Case& c, std::vector<Case>& out) {
  const int present = ptycho(c).scene.window;
  for (const int window : smaller(present, 1)) {
    for (const bool all : {true, false}) {
      Scene& scene = ptycho(out.emplace_back(c)).scene;
      const int less = all ? present - window : 0;
      scene.window = window;
      scene.rows -= less;
      scene.cols -= less;
      scene.detector -= less;
    }
  }
}

template <auto member>
void shrink_size(const Case& c, int least, std::vector<Case>& out) {
  for (const int value : smaller(ptycho(c).scene.*member, least)) {
    ptycho(out.emplace_back(c)).scene.*member = value;
  }
}

/// The window must stay inside the object.
void shrink_object(const Case& c, std::vector<Case>& out) {
  shrink_size<&Scene::rows>(c, ptycho(c).scene.window, out);
  shrink_size<&Scene::cols>(c, ptycho(c).scene.window, out);
}

void shrink_slices(const Case& c, std::vector<Case>& out) {
  for (const int slices : smaller(ptycho(c).scene.slices, 1)) {
    Scene& scene = ptycho(out.emplace_back(c)).scene;
    scene.slices = slices;
    // A single slice has no free space behind it.
    if (slices == 1) scene.wavelength = scene.distance = 0;
  }
}

template <auto member>
constexpr FamilyField sorted_size(std::string_view name,
                                  int order,
                                  void (*candidates)(const Case& c, std::vector<Case>& out),
                                  FieldRole role = FieldRole::choice) {
  return {.json = scene_field<member>(name),
          .before = "in_place",
          .order = order,
          .weight = size_of<member>,
          .candidates = candidates,
          .role = role};
}

/// A field that properties set, and that does not shrink.
template <auto member>
constexpr FamilyField of_property(std::string_view name, int order) {
  return {.json = field<member>(name),
          .before = "schedule",
          .order = order,
          .weight = value_of<member>,
          .role = FieldRole::input};
}

/// In the order of their JSON.
constexpr std::array all_fields{
    FamilyField{.json = scene_field<&Scene::rows>("rows"),
                .before = "in_place",
                .order = 1,
                .weight =
                    [](const Case& c) {
                      const Scene& scene = ptycho(c).scene;
                      return static_cast<std::uint64_t>(std::int64_t{scene.rows} * scene.cols);
                    },
                .candidates = shrink_object,
                .role = FieldRole::size},
    // If two objects have the same area, the one with fewer rows is simpler.
    FamilyField{.json = scene_field<&Scene::cols>("cols"),
                .before = "in_place",
                .order = 12,
                .weight = size_of<&Scene::rows>,
                .role = FieldRole::size},
    sorted_size<&Scene::window>("window", 0, shrink_window, FieldRole::size),
    sorted_size<&Scene::detector>(
        "detector",
        2,
        [](const Case& c, std::vector<Case>& out) {
          shrink_size<&Scene::detector>(c, ptycho(c).scene.window, out);
        },
        FieldRole::size),
    sorted_size<&Scene::modes>(
        "modes",
        3,
        [](const Case& c, std::vector<Case>& out) { shrink_size<&Scene::modes>(c, 1, out); }),
    sorted_size<&Scene::slices>("slices", 4, shrink_slices),
    sorted_size<&Scene::varying_probe>("varying_probe",
                                       5,
                                       [](const Case& c, std::vector<Case>& out) {
                                         ptycho(out.emplace_back(c)).scene.varying_probe = false;
                                       }),
    sorted_size<&Scene::tile_cols>(
        "tile_cols",
        7,
        [](const Case& c, std::vector<Case>& out) { shrink_size<&Scene::tile_cols>(c, 1, out); }),
    sorted_size<&Scene::halo>(
        "halo",
        6,
        [](const Case& c, std::vector<Case>& out) { shrink_size<&Scene::halo>(c, 0, out); }),
    FamilyField{.json = scene_field<&Scene::wavelength>("wavelength"),
                .before = "in_place",
                .order = 9,
                .weight = weight_of_wavelength,
                .candidates =
                    [](const Case& c, std::vector<Case>& out) {
                      if (ptycho(c).scene.wavelength <= 0) return;
                      ptycho(out.emplace_back(c)).scene.wavelength = 1;
                    }},
    FamilyField{.json = scene_field<&Scene::distance>("distance"),
                .before = "in_place",
                .order = 8,
                .weight = weight_of_distance,
                .candidates =
                    [](const Case& c, std::vector<Case>& out) {
                      for (const double distance : {0.0, 1.0, -ptycho(c).scene.distance}) {
                        ptycho(out.emplace_back(c)).scene.distance = distance;
                      }
                    }},
    FamilyField{.json = field<&PtychoCase::scan>("scan"),
                .before = "in_place",
                .order = 11,
                .weight = weight_of_scan,
                .candidates =
                    [](const Case& c, std::vector<Case>& out) {
                      for (const Scan scan : plain_scans) ptycho(out.emplace_back(c)).scan = scan;
                    },
                .role = FieldRole::input},
    of_property<&PtychoCase::varied>("varied", 13),
    of_property<&PtychoCase::halvings>("halvings", 16),
    of_property<&PtychoCase::symmetry>("form", 15),
    of_property<&PtychoCase::chained>("chained", 14),
    FamilyField{.json = field<&PtychoCase::moved>("moved"),
                .before = "schedule",
                .order = 10,
                .weight = weight_of_moved,
                .candidates =
                    [](const Case& c, std::vector<Case>& out) {
                      for (const int moved : {0, 1, ptycho(c).moved / 2}) {
                        ptycho(out.emplace_back(c)).moved = moved;
                      }
                    },
                .role = FieldRole::input},
};

}  // namespace

std::span<const FamilyField> ptycho_fields() {
  return all_fields;
}

}  // namespace rankcheck::cases
