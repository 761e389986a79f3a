#include "harness/case/family.hpp"

#include <stdexcept>

#include "reference/spec/to_size.hpp"

namespace rankcheck::harness {

std::string Cell::name() const {
  return std::string(spec::name(type)) + "/" + std::string(variant_name);
}

void Family::keep_members(const spec::Contract&,
                          const Case& c,
                          std::span<const int> kept,
                          Case& out) const {
  out.counts.clear();
  if (c.counts.empty()) return;
  for (const int rank : kept) out.counts.push_back(c.counts[spec::to_size(rank)]);
}

std::string Family::text_of(spec::Type type, const std::byte* element) const {
  return hexadecimal({element, spec::to_size(spec::info(type).bytes)});
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
