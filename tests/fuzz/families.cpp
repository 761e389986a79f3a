#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cases/families/collectives/family.hpp"
#include "cases/families/ptycho/family.hpp"

/// The families of the program that reads generated input. They have the real fields, but only one
/// operation each and nothing that runs a case, so that no reference must be compiled again.
namespace rankcheck::fuzz {

namespace {

class FuzzedFamily final : public harness::Family {
 public:
  FuzzedFamily(std::string_view name,
               std::string_view operation,
               std::span<const harness::FamilyField> fields)
      : name_(name), fields_(fields) {
    contract_.name = operation;
  }

  [[nodiscard]] std::string_view name() const override { return name_; }
  [[nodiscard]] const spec::Contract* find(std::string_view operation) const override {
    return operation == contract_.name ? &contract_ : nullptr;
  }
  [[nodiscard]] std::span<const harness::FamilyField> fields() const override { return fields_; }
  [[nodiscard]] std::vector<harness::Cell> cells(const spec::Contract&) const override {
    return {};
  }
  void draw(const spec::Contract&, const harness::Drawing&, harness::Case&) const override {}
  [[nodiscard]] std::string why_invalid(const spec::Contract&,
                                        const harness::Case&) const override {
    return {};
  }
  void fill_extents(const spec::Contract&,
                    const harness::Case&,
                    int,
                    spec::Extents&) const override {}
  void fill(const harness::Case&, int, int, const spec::Block&, std::byte*) const override {}

 private:
  std::string_view name_;
  std::span<const harness::FamilyField> fields_;
  spec::Contract contract_;
};

}  // namespace

}  // namespace rankcheck::fuzz

namespace rankcheck::harness {

std::span<const Family* const> families() {
  static const fuzz::FuzzedFamily collectives(
      "collectives", "all_to_all_v", cases::collective_fields());
  static const fuzz::FuzzedFamily ptycho("ptycho", "multislice", cases::ptycho_fields());
  static const std::array<const Family*, 2> all{&collectives, &ptycho};
  return all;
}

}  // namespace rankcheck::harness
