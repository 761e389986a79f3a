#include <algorithm>
#include <cmath>
#include <complex>

#include <fmt/format.h>

#include "reference/ptycho/orthogonalize_modes/contract.hpp"
#include "reference/spec/to_size.hpp"

#include "harness/properties/same_bits.hpp"

#include "cases/ptycho/properties.hpp"
#include "cases/ptycho/stage.hpp"

namespace rankcheck::cases {

namespace {

using harness::Case;
using harness::Evidence;
using harness::Judgement;
using Value = std::complex<double>;

/// The modes of one probe: before the call, as the reference makes them, and after the call.
struct Probe {
  const Value* in;
  const Value* expected;
  const Value* got;
  std::size_t modes;
  std::size_t pixels;
  /// The sum of all modes' squares, and the error bound of anything quadratic in the modes.
  double power;
  double bound;

  /// Returns the inner product of two modes.
  [[nodiscard]] Value gram(const Value* of, std::size_t a, std::size_t b) const {
    Value sum = 0;
    for (std::size_t i = 0; i < pixels; ++i) {
      sum += of[a * pixels + i] * std::conj(of[b * pixels + i]);
    }
    return sum;
  }
  /// Returns the coherence of two pixels.
  [[nodiscard]] Value coherence(const Value* of, std::size_t x, std::size_t y) const {
    Value sum = 0;
    for (std::size_t m = 0; m < modes; ++m) {
      sum += of[m * pixels + x] * std::conj(of[m * pixels + y]);
    }
    return sum;
  }
};

template <class Body>
void for_each_probe(const OperatorStage& stage, const Body& body) {
  const auto values = spec::to_size(spec::values(ptycho(stage.c).scene, spec::Array::probe));
  const auto modes = spec::to_size(ptycho(stage.c).scene.modes);
  const auto& in = stage.in[spec::Array::probe].values;
  for (std::size_t first = 0; first < in.size(); first += values) {
    double power = 0;
    for (std::size_t i = 0; i < values; ++i) power += std::norm(in[first + i]);
    body(Probe{.in = in.data() + first,
               .expected = stage.expected[spec::Array::probe].values.data() + first,
               .got = stage.got[spec::Array::probe].values.data() + first,
               .modes = modes,
               .pixels = values / modes,
               .power = power,
               .bound = reference::orthogonalize_modes::accuracy(ptycho(stage.c).scene) *
                        stage.in.unit * power});
  }
}

/// The pixel to which `share` gives the largest value.
template <class Share>
std::size_t largest_pixel(const Probe& probe, const Share& share) {
  std::size_t largest = 0;
  for (std::size_t i = 1; i < probe.pixels; ++i) {
    if (share(i) > share(largest)) largest = i;
  }
  return largest;
}

/// Judges an error of a probe. `place` says where it is.
template <class Place>
void judge(const OperatorStage& stage,
           double error,
           double bound,
           std::string_view what,
           Judgement& judgement,
           const Place& place) {
  judgement.count_all(harness::group_size(stage.c), spec::info(stage.c.type).bytes);
  if (error <= bound) {
    if (bound > 0) judgement.ratio_max = std::max(judgement.ratio_max, error / bound);
    return;
  }
  judgement.fail(harness::Verdict::falsified,
                 fmt::format("{}: off by {:.3g}, bound {:.3g}; {}", what, error, bound, place()));
}

/// A property that holds for every probe separately.
template <void (*check)(const OperatorStage&, const Probe&, Judgement&)>
harness::Property of_probes(std::string_view name, std::string_view summary) {
  return {
      .name = name,
      .summary = summary,
      .program = plan_once,
      .check =
          [](const Evidence& evidence, Judgement& judgement) {
            const OperatorStage stage = read_stage(evidence, 0);
            for_each_probe(stage, [&](const Probe& probe) {
              check(stage, probe, judgement);
              judgement.see(probe.power, probe.bound, "the probe");
            });
          },
  };
}

void check_orthogonal(const OperatorStage& stage, const Probe& probe, Judgement& judgement) {
  for (std::size_t a = 0; a < probe.modes; ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      judge(stage,
            std::abs(probe.gram(probe.got, a, b)),
            probe.bound,
            "modes are not orthogonal",
            judgement,
            [&] {
              const std::size_t pixel = largest_pixel(probe, [&](std::size_t i) {
                return std::abs(probe.got[a * probe.pixels + i] * probe.got[b * probe.pixels + i]);
              });
              return fmt::format("modes {} and {}, pixel {} adds most", b, a, pixel);
            });
    }
  }
}

void check_powers(const OperatorStage& stage, const Probe& probe, Judgement& judgement) {
  for (std::size_t m = 0; m < probe.modes; ++m) {
    const Value error = probe.gram(probe.got, m, m) - probe.gram(probe.expected, m, m);
    judge(stage, std::abs(error), probe.bound, "the power of a mode", judgement, [&] {
      const std::size_t pixel = largest_pixel(probe, [&](std::size_t i) {
        const std::size_t at = m * probe.pixels + i;
        return std::abs(std::norm(probe.got[at]) - std::norm(probe.expected[at]));
      });
      return fmt::format("mode {}, pixel {} differs most", m, pixel);
    });
  }
}

void check_coherence(const OperatorStage& stage, const Probe& probe, Judgement& judgement) {
  for (std::size_t x = 0; x < probe.pixels; ++x) {
    for (std::size_t y = 0; y <= x; ++y) {
      const Value error = probe.coherence(probe.got, x, y) - probe.coherence(probe.in, x, y);
      judge(stage, std::abs(error), probe.bound, "the coherence of two pixels", judgement, [&] {
        return fmt::format("pixels {} and {}", y, x);
      });
    }
  }
}

}  // namespace

harness::Property makes_modes_orthogonal() {
  harness::Property property = of_probes<check_orthogonal>(
      "makes_modes_orthogonal", "The inner products of different modes are 0.");
  property.applies = [](const spec::Contract&, const Case& c) { return ptycho(c).scene.modes > 1; };
  property.adapt = [](const spec::Contract&, Case& c) {
    auto& modes = ptycho(c).scene.modes;
    modes = std::max(modes, 2);
  };
  return property;
}

harness::Property orders_modes_by_power() {
  return of_probes<check_powers>(
      "orders_modes_by_power",
      "The powers of the modes agree with the reference and are in descending order.");
}

harness::Property keeps_the_coherence() {
  return of_probes<check_coherence>("keeps_the_coherence",
                                    "The coherence of any two pixels does not change.");
}

harness::Property ranks_agree_on_shared_probes() {
  harness::Property property = harness::ranks_agree_bitwise();
  property.applies = [](const spec::Contract&, const Case& c) {
    return !ptycho(c).scene.varying_probe && harness::group_size(c) > 1;
  };
  property.adapt = [](const spec::Contract&, Case& c) { ptycho(c).scene.varying_probe = false; };
  return property;
}

}  // namespace rankcheck::cases
