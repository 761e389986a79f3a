#include "harness/compare/comparison_github.hpp"

#include <fmt/format.h>

#include "harness/base/table.hpp"

namespace rankcheck::harness::compare {

namespace {

github::Annotation annotation_of(const Change& change) {
  github::Annotation annotation{
      .title = fmt::format(
          "rankcheck: {}: {}", change.kind == Kind::flaky ? "flaky" : "newly broken", change.what),
      .message = fmt::format("{} -> {}", printable(change.before), printable(change.now))};
  if (change.before.empty()) annotation.message = printable(change.now);
  if (!change.minimal.is_null()) {
    annotation.message += "\nrankcheck replay " + shell_quoted(change.minimal.dump());
  }
  return annotation;
}

}  // namespace

std::vector<github::Annotation> annotations_of(const Comparison& comparison,
                                               const std::string& verdict) {
  std::vector<github::Annotation> all;
  for (const Change& change : comparison.changes) {
    const bool is_failure = change.kind == Kind::newly_broken || change.kind == Kind::flaky;
    // A failure that is known is listed, but makes nothing worse.
    if (is_failure && change.is_worse) all.push_back(annotation_of(change));
  }
  if (all.empty()) all.push_back({.title = "rankcheck compare", .message = printable(verdict)});
  return all;
}

}  // namespace rankcheck::harness::compare
