#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "reference/ptycho/halo.hpp"

#include "harness/properties/same_bits.hpp"

#include "cases/ptycho/properties.hpp"
#include "cases/ptycho/stage.hpp"

namespace rankcheck::cases {

namespace {

using harness::Case;
using harness::Evidence;
using harness::Judgement;
using harness::Verdict;
using reference::Replica;
using spec::Array;

using Replicas = std::vector<Replica>;
using Stages = std::vector<Case>;
using Value = std::complex<double>;

Value got(const OperatorStage& stage, const Replica& replica) {
  return stage.got[Array::tile].values[replica.place];
}
Value taken(const OperatorStage& stage, const Replica& replica) {
  return stage.in[Array::tile].values[replica.place];
}
/// The largest distance of a correct result from the reference.
double admitted(const OperatorStage& stage, const Replica& replica) {
  return stage.expected[Array::tile].errors[replica.place];
}

std::string text_of(Value value) {
  return fmt::format("{:.9g}{:+.9g}i", value.real(), value.imag());
}

/// A pixel of the object and its copies.
struct Pixel {
  std::int64_t row;
  std::int64_t col;
  const Replicas& replicas;
};

/// Calls body(pixel) for every pixel of a stage's object.
template <class Body>
void for_each_pixel(const OperatorStage& stage, const Body& body) {
  reference::for_each_replicated_pixel(
      stage.in, [&](std::int64_t row, std::int64_t col, const Replicas& replicas) {
        body(Pixel{row, col, replicas});
      });
}

/// Judges the distance of one copy from its expected value.
void judge(const OperatorStage& stage,
           const Pixel& pixel,
           const Replica& replica,
           Value wanted,
           double bound,
           std::string_view what,
           harness::PowerMeter& meter,
           Judgement& judgement) {
  meter.add(std::abs(wanted), bound);
  judgement.count(replica.rank, std::int64_t{2} * spec::info(stage.c.type).bytes);
  const Value value = got(stage, replica);
  const double error = std::abs(value - wanted);
  if (error <= bound) {
    if (bound > 0) judgement.ratio_max = std::max(judgement.ratio_max, error / bound);
    return;
  }
  judgement.fail(Verdict::falsified, std::string(what));
  ++judgement.wrong_count;
  if (judgement.wrong.size() >= harness::wrong_elements_max) return;
  list_wrong({stage.c, stage.index},
             {.rank = replica.rank,
              .index = static_cast<std::int64_t>(replica.place),
              .expected = text_of(wanted),
              .got = text_of(value),
              .error = error,
              .bound = bound,
              .decoded = fmt::format("pixel ({}, {})", pixel.row, pixel.col)},
             judgement);
}

/// Judges every copy of every pixel. expected(pixel, copy) returns its value and how far it may be
/// off. `what` says what a wrong value means.
template <class Expected>
void check_copies(const OperatorStage& stage,
                  std::string_view what,
                  Judgement& judgement,
                  const Expected& expected) {
  harness::PowerMeter meter;
  for_each_pixel(stage, [&](const Pixel& pixel) {
    for (const Replica& replica : pixel.replicas) {
      const auto [wanted, bound] = expected(pixel, replica);
      judge(stage, pixel, replica, wanted, bound, what, meter, judgement);
    }
  });
  judgement.see(meter, "the object");
}

/// Plans an exchange and a second exchange on its result.
void twice(const spec::Contract&, const Case& c, Stages& stages) {
  stages.assign(2, c);
  ptycho(stages[1]).chained = true;
}

harness::Property makes_copies_equal() {
  return {
      .name = "makes_copies_equal",
      .summary = "All copies of a pixel end with the same value.",
      .program = plan_once,
      .check =
          [](const Evidence& evidence, Judgement& judgement) {
            const OperatorStage stage = read_stage(evidence, 0);
            check_copies(stage,
                         "differs from another rank's copy",
                         judgement,
                         [&](const Pixel& pixel, const Replica&) {
                           return std::pair(got(stage, pixel.replicas.front()), 0.0);
                         });
          },
  };
}

harness::Property needs_a_halo() {
  return {
      .name = "does_nothing_without_halo",
      .summary = "Tiles without halos do not change in any bit.",
      .applies = [](const spec::Contract&, const Case& c) { return ptycho(c).scene.halo == 0; },
      .adapt = [](const spec::Contract&, Case& c) { ptycho(c).scene.halo = 0; },
      .program = plan_once,
      .check =
          [](const Evidence& evidence, Judgement& judgement) {
            const OperatorStage stage = read_stage(evidence, 0);
            check_copies(stage,
                         "changed without a halo",
                         judgement,
                         [&](const Pixel&, const Replica& replica) {
                           return std::pair(taken(stage, replica), 0.0);
                         });
          },
  };
}

/// Judges whether the second of two exchanges returns `factor(copies)` times its input.
template <class Factor>
void check_second(const Evidence& evidence,
                  Judgement& judgement,
                  std::string_view what,
                  const Factor& factor) {
  const OperatorStage stage = read_stage(evidence, 1);
  check_copies(stage, what, judgement, [&](const Pixel& pixel, const Replica& replica) {
    return std::pair(factor(pixel.replicas.size()) * taken(stage, replica),
                     admitted(stage, replica));
  });
}

}  // namespace

std::vector<harness::Property> halo_properties() {
  return {
      operator_agrees_with_reference(),
      harness::is_deterministic(),
      is_linear_in_each_array(),
      makes_copies_equal(),
      needs_a_halo(),
  };
}

harness::Property is_idempotent() {
  return {
      .name = "is_idempotent",
      .summary = "A second exchange changes nothing.",
      .program = twice,
      .check =
          [](const Evidence& evidence, Judgement& judgement) {
            check_second(evidence, judgement, "the second exchange changes it", [](std::size_t) {
              return 1.0;
            });
          },
  };
}

harness::Property multiplies_when_repeated() {
  return {
      .name = "multiplies_when_repeated",
      .summary = "A second exchange multiplies every pixel by the number of its copies.",
      .program = twice,
      .check =
          [](const Evidence& evidence, Judgement& judgement) {
            check_second(evidence,
                         judgement,
                         "the second exchange does not multiply by the number of copies",
                         [](std::size_t copies) { return static_cast<double>(copies); });
          },
  };
}

harness::Property conserves_the_sum() {
  return {
      .name = "conserves_the_sum",
      .summary =
          "The sum over all owned pixels equals the sum over all copies before the exchange.",
      .program = plan_once,
      .check =
          [](const Evidence& evidence, Judgement& judgement) {
            const OperatorStage stage = read_stage(evidence, 0);
            Value before = 0;
            Value after = 0;
            double bound = 0;
            double magnitude = 0;
            double terms = 0;
            for_each_pixel(stage, [&](const Pixel& pixel) {
              for (const Replica& replica : pixel.replicas) {
                before += taken(stage, replica);
                magnitude += std::abs(taken(stage, replica));
                ++terms;
                if (!replica.owner) continue;
                after += got(stage, replica);
                magnitude += std::abs(got(stage, replica));
                bound += admitted(stage, replica);
                judgement.count(replica.rank, std::int64_t{2} * spec::info(stage.c.type).bytes);
              }
            });
            // The sums of this check are in double precision. They are exact for whole numbers.
            if (!is_exact(stage.contract, stage.c)) bound += terms * 0x1p-53 * magnitude;
            const double error = std::abs(after - before);
            if (bound > 0) judgement.ratio_max = std::max(judgement.ratio_max, error / bound);
            judgement.see(std::max(std::abs(before), std::abs(after)), bound, "the sum");
            if (error <= bound) return;
            judgement.fail(
                Verdict::falsified,
                fmt::format("the sum was {}, is {}: expected to differ by at most {:.3g}",
                            text_of(before),
                            text_of(after),
                            bound));
          },
  };
}

harness::Property stays_between_the_copies() {
  return {
      .name = "stays_between_the_copies",
      .summary = "No copy leaves the range of the copies before the exchange.",
      .program = plan_once,
      .check =
          [](const Evidence& evidence, Judgement& judgement) {
            const OperatorStage stage = read_stage(evidence, 0);
            const auto expected = [&](const Pixel& pixel, const Replica& replica) {
              const auto clamped = [&](double value, double (*part)(const Value&)) {
                double least = part(taken(stage, pixel.replicas.front()));
                double most = least;
                for (const Replica& each : pixel.replicas) {
                  least = std::min(least, part(taken(stage, each)));
                  most = std::max(most, part(taken(stage, each)));
                }
                return std::clamp(value, least, most);
              };
              const Value value = got(stage, replica);
              const Value nearest{clamped(value.real(), [](const Value& v) { return v.real(); }),
                                  clamped(value.imag(), [](const Value& v) { return v.imag(); })};
              return std::pair(nearest, admitted(stage, replica));
            };
            check_copies(stage, "lies outside the range of its copies", judgement, expected);
          },
  };
}

}  // namespace rankcheck::cases
