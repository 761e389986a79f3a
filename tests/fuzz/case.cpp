#include <nlohmann/json.hpp>

#include "tests/fuzz/targets.hpp"

namespace rankcheck::fuzz {

namespace {

using nlohmann::json;

/// Every field of a case's text is kept when the text is read.
std::string fault_of_case(std::string_view input) {
  return fault_of_reading([&]() -> std::string {
    const std::string text = harness::to_text(harness::case_from_text(std::string(input)));
    if (harness::to_text(harness::case_from_text(text)) != text) return "reads back as another";
    const json kept = json::parse(text);
    const json given = json::parse(input);
    for (const auto& [name, value] : given.items()) {
      if (kept.contains(name) && kept[name] == value) continue;
      json rest = given;
      rest.erase(name);
      const bool is_default =
          !kept.contains(name) && harness::to_text(harness::case_from_json(rest)) == text;
      if (!is_default) return name + " was not taken as it was given";
    }
    return {};
  });
}

std::vector<std::string> seeds_of_cases() {
  std::vector<std::string> seeds = contents_of("cases/collectives", ".json");
  seeds.emplace_back(
      R"({"operation":"all_to_all_v","algorithm":"direct","backend":"sim","ranks":3,"group":[2,0],)"
      R"("root":1,"counts":[3,0,1,2],"gap":1,"outer":2,"inner":0,"type":"f16","op":"sum",)"
      R"("pattern":"pairs","shift":2,)"
      R"("in_place":true,"offset":1,"chunk":2,"pending":true,"input":"coded",)"
      R"("data_seed":18446744073709551615,)"
      R"("rotate":1,"first_index":4,"index_stride":5,"schedule":"pct:9","fault":"late:0"})");
  seeds.emplace_back(
      R"({"operation":"multislice","property":"is_linear","ranks":1,"counts":[2],"type":"f64",)"
      R"("rows":5,"cols":6,"window":3,"detector":4,"modes":2,"slices":2,"varying_probe":true,)"
      R"("tile_cols":1,"halo":1,"wavelength":1.5,"distance":1e-3,"scan":"whole","scale":-2,)"
      R"("added_seed":3,"varied":"probe","halvings":4,"form":"twin","chained":true,"moved":-4})");
  return seeds;
}

}  // namespace

Target case_target() {
  return {"case", fault_of_case, seeds_of_cases};
}

}  // namespace rankcheck::fuzz
