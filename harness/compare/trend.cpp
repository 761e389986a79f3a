#include "harness/compare/trend.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "reference/spec/to_size.hpp"

namespace rankcheck::harness::compare {

namespace {

/// All verdicts, the worst first. A unit that was skipped says less than one that passed.
constexpr std::array worst_first{Verdict::crashed,
                                 Verdict::hung,
                                 Verdict::falsified,
                                 Verdict::flaky,
                                 Verdict::errored,
                                 Verdict::vacuous,
                                 Verdict::passed,
                                 Verdict::skipped};
static_assert(worst_first.size() == verdict_names.size());

std::size_t place_of(Verdict verdict) {
  return spec::to_size(std::find(worst_first.begin(), worst_first.end(), verdict) -
                       worst_first.begin());
}

std::string time_of(const RunReport& run) {
  const auto started = run.environment.find("started");
  return started != run.environment.end() && started->is_string() ? started->get<std::string>()
                                                                  : std::string();
}

/// Sums of the units of one point.
struct PointSums {
  TrendPoint point;
  std::int64_t cases = 0;
  double seconds = 0;

  void add(const RunFinding& unit) {
    ++point.units;
    point.failed += is_failure(unit.verdict) ? 1 : 0;
    point.known += is_failure(unit.verdict) && unit.is_known ? 1 : 0;
    const auto worsen = [&](std::optional<Verdict>& verdict) {
      if (!verdict || is_worse(unit.verdict, *verdict)) verdict = unit.verdict;
    };
    worsen(point.verdict);
    if (!is_failure(unit.verdict) || !unit.is_known) worsen(point.verdict_beside_known);
    // A unit that failed ended early, so its error says nothing.
    if (is_whole(unit)) {
      point.ratio_max = std::max(point.ratio_max.value_or(0), unit.ratio_max);
    }
    if (unit.duration_s.value_or(0) > 0) {
      cases += unit.cases;
      seconds += *unit.duration_s;
    }
  }

  [[nodiscard]] TrendPoint whole() const {
    TrendPoint out = point;
    if (cases > 0) out.cases_per_second = static_cast<double>(cases) / seconds;
    return out;
  }
};

using Names = std::pair<std::string, std::string>;

/// The operation and the backend of a measurement, such as "large/mpi/all_reduce/…". Empty if it is
/// not about one operation.
std::optional<Names> names_of(const std::string& measurement) {
  const std::size_t backend = measurement.find('/') + 1;
  const std::size_t operation = measurement.find('/', backend) + 1;
  const std::size_t end = measurement.find('/', operation);
  if (backend == 0 || operation == 0 || end == std::string::npos) return {};
  return Names{measurement.substr(operation, end - operation),
               measurement.substr(backend, operation - 1 - backend)};
}

/// The multiples of the floor of one operation and backend, by measurement and run.
using Ratios = std::map<std::string, std::map<std::size_t, double>>;

/// Sets the ratios of a row from the measurements that all runs with ratios have.
void set_ratios(const Ratios& ratios, TrendRow& row) {
  std::set<std::size_t> runs;
  for (const auto& [name, values] : ratios) {
    for (const auto& [run, value] : values) runs.insert(run);
  }
  std::map<std::size_t, double> logarithms;
  double common = 0;
  for (const auto& [name, values] : ratios) {
    if (values.size() != runs.size()) continue;
    ++common;
    for (const auto& [run, value] : values) logarithms[run] += std::log(value);
  }
  for (const auto& [run, sum] : logarithms) row.points[run].floor_ratio = std::exp(sum / common);
}

}  // namespace

bool TrendPoint::fails_only_as_known() const {
  const Verdict other = verdict_beside_known.value_or(Verdict::passed);
  return known > 0 && known == failed && !is_red(other) && other != Verdict::errored;
}

bool is_worse(Verdict a, Verdict b) {
  return place_of(a) < place_of(b);
}

void sort_by_time(std::vector<RunReport>& runs) {
  std::stable_sort(runs.begin(), runs.end(), [](const RunReport& a, const RunReport& b) {
    return time_of(a) < time_of(b);
  });
}

Trend trend_of(std::span<const RunReport> runs) {
  std::map<Names, std::vector<PointSums>> rows;
  std::map<Names, Ratios> ratios;
  Trend trend;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    trend.runs.push_back(&runs[i]);
    if (runs[i].bench) {
      for (const auto& [name, each] : runs[i].bench->measurements) {
        const auto names = names_of(name);
        if (!names || !each.has_floor || each.times.empty()) continue;
        ratios[*names][name][i] = each.median();
      }
    }
    for (const auto& [id, unit] : runs[i].findings) {
      auto& points = rows[{unit.operation, unit.tested}];
      points.resize(runs.size());
      points[i].add(unit);
    }
  }
  for (const auto& [names, values] : ratios) rows[names].resize(runs.size());
  for (const auto& [names, points] : rows) {
    TrendRow row{.operation = names.first, .tested = names.second, .points = {}};
    for (const PointSums& each : points) row.points.push_back(each.whole());
    if (const auto found = ratios.find(names); found != ratios.end()) {
      set_ratios(found->second, row);
    }
    trend.rows.push_back(std::move(row));
  }
  return trend;
}

}  // namespace rankcheck::harness::compare
