#include "cases/evaluate/evaluate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "reference/numerics/fold.hpp"
#include "reference/spec/to_size.hpp"

#include "harness/base/files.hpp"
#include "harness/base/nearest.hpp"
#include "harness/case/family.hpp"
#include "harness/case/image.hpp"

namespace rankcheck::cases::evaluate {

namespace {

namespace fs = std::filesystem;
using harness::BadInput;
using harness::Case;
using nlohmann::ordered_json;

constexpr std::string_view bound_ending = ".bound";

harness::NpyArray read_npy(std::string_view option, const std::string& name, const fs::path& path) {
  std::string file = harness::read_file(path);
  try {
    return harness::NpyArray(std::move(file));
  } catch (const BadInput& bad) {
    throw BadInput(fmt::format("{} {}: {}: {}", option, name, path.string(), bad.what()));
  }
}

/// The number of group ranks that the fields name.
int ranks_of(std::string_view option, const NamedPath& argument, const ordered_json& fields) {
  if (const std::optional<int> ranks = ranks_in(fields)) return *ranks;
  throw BadInput(fmt::format("{} {}: {}: a file for each rank: expected the field ranks in --case",
                             option,
                             argument.name,
                             argument.path));
}

const UserArray* find(std::span<const UserArray> arrays, std::string_view name) {
  const auto found = std::find_if(
      arrays.begin(), arrays.end(), [&](const UserArray& each) { return each.name == name; });
  return found == arrays.end() ? nullptr : &*found;
}

const Slot& slot_named(std::span<const Slot> slots,
                       std::string_view option,
                       std::string_view name) {
  std::vector<std::string> names;
  for (const Slot& each : slots) {
    if (each.name == name) return each;
    names.push_back(each.name);
  }
  throw BadInput(fmt::format("{} {}: expected one of {}", option, name, fmt::join(names, ", ")));
}

/// Copies the runs of values between a buffer and the values of all ranks. `bytes` is the size of
/// an element of the case's type.
void copy_runs(std::span<const Run> runs,
               std::span<const Values> values,
               std::int64_t bytes,
               std::byte* buffer) {
  for (const Values& each : values) {
    for (const Run& run : runs) {
      if (run.slot != each.slot || run.count == 0) continue;
      std::copy_n(
          each.bytes.data() + run.first * bytes, run.count * bytes, buffer + run.offset * bytes);
    }
  }
}

/// The distance of a value from the expected one, as a share of its bound.
Worst measure(const Expected& expected,
              spec::Type type,
              const std::byte* got,
              std::size_t index,
              bool is_passed) {
  const spec::Type component = spec::component(type);
  const auto bytes = spec::to_size(spec::info(type).bytes);
  const auto expected_bytes = spec::to_size(spec::info(expected.type).bytes);
  const std::byte* const wanted = expected.bytes.data() + index * expected_bytes;
  Worst worst;
  worst.expected = numerics::to_text(expected.type, wanted);
  worst.got = numerics::to_text(type, got);
  const std::size_t components = spec::is_complex(type) ? 2 : 1;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (expected.components.empty()) {
    worst.ratio = std::equal(got, got + bytes, wanted) ? 0 : infinity;
    worst.error = worst.ratio == 0 ? 0 : infinity;
    return worst;
  }
  for (std::size_t k = 0; k < components; ++k) {
    const double value =
        numerics::to_double(component, got + k * spec::to_size(spec::info(component).bytes));
    const std::size_t at = index * components + k;
    const double distance = value - expected.components[at];
    const double error =
        expected.is_of_modulus ? std::hypot(worst.error, distance) : std::abs(distance);
    // The judgement knows whether an infinity or NaN is right.
    const bool is_right = error == 0 || (!std::isfinite(error) && is_passed);
    const double ratio = is_right ? 0 : error / expected.bounds[at];
    if (k > 0 && ratio <= worst.ratio) continue;
    worst.error = error;
    worst.bound = expected.bounds[at];
    worst.ratio = std::isfinite(ratio) ? ratio : infinity;
  }
  return worst;
}

std::optional<Worst> worst_of(const Slot& slot,
                              const Expected& expected,
                              const std::vector<std::byte>& got,
                              bool is_passed) {
  const auto bytes = spec::to_size(spec::info(slot.type).bytes);
  std::optional<Worst> worst;
  for (std::size_t i = 0; i < got.size() / bytes; ++i) {
    Worst each = measure(expected, slot.type, got.data() + i * bytes, i, is_passed);
    // Without a bound, the value may be anything, such as a mode of an orthogonal set.
    if (std::isinf(each.bound) || (worst && each.ratio <= worst->ratio)) continue;
    each.place = place_of(slot, static_cast<std::int64_t>(i));
    worst = std::move(each);
  }
  return worst;
}

/// A judgement that compared nothing, or could have found nothing, does not pass.
void require_power(harness::Judgement& judgement) {
  if (judgement.compared_bytes == 0) {
    judgement.fail(harness::Verdict::vacuous, "nothing was compared");
  }
  if (!judgement.blind_output.empty()) {
    judgement.fail(harness::Verdict::vacuous,
                   fmt::format("no bound of {} is under {:.0f} % of its largest magnitude",
                               judgement.blind_output,
                               100 * harness::useful_share));
  }
}

}  // namespace

std::vector<NamedPath> read_arguments(std::string_view option,
                                      const std::vector<std::string>& arguments,
                                      const std::vector<std::string>& names) {
  std::vector<NamedPath> all;
  for (const std::string& argument : arguments) {
    const std::size_t equals = argument.find('=');
    if (equals == argument.npos || equals + 1 == argument.size()) {
      throw BadInput(fmt::format("{}: {:.60}: expected NAME=FILE.npy", option, argument));
    }
    NamedPath named{argument.substr(0, equals), argument.substr(equals + 1)};
    if (std::find(names.begin(), names.end(), named.name) == names.end()) {
      throw BadInput(fmt::format("{}: {:.60}: expected one of {}{}",
                                 option,
                                 named.name,
                                 fmt::join(names, ", "),
                                 harness::did_you_mean(named.name, names)));
    }
    for (const NamedPath& each : all) {
      if (each.name == named.name)
        throw BadInput(fmt::format("{}: {} was given twice", option, named.name));
    }
    all.push_back(std::move(named));
  }
  return all;
}

std::vector<std::string> names_of(const spec::Contract& contract, Side side) {
  std::vector<std::string> names;
  for (Description& each : arrays_of(contract).describe(contract, side)) {
    names.push_back(std::move(each.name));
  }
  return names;
}

ordered_json read_fields(const spec::Contract& contract, const std::string& text) {
  ordered_json fields = ordered_json::parse(text, nullptr, false);
  if (!fields.is_object()) throw BadInput("--case: expected a JSON object");
  std::vector<std::string_view> forbidden = arrays_of(contract).fields_of_rules();
  forbidden.insert(forbidden.end(),
                   {"property", "input", "data_seed", "rotate", "scale", "added_seed"});
  for (const std::string_view field : forbidden) {
    if (!fields.contains(field)) continue;
    throw BadInput(
        fmt::format("--case: {}: expected no such field, because the inputs are your own", field));
  }
  if (fields.contains("operation") && fields["operation"] != contract.name) {
    throw BadInput(fmt::format("--case: operation: expected {} or nothing", contract.name));
  }
  fields["operation"] = contract.name;
  return fields;
}

std::vector<UserArray> read_arrays(std::string_view option,
                                   std::span<const NamedPath> arguments,
                                   const ordered_json& fields) {
  std::vector<UserArray> arrays;
  for (const NamedPath& argument : arguments) {
    UserArray array{.name = argument.name, .path = argument.path};
    if (!array.by_rank()) array.files.emplace_back(read_npy(option, array.name, array.path));
    const int ranks = array.by_rank() ? ranks_of(option, argument, fields) : 0;
    for (int r = 0; r < ranks; ++r) {
      const std::string path = path_of_rank(array.path, r);
      auto& file = array.files.emplace_back();
      std::error_code unknown;
      if (fs::exists(path, unknown)) file = read_npy(option, array.name, path);
    }
    arrays.push_back(std::move(array));
  }
  return arrays;
}

Case complete_case(const spec::Contract& contract,
                   std::span<const UserArray> inputs,
                   ordered_json fields) {
  for (const Description& each : arrays_of(contract).describe(contract, Side::input)) {
    // The slots of the complete case say whether there are scalars.
    if (find(inputs, each.name) != nullptr || each.name == "scalar") continue;
    throw BadInput(fmt::format(
        "--input: got no {0}, expected {0}=FILE.npy of shape {1}", each.name, each.shape));
  }
  arrays_of(contract).complete(contract, inputs, fields);
  try {
    Case c = harness::case_from_json(fields);
    c.input = harness::InputKind::given;
    c.given = std::make_shared<harness::GivenInputs>();
    return c;
  } catch (const BadInput& bad) {
    throw BadInput(fmt::format("--case: {}", bad.what()));
  }
}

void give_inputs(const spec::Contract& contract, std::span<const UserArray> inputs, Case& c) {
  const FamilyArrays& arrays = arrays_of(contract);
  const std::vector<Slot> slots = arrays.slots(contract, c, Side::input);
  for (const UserArray& each : inputs) {
    static_cast<void>(slot_named(slots, "--input", each.name));
  }
  std::vector<Values> values;
  for (std::size_t s = 0; s < slots.size(); ++s) {
    const UserArray* const array = find(inputs, slots[s].name);
    if (array == nullptr) {
      throw BadInput(fmt::format("--input: got no {0}, expected {0}=FILE.npy", slots[s].name));
    }
    values.push_back({.slot = s, .bytes = gather("--input", slots[s], *array)});
  }
  arrays.require_values(contract, c, slots, values);
  auto given = std::make_shared<harness::GivenInputs>();
  given->send.resize(spec::to_size(c.ranks));
  const std::vector<int> group = members(c);
  const std::int64_t bytes = spec::info(c.type).bytes;
  for (std::size_t r = 0; r < group.size(); ++r) {
    harness::ImageLayout layout;
    lay_out(contract, c, static_cast<int>(r), harness::ResultPlace::own_block, layout);
    std::vector<std::byte>& send = given->send[spec::to_size(group[r])];
    send.resize(spec::to_size(layout.extents.send_size * bytes));
    copy_runs(
        arrays.runs(contract, c, Side::input, static_cast<int>(r)), values, bytes, send.data());
  }
  const auto scalar = std::find_if(
      slots.begin(), slots.end(), [](const Slot& slot) { return slot.name == "scalar"; });
  if (scalar != slots.end()) {
    const std::vector<std::byte>& own = values[spec::to_size(scalar - slots.begin())].bytes;
    given->scalars.resize(spec::to_size(c.ranks * bytes));
    for (std::size_t r = 0; r < group.size(); ++r) {
      std::copy_n(own.data() + static_cast<std::int64_t>(r) * bytes,
                  bytes,
                  given->scalars.data() + group[r] * bytes);
    }
  }
  c.given = std::move(given);
}

std::vector<const harness::Property*> properties_of(const harness::Operation& operation,
                                                    const Case& c) {
  std::vector<const harness::Property*> one_call;
  for (const harness::Property& each : operation.properties) {
    if (each.name == Case().property) return {&each};
    if (each.applies != nullptr && !each.applies(operation.contract, c)) continue;
    std::vector<Case> stages;
    each.program(operation.contract, c, stages);
    if (stages.size() == 1 && stages.front() == c) one_call.push_back(&each);
  }
  return one_call;
}

ReferenceCall::ReferenceCall(const harness::Catalogue& catalogue, const Case& c)
    : catalogue_(catalogue),
      case_(c),
      contract_(catalogue.find(c.operation)->contract),
      arrays_(arrays_of(contract_)),
      outputs_(arrays_.slots(contract_, c, Side::output)) {
  traits_.name = "reference";
  traits_.nan_rule = spec::NanRule::unspecified;
  expected_ = arrays_.expect(evidence(observe({})));
}

harness::Observation ReferenceCall::observe(std::span<const Values> outputs) const {
  harness::Observation observation;
  observation.path.emplace_back(case_.algorithm);
  harness::StageOutcome& stage = observation.stages.emplace_back();
  const std::vector<int> group = members(case_);
  for (std::size_t r = 0; r < group.size(); ++r) {
    const auto rank = static_cast<int>(r);
    harness::ImageLayout layout;
    lay_out(contract_, case_, rank, traits_.result_place, layout);
    harness::Image& image = stage.images.emplace_back();
    prepare(harness::family_of(contract_), case_, group[r], layout, nullptr, image);
    if (layout.recv < 0) continue;
    copy_runs(arrays_.runs(contract_, case_, Side::output, rank),
              outputs,
              spec::info(case_.type).bytes,
              image.data() + layout.recv);
  }
  stage.stamps.resize(group.size());
  return observation;
}

ExpectedOutcome ReferenceCall::judge(std::span<const UserArray> expected) const {
  std::vector<Values> values;
  std::vector<std::size_t> given;
  if (expected.empty()) return {};
  for (const UserArray& each : expected) {
    const Slot& slot = slot_named(outputs_, "--expect", each.name);
    given.push_back(spec::to_size(&slot - outputs_.data()));
    values.push_back({.slot = given.back(), .bytes = gather("--expect", slot, each)});
  }
  const harness::Observation observation = observe(values);
  ExpectedOutcome outcome;
  std::vector<Expected> compared = expected_;
  for (const harness::Property* each : properties_of(*catalogue_.find(case_.operation), case_)) {
    compared = arrays_.judge(evidence(observation), *each, given, outcome.judgement);
  }
  if (outcome.judgement.verdict == harness::Verdict::passed) {
    harness::Judgement agreement;
    expect_ranks_agree(evidence(observation), 0, agreement);
    if (agreement.verdict != harness::Verdict::passed && values.size() == outputs_.size()) {
      outcome.judgement.fail(agreement.verdict, std::move(agreement.reason));
      outcome.judgement.wrong_count = agreement.wrong_count;
      outcome.judgement.wrong = std::move(agreement.wrong);
    }
  }
  require_power(outcome.judgement);
  const bool is_passed = outcome.judgement.verdict == harness::Verdict::passed;
  for (const Values& each : values) {
    const Slot& slot = outputs_[each.slot];
    outcome.worst.emplace_back(slot.name,
                               worst_of(slot, compared.at(each.slot), each.bytes, is_passed));
  }
  return outcome;
}

std::vector<std::pair<fs::path, std::string>> ReferenceCall::write(
    std::span<const NamedPath> outputs) const {
  std::vector<std::pair<fs::path, std::string>> files;
  for (const NamedPath& each : outputs) {
    const bool is_bound = each.name.ends_with(bound_ending);
    const std::string name =
        each.name.substr(0, each.name.size() - (is_bound ? bound_ending.size() : 0));
    const Slot& slot = slot_named(outputs_, "--output", name);
    const Expected& expected = expected_[spec::to_size(&slot - outputs_.data())];
    std::vector<double> bounds = expected.bounds;
    if (is_bound && spec::is_complex(expected.type)) {
      for (std::size_t i = 0; 2 * i < bounds.size(); ++i) {
        bounds[i] = std::max(bounds[2 * i], bounds[2 * i + 1]);
      }
    }
    bounds.resize(spec::to_size(count_of(slot)));
    const spec::Type type = is_bound ? spec::Type::f64 : expected.type;
    const std::byte* at =
        is_bound ? std::as_bytes(std::span(bounds)).data() : expected.bytes.data();
    if (each.path.find(UserArray::rank_pattern) == each.path.npos) {
      if (!slot.whole) {
        throw BadInput(fmt::format("--output {}: the ranks' parts differ: expected a path with {}",
                                   each.name,
                                   UserArray::rank_pattern));
      }
      files.emplace_back(each.path, harness::to_npy(type, at, *slot.whole));
      continue;
    }
    for (std::size_t r = 0; r < slot.parts.size(); ++r) {
      if (!slot.parts[r]) continue;
      files.emplace_back(path_of_rank(each.path, static_cast<int>(r)),
                         harness::to_npy(type, at, *slot.parts[r]));
      at += count_of(*slot.parts[r]) * spec::info(type).bytes;
    }
  }
  return files;
}

}  // namespace rankcheck::cases::evaluate
