#include "harness/case/verdict.hpp"

#include <limits>

#include "reference/spec/to_size.hpp"

namespace rankcheck::harness {

Power PowerMeter::power() const {
  Power seen{.elements = exact_ + std::ssize(bounds_), .useful = exact_};
  double least = exact_ > 0 ? 0 : std::numeric_limits<double>::infinity();
  for (const double bound : bounds_) {
    // A bound of 0 is useful even if only zeros are expected.
    if (bound == 0 || bound < useful_share * largest_) ++seen.useful;
    if (bound == 0) least = 0;
    if (largest_ > 0 && bound / largest_ < least) least = bound / largest_;
  }
  if (seen.elements > 0) seen.smallest_change = least;
  return seen;
}

bool is_failure(Verdict verdict) {
  switch (verdict) {
    case Verdict::falsified:
    case Verdict::flaky:
    case Verdict::hung:
    case Verdict::crashed:
      return true;
    case Verdict::passed:
    case Verdict::vacuous:
    case Verdict::skipped:
    case Verdict::errored:
      return false;
  }
  return true;
}

}  // namespace rankcheck::harness
