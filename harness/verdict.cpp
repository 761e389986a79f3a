#include "harness/verdict.hpp"

namespace rankcheck::harness {

std::string_view name(Verdict verdict) {
  return verdict_names[static_cast<std::size_t>(verdict)];
}

std::optional<Verdict> verdict_named(std::string_view name) {
  for (std::size_t i = 0; i < verdict_names.size(); ++i) {
    if (verdict_names[i] == name) return static_cast<Verdict>(i);
  }
  return std::nullopt;
}

bool is_red(Verdict verdict) {
  switch (verdict) {
    case Verdict::falsified:
    case Verdict::flaky:
    case Verdict::hung:
    case Verdict::crashed:
    case Verdict::vacuous:
      return true;
    case Verdict::passed:
    case Verdict::skipped:
    case Verdict::errored:
      return false;
  }
  return true;
}

std::string_view name(SkipReason reason) {
  return skip_reason_names[static_cast<std::size_t>(reason)];
}

}  // namespace rankcheck::harness
