#include <map>
#include <sstream>

#include <fmt/format.h>
#include <pugixml.hpp>

#include "harness/report/report.hpp"
#include "harness/report/report_text.hpp"

namespace rankcheck::harness {

namespace {

void add_property(std::string_view name, const std::string& value, pugi::xml_node properties) {
  pugi::xml_node property = properties.append_child("property");
  property.append_attribute("name") = printable(name).c_str();
  property.append_attribute("value") = printable(value).c_str();
}

bool is_reported_as_failure(Verdict verdict) {
  return is_red(verdict) && verdict != Verdict::flaky;
}

void add_counts(const Tally& tally, pugi::xml_node node) {
  std::int64_t failures = 0;
  for (std::size_t i = 0; i < verdict_names.size(); ++i) {
    const auto verdict = static_cast<Verdict>(i);
    if (is_reported_as_failure(verdict)) failures += tally.red(verdict);
  }
  node.append_attribute("tests") = static_cast<long long>(tally.findings);
  node.append_attribute("failures") = static_cast<long long>(failures);
  node.append_attribute("errors") = static_cast<long long>(tally.count(Verdict::errored));
  const std::int64_t skipped = tally.count(Verdict::skipped) + tally.known_findings();
  node.append_attribute("skipped") = static_cast<long long>(skipped);
}

/// Adds what a finding whose failures are all known has in place of a failure. pytest reports its
/// expected failures in the same way.
void add_known(const Finding& finding, pugi::xml_node node) {
  pugi::xml_node properties = node.append_child("properties");
  for (const KnownCount& each : finding.known) {
    if (each.failed > 0) add_property("known_defect", each.id, properties);
  }
  const std::string message = printable(
      fmt::format("{}: {}: {}", known_text(finding), name(finding.verdict), finding.reason));
  pugi::xml_node result = node.append_child("skipped");
  result.append_attribute("type") = "known";
  result.append_attribute("message") = message.c_str();
  node.append_child("system-out").text() = explain(finding, "rankcheck").c_str();
}

/// Adds what the code under test was made of: "mpi.version" and so on.
void add_versions(const nlohmann::ordered_json& value,
                  const std::string& name,
                  pugi::xml_node properties) {
  if (value.is_structured()) {
    for (const auto& [key, inner] : value.items()) {
      add_versions(inner, name.empty() ? key : name + '.' + key, properties);
    }
    return;
  }
  add_property(name, value.is_string() ? value.get<std::string>() : value.dump(), properties);
}

/// Adds the versions of rankcheck and of the code under test.
void add_properties(const nlohmann::ordered_json& environment,
                    const std::string& tested,
                    pugi::xml_node suite) {
  const auto field = [](const nlohmann::ordered_json& value, const std::string& name) {
    return value.is_object() ? value.value(name, nlohmann::ordered_json::object())
                             : nlohmann::ordered_json::object();
  };
  pugi::xml_node properties = suite.append_child("properties");
  for (const char* each : {"rankcheck", "commit", "host", "processor"}) {
    if (environment.contains(each)) add_versions(environment.at(each), each, properties);
  }
  add_versions(field(field(field(environment, "backends"), tested), "versions"), "", properties);
  if (properties.first_child().empty()) suite.remove_child(properties);
}

/// What a failure shares with others, by the ids of the findings.
using Causes = std::map<std::string, std::string>;

/// "Probably one of 3 units with this cause: ..." for each failure that shares its cause.
Causes shared_causes(const Report& report) {
  Causes causes;
  for (const FailureGroup& each : causes_of(report)) {
    if (each.findings.size() < 2) continue;
    const std::string text = fmt::format(
        "probably one of {} units with this cause: {}", each.findings.size(), line_of_cause(each));
    for (const Finding* finding : each.findings)
      causes[finding->unit.id()] = printable(text) + '\n';
  }
  return causes;
}

/// Adds a finding that took `seconds`.
void add_case(const Finding& finding, double seconds, const Causes& causes, pugi::xml_node suite) {
  const Unit& unit = finding.unit;
  pugi::xml_node node = suite.append_child("testcase");
  const std::string group = unit.operation + '.' + unit.tested();
  std::string title = unit.algorithm + '/' + unit.property;
  if (!unit.variant.empty()) title += '@' + unit.variant;
  if (!unit.pinned.empty()) title += ':' + unit.pinned;
  node.append_attribute("classname") = group.c_str();
  node.append_attribute("name") = title.c_str();
  if (seconds > 0) node.append_attribute("time") = fmt::format("{:.6f}", seconds).c_str();
  if (finding.verdict == Verdict::passed) return;
  if (finding.is_known) return add_known(finding, node);

  const std::string reason = printable(finding.reason);
  const char* kind = "failure";
  if (finding.verdict == Verdict::skipped) kind = "skipped";
  if (finding.verdict == Verdict::errored) kind = "error";
  if (finding.verdict == Verdict::flaky) kind = "flakyFailure";
  pugi::xml_node result = node.append_child(kind);
  result.append_attribute("message") = reason.c_str();
  if (finding.verdict == Verdict::skipped) return;
  result.append_attribute("type") = std::string(name(finding.verdict)).c_str();
  std::string details = explain(finding, "rankcheck");
  const auto cause = causes.find(unit.id());
  if (cause != causes.end()) details += "  " + cause->second;
  if (!details.empty()) result.text() = details.c_str();
}

}  // namespace

std::string to_junit(const Report& report) {
  const Summary summary = summarise(report.findings);
  const Causes causes = shared_causes(report);
  const auto durations = report.environment.find("durations_s");
  const auto seconds_of = [&](const Finding& finding) {
    return durations == report.environment.end() ? 0.0 : durations->value(finding.unit.id(), 0.0);
  };
  pugi::xml_document document;
  pugi::xml_node declaration = document.prepend_child(pugi::node_declaration);
  declaration.append_attribute("version") = "1.0";
  declaration.append_attribute("encoding") = "UTF-8";
  pugi::xml_node root = document.append_child("testsuites");
  root.append_attribute("name") = "rankcheck";
  add_counts(summary.total, root);
  for (const SummaryRow& row : summary.rows) {
    pugi::xml_node suite = root.append_child("testsuite");
    suite.append_attribute("name") = (row.operation + '.' + row.backend).c_str();
    add_counts(row.tally, suite);
    add_properties(report.environment, row.backend, suite);
    for (const Finding& finding : report.findings) {
      if (finding.unit.operation == row.operation && finding.unit.tested() == row.backend) {
        add_case(finding, seconds_of(finding), causes, suite);
      }
    }
  }
  std::ostringstream out;
  document.save(out, " ");
  return out.str();
}

}  // namespace rankcheck::harness
