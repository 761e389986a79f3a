#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "reference/registry.hpp"

#include "gpu/device/host/fft.hpp"
#include "gpu/device/host/memory.hpp"
#include "gpu/device/sim/cluster.hpp"
#include "gpu/ptycho/registry.hpp"

#include "harness/image.hpp"

#include "cases/bench/bench.hpp"
#include "cases/bench/large_call.hpp"

namespace rankcheck::cases::bench {

namespace {

using harness::Case;

using Clock = std::chrono::steady_clock;

constexpr int width = 128;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// An operator on so many frames of 128x128 pixels, one mode, all of them window.
Case case_of(std::string_view operation, int ranks, int frames) {
  constexpr int side = 464;
  const spec::Contract& contract = reference::contract_named(operation);
  Case c;
  c.operation = operation;
  c.ranks = ranks;
  c.scene = {.rows = side, .cols = side, .window = width, .detector = width};
  // What takes several slices and nothing else is measured with two.
  if (operation.starts_with("multislice")) c.scene.slices = 2;
  if (contract.in_free_space || c.scene.slices > 1) {
    c.scene.wavelength = 1;
    c.scene.distance = 100;
  }
  for (int rank = 0; rank < ranks; ++rank) {
    const int all = contract.tiled ? side : frames;
    c.counts.push_back(all / ranks + (rank < all % ranks ? 1 : 0));
  }
  return c;
}

/// An operator on one simulated device; its inputs are made once.
class OperatorCall {
 public:
  OperatorCall(const gpu::Operator& algorithm, Case c)
      : algorithm_(algorithm), case_(std::move(c)), cluster_(reference::contract_named) {
    prepare_stage(reference::contract_named,
                  {&case_, 1},
                  0,
                  0,
                  harness::ResultPlace::start,
                  {},
                  layout_,
                  image_);
  }

  double run() {
    const gpu::DeviceBuffers buffers{.send = image_.data() + layout_.send,
                                     .recv = image_.data() + layout_.recv};
    const spec::Call call = harness::call_of(case_);
    cluster_.begin(1, {}, {});
    cluster_.adopt(0, image_.data(), static_cast<std::int64_t>(image_.size()));
    const auto start = Clock::now();
    algorithm_.run(
        {cluster_, reference::contract_named(case_.operation), call, std::span(&buffers, 1)});
    const double seconds = seconds_since(start);
    cluster_.end();
    return seconds;
  }

 private:
  const gpu::Operator& algorithm_;
  Case case_;
  gpu::sim::SimCluster cluster_;
  harness::ImageLayout layout_;
  harness::Image image_;
};

/// Both transforms of so many frames, and nothing else: of one frame over and over, which stays in
/// the cache.
Run transforms(int frames) {
  struct Frame {
    gpu::host::Fft fft;
    gpu::host::Memory memory;
    std::byte* pixels = memory.allocate(width * width * 2 * sizeof(float));
  };
  const auto frame = std::make_shared<Frame>();
  // Zeros stay zeros, and take no longer than other numbers.
  std::fill_n(reinterpret_cast<float*>(frame->pixels), width * width * 2, 0.0F);
  return [frame, frames] {
    const auto start = Clock::now();
    for (int i = 0; i < frames; ++i) {
      for (const bool inverse : {false, true}) {
        frame->fft.run(
            {.precision = spec::Type::f32, .width = width, .batch = 1, .inverse = inverse},
            frame->pixels,
            frame->pixels);
      }
    }
    return seconds_since(start);
  };
}

void add(Bench& bench, const Case& c, std::function<Run()> prepare) {
  const int frames = bench.options().frames;
  bench.add({.name = fmt::format(
                 "frames/{}/{}/{}/{}x{}", c.backend, c.operation, c.algorithm, c.ranks, frames),
             .backend = c.backend,
             .prepare = std::move(prepare),
             .prepare_floor = [frames] { return transforms(frames); }});
}

}  // namespace

void add_operators(Bench& bench, const std::string& backend) {
  for (const gpu::OperatorImplementation& each : gpu::operators()) {
    if (backend == "sim") {
      Case c = case_of(each.operation, 1, bench.options().frames);
      c.algorithm = each.algorithm.name;
      if (!why_refused(each.algorithm, harness::call_of(c)).empty()) continue;
      add(bench, c, [&each, c]() -> Run {
        const auto call = std::make_shared<OperatorCall>(each.algorithm, c);
        return [call] { return call->run(); };
      });
      continue;
    }
    if (each.operation != "gaussian_gradients" && each.operation != "rpie_step") continue;
    for (const int ranks : {1, 2}) {
      Case c = case_of(each.operation, ranks, bench.options().frames);
      c.algorithm = each.algorithm.name;
      c.backend = backend;
      if (!bench.backend(backend).refuses(c).empty()) continue;
      add(bench, c, [&bench, c] { return stamped_run(bench, c); });
    }
  }
}

}  // namespace rankcheck::cases::bench
