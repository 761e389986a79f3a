#include "harness/case.hpp"

#include <array>
#include <limits>
#include <numeric>
#include <optional>
#include <type_traits>

#include <nlohmann/json.hpp>

namespace rankcheck::harness {

namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr std::array<std::string_view, 7> input_kind_names{
    "exact", "coded", "general", "cancelling", "wide_range", "special", "previous"};
constexpr std::array<std::string_view, 3> pattern_names{"ring", "pairs", "self"};

template <class Names>
std::string listed(const Names& names) {
  std::string text;
  for (const std::string_view each : names) {
    if (!text.empty()) text += ", ";
    text += each;
  }
  return text;
}

template <class Names>
std::optional<std::size_t> position(const Names& names, std::string_view wanted) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == wanted) return i;
  }
  return std::nullopt;
}

/// Reading: a value that does not fit throws what was expected; the caller adds the field's name.
[[noreturn]] void expected(const std::string& what) {
  throw BadInput("expected " + what);
}

std::string_view text_of(const json& value) {
  if (!value.is_string()) expected("a string, got " + value.dump());
  return value.get_ref<const std::string&>();
}

template <class Integer>
requires std::is_integral_v<Integer>
void read(const json& value, Integer& out) {
  constexpr auto max = std::numeric_limits<Integer>::max();
  constexpr auto min = std::numeric_limits<Integer>::min();
  const std::string range = "a whole number in " + std::to_string(min) + ".." + std::to_string(max);
  if (value.is_number_unsigned()) {
    const auto number = value.get<std::uint64_t>();
    if (number > static_cast<std::uint64_t>(max)) expected(range + ", got " + value.dump());
    out = static_cast<Integer>(number);
  } else if (value.is_number_integer()) {
    const auto number = value.get<std::int64_t>();
    if (std::is_unsigned_v<Integer> || number < static_cast<std::int64_t>(min)) {
      expected(range + ", got " + value.dump());
    }
    out = static_cast<Integer>(number);
  } else {
    expected(range + ", got " + value.dump());
  }
}

void read(const json& value, bool& out) {
  if (!value.is_boolean()) expected("true or false, got " + value.dump());
  out = value.get<bool>();
}

void read(const json& value, std::string& out) {
  out = text_of(value);
}

template <class Integer>
void read(const json& value, std::vector<Integer>& out) {
  if (!value.is_array()) expected("a list of whole numbers, got " + value.dump());
  out.clear();
  for (const json& element : value) read(element, out.emplace_back());
}

template <class Enum, class Names>
void read_enum(const json& value, const Names& names, Enum& out) {
  const auto index = position(names, text_of(value));
  if (!index) expected("one of " + listed(names) + ", got " + value.dump());
  out = static_cast<Enum>(*index);
}

void read(const json& value, InputKind& out) {
  read_enum(value, input_kind_names, out);
}
void read(const json& value, spec::Pattern& out) {
  read_enum(value, pattern_names, out);
}
void read(const json& value, spec::ReduceOp& out) {
  read_enum(value, spec::reduce_op_names, out);
}
void read(const json& value, spec::Type& out) {
  const auto type = spec::type_named(text_of(value));
  if (!type) {
    std::vector<std::string_view> names;
    for (const spec::TypeInfo& entry : spec::type_table) names.push_back(entry.name);
    expected("one of " + listed(names) + ", got " + value.dump());
  }
  out = *type;
}

template <class Value>
const Value& write(const Value& value) {
  return value;
}
std::string_view write(const InputKind& kind) {
  return name(kind);
}
std::string_view write(const spec::Pattern& pattern) {
  return pattern_names[static_cast<std::size_t>(pattern)];
}
std::string_view write(const spec::ReduceOp& op) {
  return spec::name(op);
}
std::string_view write(const spec::Type& type) {
  return spec::name(type);
}

/// One field of a case: how it is read and written.
struct Field {
  std::string_view name;
  void (*write)(std::string_view name, const Case& c, ordered_json& out);
  void (*read)(const json& value, Case& c);
};

enum class Written { always, unless_default };

template <auto member, Written written = Written::unless_default>
constexpr Field field(std::string_view name) {
  return {
      name,
      [](std::string_view key, const Case& c, ordered_json& out) {
        if (written == Written::always || !(c.*member == Case{}.*member)) {
          out[std::string(key)] = harness::write(c.*member);
        }
      },
      [](const json& value, Case& c) { harness::read(value, c.*member); },
  };
}

constexpr std::array fields{
    field<&Case::operation, Written::always>("operation"),
    field<&Case::algorithm>("algorithm"),
    field<&Case::backend, Written::always>("backend"),
    field<&Case::property>("property"),
    field<&Case::ranks, Written::always>("ranks"),
    field<&Case::group>("group"),
    field<&Case::root>("root"),
    field<&Case::count>("count"),
    field<&Case::counts>("counts"),
    field<&Case::gap>("gap"),
    field<&Case::type, Written::always>("type"),
    field<&Case::op>("op"),
    field<&Case::pattern>("pattern"),
    field<&Case::shift>("shift"),
    field<&Case::in_place>("in_place"),
    field<&Case::offset>("offset"),
    field<&Case::chunk>("chunk"),
    field<&Case::input>("input"),
    field<&Case::data_seed>("data_seed"),
    field<&Case::rotate>("rotate"),
    field<&Case::first_index>("first_index"),
    field<&Case::index_stride>("index_stride"),
    field<&Case::scale>("scale"),
    field<&Case::added_seed>("added_seed"),
    field<&Case::schedule>("schedule"),
    field<&Case::fault>("fault"),
};

}  // namespace

std::vector<int> members(const Case& c) {
  if (!c.group.empty()) return c.group;
  std::vector<int> all(static_cast<std::size_t>(c.ranks > 0 ? c.ranks : 0));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

int group_size(const Case& c) {
  return c.group.empty() ? c.ranks : static_cast<int>(c.group.size());
}

spec::Call call_of(const Case& c) {
  return {
      .ranks = group_size(c),
      .root = c.root,
      .type = c.type,
      .op = c.op,
      .count = c.count,
      .counts = c.counts,
      .gap = c.gap,
      .pattern = c.pattern,
      .shift = c.shift,
  };
}

std::string_view name(InputKind kind) {
  return input_kind_names[static_cast<std::size_t>(kind)];
}

ordered_json to_json(const Case& c) {
  ordered_json out = ordered_json::object();
  for (const Field& each : fields) each.write(each.name, c, out);
  return out;
}

std::string to_text(const Case& c) {
  return to_json(c).dump();
}

Case case_from_json(const json& value) {
  if (!value.is_object()) throw BadInput("case: expected a JSON object, got " + value.dump());
  Case c;
  for (const auto& [key, entry] : value.items()) {
    const Field* found = nullptr;
    for (const Field& each : fields) {
      if (each.name == key) found = &each;
    }
    if (found == nullptr) {
      std::vector<std::string_view> names;
      for (const Field& each : fields) names.push_back(each.name);
      throw BadInput("case: unknown field \"" + key + "\": expected one of " + listed(names));
    }
    try {
      found->read(entry, c);
    } catch (const BadInput& bad) {
      throw BadInput("case: " + key + ": " + bad.what());
    }
  }
  for (const std::string_view required : {"operation", "ranks"}) {
    if (!value.contains(required)) {
      throw BadInput("case: field \"" + std::string(required) + "\" is missing");
    }
  }
  return c;
}

Case case_from_text(const std::string& text) {
  const json value = json::parse(text, nullptr, false);
  if (value.is_discarded()) throw BadInput("case: not JSON: " + text.substr(0, 80));
  return case_from_json(value);
}

}  // namespace rankcheck::harness
