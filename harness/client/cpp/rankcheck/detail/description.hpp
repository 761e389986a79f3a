#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <rankcheck/detail/group_cache.hpp>
#include <rankcheck/launch.hpp>
#include <rankcheck/memory.hpp>
#include <rankcheck/offer.hpp>

/// What the user has said about a subject.
namespace rankcheck::detail {

struct Description {
  std::string name;
  Launch launch;
  std::vector<std::string> types = words_of(joined(type_names));
  /// Empty if the subject did not say, see groups_of().
  std::string groups;
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
  MakeGroup make_group;
  FreeGroup free_group;
  std::size_t groups_kept = 64;
  /// What is wrong with the description. Empty if nothing is.
  std::string error;
};

/// Returns a value of a case as JSON.
inline std::string json_of(const std::string& word) {
  const bool is_plain = word == "true" || word == "false" ||
                        (!word.empty() && word.find_first_not_of("-0123456789") == word.npos);
  return is_plain ? word : json_string(word);
}

/// Returns the groups that a subject takes. If it did not say, they follow from whether it can make
/// communicators: several processes without such a function have only the one of all ranks.
inline std::string groups_of(const Description& subject) {
  if (!subject.groups.empty()) return subject.groups;
  return subject.launch.is_one_process || subject.make_group ? "any" : "world";
}

/// Returns which cases the subject takes, for the hello. A field that is not named only has its
/// default.
inline std::string takes(const Description& subject, const Offer& offer, int world) {
  const std::string groups = groups_of(subject);
  std::map<std::string, std::string> fields{{"group", json_string(groups)}, {"late", R"("any")"}};
  // Without groups of its own, a subject needs all ranks that were started.
  const auto [least, most] = groups == "world" ? std::pair(world, world) : offer.members();
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
  if (offer.function().starts()) fields["overlaps"] = R"("any")";
  if (subject.free_group) fields["frees"] = R"("any")";
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

/// Returns why the subject does not take a case: which operations there are. The harness keeps to
/// the limits of the hello. Empty if the subject takes it.
inline std::string why_refused(const Description& subject, const Json& c) {
  const std::string operation = c.at("operation").text;
  if (subject.offers.count(operation) != 0) return {};
  return "operation: no function for " + operation;
}

}  // namespace rankcheck::detail
