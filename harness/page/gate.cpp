#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "harness/base/table.hpp"
#include "harness/page/sections.hpp"
#include "harness/page/style.hpp"

namespace rankcheck::harness::page {

namespace {

using nlohmann::ordered_json;

/// More devices than this are counted only.
constexpr std::size_t devices_max = 64;

/// The list with this name; empty if there is none. A journal may hold anything there.
ordered_json list_in(const ordered_json& gate, const char* name) {
  const auto found = gate.find(name);
  return found != gate.end() && found->is_array() ? *found : ordered_json::array();
}

std::string word_in(const ordered_json& object, const char* name) {
  const auto found = object.is_object() ? object.find(name) : object.end();
  if (!object.is_object() || found == object.end() || found->is_null()) return {};
  return found->is_string() ? found->get<std::string>() : found->dump();
}

std::optional<double> number_in(const ordered_json& object, const char* name) {
  if (!object.is_object()) return std::nullopt;
  const auto found = object.find(name);
  if (found == object.end() || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

void write_verdict_word(Html& html, const std::string& word) {
  const auto verdict = verdict_named(word);
  const Look look = verdict ? look_of(*verdict) : Look{"quiet", word};
  html.leaf("span", look.text, {{"class", "badge " + look.css}});
}

/// "12,345 bytes in 6 copies, 0 wrong; error rate per byte below 2.4e-10 (confidence 95 %)".
std::string exposure_of(const ordered_json& exposure) {
  const auto bytes = number_in(exposure, "bytes");
  if (!bytes) return "not known";
  const auto copies = number_in(exposure, "copies").value_or(0);
  const auto wrong = number_in(exposure, "wrong_bytes").value_or(0);
  std::string text = fmt::format("{} bytes in {} copies, {} wrong",
                                 grouped(static_cast<std::int64_t>(*bytes)),
                                 grouped(static_cast<std::int64_t>(copies)),
                                 grouped(static_cast<std::int64_t>(wrong)));
  const auto bound = number_in(exposure, "error_rate_bound");
  if (!bound) return text + "; no bound";
  return text + fmt::format("; error rate per byte below {:.2g} (confidence {:.0f} %)",
                            *bound,
                            100 * number_in(exposure, "confidence").value_or(0));
}

void write_devices(Html& html, const ordered_json& devices) {
  html.leaf("h3", "Devices");
  write_table(html, "Devices with verdict and exposure", [&] {
    write_head(html, {"device", "name", "bus", "verdict", "reason", "exposure and bound"});
    const Html::Element body = html.open("tbody");
    for (std::size_t i = 0; i < std::min(devices.size(), devices_max); ++i) {
      const ordered_json& each = devices[i];
      const Html::Element row = html.open("tr");
      html.leaf("th", word_in(each, "device"), {{"scope", "row"}});
      html.leaf("td", shortened(word_in(each, "name"), 80));
      html.leaf("td", shortened(word_in(each, "bus"), 40));
      {
        const Html::Element cell = html.open("td");
        write_verdict_word(html, word_in(each, "verdict"));
      }
      html.leaf("td", shortened(word_in(each, "reason"), 200), {{"class", "said"}});
      html.leaf("td",
                exposure_of(each.is_object() ? each.value("exposure", ordered_json()) : each),
                {{"class", "said"}});
    }
  });
  if (devices.size() > devices_max) {
    html.leaf("p",
              fmt::format("and {}, which report.json lists",
                          counted(static_cast<std::int64_t>(devices.size() - devices_max),
                                  "more device",
                                  "more devices")));
  }
  const bool has_stand_in = std::any_of(devices.begin(), devices.end(), [](const auto& each) {
    return !word_in(each, "memory").empty();
  });
  if (has_stand_in) {
    html.leaf("p",
              "Some devices are stand-ins, so their numbers describe no hardware, and there is no "
              "bound for them.");
  }
}

/// The worst of the links between two devices, and their least and greatest speed.
struct LinkSummary {
  std::string verdict = "passed";
  std::string reason;
  double least = 0;
  double most = 0;
  int links = 0;

  void add(const ordered_json& link) {
    const double speed = number_in(link, "gigabytes_per_s").value_or(0);
    least = links == 0 ? speed : std::min(least, speed);
    most = std::max(most, speed);
    ++links;
    const std::string word = word_in(link, "verdict");
    if (verdict != "passed" || word == "passed") return;
    verdict = word;
    reason = word_in(link, "reason");
  }
};

/// Orders the numbers of devices as numbers: "2" before "10".
struct DeviceOrder {
  bool operator()(const std::string& a, const std::string& b) const {
    return std::pair(a.size(), std::string_view(a)) < std::pair(b.size(), std::string_view(b));
  }
};

using Devices = std::set<std::string, DeviceOrder>;
using Links = std::map<std::pair<std::string, std::string>, LinkSummary>;

void write_matrix_of(Html& html,
                     const std::string& method,
                     const Links& links,
                     const Devices& devices) {
  write_table(
      html,
      fmt::format("Links by {}: GB/s from the device of the row to the device of the column",
                  method),
      [&] {
        std::vector<std::string> head{"from \\ to"};
        head.insert(head.end(), devices.begin(), devices.end());
        write_head(html, head);
        const Html::Element body = html.open("tbody");
        for (const std::string& from : devices) {
          const Html::Element row = html.open("tr");
          html.leaf("th", from, {{"scope", "row"}});
          for (const std::string& to : devices) {
            const Html::Element cell = html.open("td");
            const auto found = links.find({from, to});
            if (found == links.end()) {
              html.text("-");
              continue;
            }
            const LinkSummary& link = found->second;
            write_verdict_word(html, link.verdict);
            html.text(link.links > 1 && link.least < link.most
                          ? fmt::format(" {:.3g} to {:.3g} GB/s", link.least, link.most)
                          : fmt::format(" {:.3g} GB/s", link.most));
            if (!link.reason.empty()) html.text(": " + shortened(link.reason, 120));
          }
        }
      });
}

void write_links(Html& html, const ordered_json& all) {
  std::map<std::string, Links> methods;
  Devices devices;
  std::int64_t left_out = 0;
  for (const ordered_json& each : all) {
    const std::string from = word_in(each, "from");
    const std::string to = word_in(each, "to");
    if (devices.size() >= devices_max && (!devices.contains(from) || !devices.contains(to))) {
      ++left_out;
      continue;
    }
    devices.insert({from, to});
    const std::string way = word_in(each, "way");
    methods[word_in(each, "method") + (way.empty() ? "" : ", " + way)][{from, to}].add(each);
  }
  if (methods.empty()) return;
  html.leaf("h3", "Links");
  for (const auto& [method, links] : methods) write_matrix_of(html, method, links, devices);
  if (left_out > 0) {
    html.leaf("p",
              fmt::format("and {}, which report.json lists",
                          counted(left_out, "more link", "more links")));
  }
}

void write_speeds(Html& html, const ordered_json& speeds) {
  if (speeds.empty()) return;
  html.leaf("h3", "Speeds");
  write_table(html, "Speeds beside their targets", [&] {
    write_head(html, {"measurement", "counter", "value", "target", "met"});
    const Html::Element body = html.open("tbody");
    for (const ordered_json& each : speeds) {
      const Html::Element row = html.open("tr");
      html.leaf("th", word_in(each, "measurement"), {{"scope", "row"}});
      html.leaf("td", word_in(each, "counter"));
      const auto value = number_in(each, "value");
      html.leaf("td",
                value ? fmt::format("{:.3g}", *value) : shortened(word_in(each, "failure"), 120),
                {{"class", "number"}});
      const auto most = number_in(each, "at_most");
      html.leaf("td",
                most ? fmt::format("at most {:g}", *most)
                     : fmt::format("at least {:g}", number_in(each, "at_least").value_or(0)));
      const std::string met = word_in(each, "met");
      html.leaf("td",
                met == "true"    ? "yes"
                : met == "false" ? "no"
                                 : "not judged",
                {{"class",
                  met == "true"    ? "good"
                  : met == "false" ? "bad"
                                   : "quiet"}});
    }
  });
}

void write_phases(Html& html, const ordered_json& phases) {
  write_table(html, "Parts of the gate", [&] {
    write_head(html, {"part", "verdict", "cases", "bytes compared", "reason"});
    const Html::Element body = html.open("tbody");
    for (const ordered_json& each : phases) {
      const Html::Element row = html.open("tr");
      html.leaf("th", word_in(each, "name"), {{"scope", "row"}});
      {
        const Html::Element cell = html.open("td");
        write_verdict_word(html, word_in(each, "verdict"));
      }
      for (const char* field : {"cases", "compared_bytes"}) {
        const auto number = number_in(each, field).value_or(0);
        html.leaf("td", grouped(static_cast<std::int64_t>(number)), {{"class", "number"}});
      }
      html.leaf("td", shortened(word_in(each, "reason"), 300), {{"class", "said"}});
    }
  });
}

/// Adds the entries of a list that did not pass.
template <class NameOf>
void add_not_passed(const ordered_json& list, const NameOf& name_of, std::vector<GateItem>& out) {
  for (const ordered_json& each : list) {
    const auto verdict = verdict_named(word_in(each, "verdict"));
    if (!verdict || *verdict == Verdict::passed) continue;
    out.push_back({name_of(each), *verdict, shortened(word_in(each, "reason"), 300)});
  }
}

}  // namespace

std::vector<GateItem> gate_items_not_passed(const Report& report) {
  const auto gate = report.environment.find("hardware");
  if (gate == report.environment.end() || !gate->is_object()) return {};
  std::vector<GateItem> items;
  const auto add = [&](const char* list, const auto& name_of) {
    add_not_passed(list_in(*gate, list), name_of, items);
  };
  add("phases", [](const ordered_json& each) { return "part " + word_in(each, "name"); });
  add("devices", [](const ordered_json& each) { return "device " + word_in(each, "device"); });
  add("links", [](const ordered_json& each) {
    return fmt::format(
        "link {} to {} by {}", word_in(each, "from"), word_in(each, "to"), word_in(each, "method"));
  });
  return items;
}

void write_gate(Html& html, const Report& report) {
  const auto found = report.environment.find("hardware");
  if (found == report.environment.end() || !found->is_object()) return;
  const ordered_json& gate = *found;
  const Html::Element section = html.open("section", {{"aria-labelledby", "gate"}});
  html.leaf("h2", "Devices and links", {{"id", "gate"}});
  html.leaf(
      "p",
      "A pass of this gate is about the checks below, on these devices, and about nothing else. "
      "The bounds assume that errors are independent of one another and of the data.");
  write_phases(html, list_in(gate, "phases"));
  write_devices(html, list_in(gate, "devices"));
  write_links(html, list_in(gate, "links"));
  const auto exposure = gate.find("exposure");
  html.leaf("p",
            "All links together: " +
                exposure_of(exposure == gate.end() ? ordered_json() : *exposure) + ".");
  if (const auto bound = number_in(gate, "case_failure_rate_bound")) {
    html.leaf(
        "p",
        fmt::format("{} cases were judged and none failed: the failure rate per case is below "
                    "{:.2g}.",
                    word_in(gate, "cases"),
                    *bound));
  }
  write_speeds(html, list_in(gate, "speeds"));
}

}  // namespace rankcheck::harness::page
