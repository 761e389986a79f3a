#include "harness/case/family.hpp"

#include <stdexcept>

#include "reference/spec/to_size.hpp"

namespace rankcheck::harness {

std::string Cell::name() const {
  return std::string(spec::name(type)) + "/" + std::string(variant_name);
}

int Family::variant(const Case&) const {
  return 0;
}

void Family::set_variant(int, Case&) const {}

std::vector<CallClass> Family::call_classes(const spec::Contract&) const {
  return {};
}

void Family::draw_manner(const spec::Contract& /*contract*/,
                         RandomSource& /*random*/,
                         const BackendTraits& /*traits*/,
                         Case& /*c*/) const {}

bool Family::is_strided(const Case& /*c*/) const {
  return false;
}

void Family::make_dense(Case& /*c*/) const {}

bool Family::enlarge(const spec::Contract& /*contract*/,
                     RandomSource& /*random*/,
                     std::int64_t /*size*/,
                     Case& /*c*/) const {
  return false;
}

void Family::settle(const spec::Contract& /*contract*/, Case& /*c*/) const {}

void Family::simplify(Case&) const {}

void Family::keep_members(const spec::Contract&,
                          const Case& c,
                          std::span<const int> kept,
                          Case& out) const {
  out.counts.clear();
  if (c.counts.empty()) return;
  for (const int rank : kept) out.counts.push_back(c.counts[spec::to_size(rank)]);
}

nlohmann::ordered_json Family::extras(const Case&, int) const {
  return nlohmann::ordered_json::object();
}

nlohmann::ordered_json Family::describe_block(const Case&, int, const spec::Block&) const {
  return nullptr;
}

std::string Family::text_of(spec::Type type, const std::byte* element) const {
  return hexadecimal({element, spec::to_size(spec::info(type).bytes)});
}

std::uint64_t Family::poison_bits(const Case&) const {
  return 0;
}

bool Family::is_chained(const Case&) const {
  return false;
}

bool Family::is_taken_from(const spec::Block&, const spec::Block&) const {
  return false;
}

bool Family::is_common(const spec::Contract& contract, const Case&, const spec::Block&) const {
  return contract.ranks_agree;
}

std::string hexadecimal(std::span<const std::byte> element) {
  std::string text = "0x";
  for (std::size_t i = element.size(); i > 0; --i) {
    constexpr std::string_view digits = "0123456789abcdef";
    const std::byte bits = element[i - 1];
    text += digits[std::to_integer<std::size_t>(bits >> 4)];
    text += digits[std::to_integer<std::size_t>(bits & std::byte{15})];
  }
  return text;
}

const Family* find_family(std::string_view operation) {
  for (const Family* const family : families()) {
    if (family->find(operation) != nullptr) return family;
  }
  return nullptr;
}

const Family& family_of(const spec::Contract& contract) {
  for (const Family* const family : families()) {
    if (family->name() == spec::family(contract)) return *family;
  }
  throw std::out_of_range("no family " + std::string(spec::family(contract)));
}

}  // namespace rankcheck::harness
