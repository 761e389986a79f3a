#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <rankcheck/launch.hpp>
#include <rankcheck/memory.hpp>
#include <rankcheck/offer.hpp>

/// What the user has said about a subject.
namespace rankcheck::detail {

struct Description {
  std::string name;
  Launch launch;
  std::vector<std::string> types = words_of(joined(type_names));
  std::string groups = "any";
  std::string nan_rule = "unspecified";
  std::string zero_rule = "unspecified";
  std::string result_place = "own_block";
  bool deterministic = false;
  bool rounds = false;
  double deadline_s = 0;
  std::map<std::string, std::string> versions;
  Memory memory;
  std::map<std::string, Offer> offers;
  std::function<void(const Me&)> set_up;
  std::function<void(const Me&)> tear_down;
  std::function<AnyGroup(const std::vector<int>&)> make_group;
  /// What is wrong with the description. Empty if nothing is.
  std::string error;
};

/// Returns a value of a case as JSON.
inline std::string json_of(const std::string& word) {
  const bool is_plain = word == "true" || word == "false" ||
                        (!word.empty() && word.find_first_not_of("-0123456789") == word.npos);
  return is_plain ? word : json_string(word);
}

/// Returns which cases the subject takes, for the hello. A field that is not named only has its
/// default.
inline std::string takes(const Description& subject, const Offer& offer, int world) {
  std::map<std::string, std::string> fields{{"group", json_string(subject.groups)}};
  // Without groups of its own, a subject needs all ranks that were started.
  const auto [least, most] = subject.groups == "world" ? std::pair(world, world) : offer.members();
  if (least > 1 || most < world) {
    fields["ranks"] =
        R"({"min":)" + std::to_string(least) + R"(,"max":)" + std::to_string(most) + '}';
  }
  if (offer.operation().send == Shape::none) {
    // A barrier moves no elements, so their type does not matter.
    fields["type"] = R"("any")";
  } else {
    fields["type"] = listed(offer.types_or(subject.types), json_string);
    fields["in_place"] = offer.is_in_place() ? "[false,true]" : "[false]";
    fields["empty"] = offer.takes_empty() ? "true" : "false";
    for (const char* any : {"gap", "inner", "offset", "outer", "pattern", "root", "shift"}) {
      fields[any] = R"("any")";
    }
  }
  if (offer.operation().reduces) fields["op"] = listed(offer.ops(), json_string);
  for (const auto& [field, values] : offer.only()) fields[field] = listed(values, json_of);
  std::string out;
  for (const auto& [field, values] : fields) {
    out += (out.empty() ? '{' : ',') + json_string(field) + ':' + values;
  }
  return out + '}';
}

inline std::vector<int> first_ranks(int count) {
  std::vector<int> ranks;
  for (int rank = 0; rank < count; ++rank) ranks.push_back(rank);
  return ranks;
}

inline std::string why_group_refused(const Description& subject, const Json& c, int world) {
  const Json* const named = c.find("group");
  std::vector<int> group = named == nullptr ? std::vector<int>() : named->integers();
  if (group.empty()) group = first_ranks(static_cast<int>(c.at("ranks").integer()));
  if (subject.groups == "sorted" && !std::is_sorted(group.begin(), group.end())) {
    return "group: expected ascending ranks";
  }
  if (subject.groups == "world" && group != first_ranks(world)) {
    return "group: expected the world of " + std::to_string(world) + " ranks";
  }
  return {};
}

/// Returns why the subject, with so many ranks, does not take a case. Empty if it does.
inline std::string why_refused(const Description& subject, const Json& c, int world) {
  const auto differs = [](const std::string& what, const auto& expected, const std::string& got) {
    return what + ": expected one of " + joined(expected) + ", got " + got;
  };
  const std::string operation = c.at("operation").text;
  const auto found = subject.offers.find(operation);
  if (found == subject.offers.end()) return "operation: no function for " + operation;
  const Offer& offer = found->second;
  const std::string algorithm = text_of(c, "algorithm", subject.name);
  if (algorithm != subject.name)
    return "algorithm: expected " + subject.name + ", got " + algorithm;
  const std::string type = text_of(c, "type", "f32");
  const std::vector<std::string>& types = offer.types_or(subject.types);
  if (offer.operation().send != Shape::none && !has(types, type)) {
    return differs("type", types, type);
  }
  const std::string op = text_of(c, "op", "none");
  if (offer.operation().reduces && !has(offer.ops(), op)) {
    return differs("op", offer.ops(), op);
  }
  if (!offer.is_in_place() && text_of(c, "in_place", "false") == "true") {
    return "in_place: expected false, got true";
  }
  for (const auto& [field, values] : offer.only()) {
    const Json* const said = c.find(field);
    if (said != nullptr && !has(values, said->text)) return differs(field, values, said->text);
  }
  constexpr const char* plain[][2] = {
      {"chunk", "0"}, {"pending", "false"}, {"schedule", "in_order"}, {"fault", ""}};
  for (const auto& [field, value] : plain) {
    const std::string said = text_of(c, field, value);
    if (said != value) return std::string(field) + ": expected the default, got " + said;
  }
  return why_group_refused(subject, c, world);
}

}  // namespace rankcheck::detail
