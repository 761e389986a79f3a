#include "harness/compare/report_parser.hpp"

#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "harness/base/json_text.hpp"
#include "harness/case/case.hpp"

namespace rankcheck::harness::compare {

namespace {

using nlohmann::ordered_json;

/// Builds the JSON of a report from what the parser reads. Returning false ends parsing.
class ReportBuilder final : public nlohmann::json_sax<ordered_json> {
 public:
  ReportBuilder(std::string place,
                const SkippedFields& skipped,
                const TakeFinding& take,
                ReportRest& rest)
      : place_(std::move(place)), skipped_fields_(skipped), take_(take), rest_(rest) {}

  bool null() override { return put(nullptr); }
  bool boolean(bool value) override { return put(value); }
  bool number_integer(number_integer_t value) override { return put_number(value); }
  bool number_unsigned(number_unsigned_t value) override { return put_number(value); }
  bool number_float(number_float_t value, const string_t& /*text*/) override {
    return put_number(value);
  }
  bool string(string_t& value) override {
    return is_skipped() ? end_of_skipped_value() : put(std::move(value));
  }
  bool binary(binary_t& /*value*/) override { return false; }
  bool start_object(std::size_t /*size*/) override { return open(ordered_json::value_t::object); }
  bool start_array(std::size_t /*size*/) override { return open(ordered_json::value_t::array); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool parse_error(std::size_t /*place*/,
                   const std::string& /*token*/,
                   const nlohmann::detail::exception& /*error*/) override {
    return false;
  }

  bool key(string_t& name) override {
    if (skipped_ > 0) return true;
    if (depth_ == 1) {
      top_ = name;
      is_value_skipped_ = name == "summary" || name == "total" || name == "causes";
    } else if (depth_ == 2 && top_ == "environment") {
      field_ = name;
    } else if (depth_ == 3 && is_in_findings()) {
      field_ = name;
      is_value_skipped_ = skipped_fields_.contains(name);
    } else if (is_in_cells()) {
      cells_.push_back(name);
      is_value_skipped_ = true;
      return true;
    }
    name_ = name;
    return true;
  }

 private:
  [[nodiscard]] bool is_in_findings() const { return top_ == "findings"; }
  [[nodiscard]] bool is_in_cells() const {
    return depth_ == 4 && is_in_findings() && field_ == "cells";
  }
  [[nodiscard]] bool is_in_durations() const {
    return depth_ == 3 && top_ == "environment" && field_ == "durations_s";
  }
  /// Whether the next value is an element of the list of findings.
  [[nodiscard]] bool is_next_finding() const {
    return depth_ == 2 && is_in_findings() && stack_.back()->is_array();
  }
  /// Whether the next value is left out, because it is skipped or inside a skipped value.
  [[nodiscard]] bool is_skipped() const { return skipped_ > 0 || is_value_skipped_; }

  /// Called at the end of a skipped value that is no list and no object.
  bool end_of_skipped_value() {
    is_value_skipped_ = false;
    return true;
  }

  template <class Value>
  bool put(Value&& value) {
    if (is_skipped()) return end_of_skipped_value();
    add(std::forward<Value>(value));
    return true;
  }

  template <class Number>
  bool put_number(Number value) {
    if (is_skipped() || !is_in_durations()) return put(value);
    rest_.durations[name_] = static_cast<double>(value);
    return true;
  }

  /// Adds a value to the innermost open list or object. Returns the value in its place.
  template <class Value>
  ordered_json* add(Value&& value) {
    if (is_next_finding()) {
      throw BadInput(fmt::format("{}: findings[{}]: expected an object", place_, taken_));
    }
    if (stack_.empty()) {
      rest_.json = std::forward<Value>(value);
      return &rest_.json;
    }
    ordered_json& container = *stack_.back();
    if (container.is_array()) return &container.emplace_back(std::forward<Value>(value));
    return &(container[name_] = std::forward<Value>(value));
  }

  bool open(ordered_json::value_t type) {
    if (depth_ == json_depth_max) return false;
    if (is_skipped()) {
      is_value_skipped_ = false;
      ++skipped_;
    } else if (is_next_finding() && type == ordered_json::value_t::object) {
      finding_ = ordered_json(type);
      stack_.push_back(&finding_);
    } else {
      stack_.push_back(add(ordered_json(type)));
    }
    ++depth_;
    return true;
  }

  bool close() {
    --depth_;
    if (skipped_ > 0) {
      --skipped_;
      return true;
    }
    stack_.pop_back();
    if (!is_next_finding()) return true;
    ++taken_;
    // Most findings have as many cells as the finding before.
    std::vector<std::string> next;
    next.reserve(cells_.size());
    take_(std::move(finding_), std::exchange(cells_, std::move(next)));
    return true;
  }

  std::string place_;
  const SkippedFields& skipped_fields_;
  const TakeFinding& take_;
  ReportRest& rest_;
  /// The open lists and objects that are kept, from the outside in.
  std::vector<ordered_json*> stack_;
  /// Number of open lists and objects, and how many of them are skipped.
  int depth_ = 0;
  int skipped_ = 0;
  bool is_value_skipped_ = false;
  /// The name of the next value, and the names on the way to it: of a field of the report, and of
  /// a field of the finding or of the environment.
  std::string name_;
  std::string top_;
  std::string field_;
  ordered_json finding_;
  std::vector<std::string> cells_;
  std::size_t taken_ = 0;
};

}  // namespace

ReportRest parse_report(std::string_view text,
                        const std::string& place,
                        const SkippedFields& skipped,
                        const TakeFinding& take) {
  ReportRest rest;
  ReportBuilder builder(place, skipped, take, rest);
  if (!ordered_json::sax_parse(text.begin(), text.end(), &builder)) {
    throw BadInput(place + ": " + why_not_json(text));
  }
  return rest;
}

}  // namespace rankcheck::harness::compare
