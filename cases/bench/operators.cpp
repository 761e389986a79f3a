#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "reference/registry.hpp"
#include "reference/spec/to_size.hpp"

#include "gpu/collectives/registry.hpp"
#include "gpu/device/host/fft.hpp"
#include "gpu/device/host/memory.hpp"
#include "gpu/device/sim/cluster.hpp"
#include "gpu/ptycho/registry.hpp"

#include "harness/case/image.hpp"

#include "cases/bench/bench.hpp"
#include "cases/bench/large_call.hpp"
#include "cases/families/ptycho/case.hpp"

namespace rankcheck::cases::bench {

namespace {

using harness::Case;

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Number of ranks for operators whose ranks exchange data: tiles with halos, or shards.
constexpr int exchanging_ranks = 4;

bool exchanges(const spec::Contract& contract) {
  const auto has_owners = [](const std::vector<spec::Array>& arrays) {
    return std::find(arrays.begin(), arrays.end(), spec::Array::owners) != arrays.end();
  };
  return ptycho(contract).tiled || has_owners(ptycho(contract).inputs) ||
         has_owners(ptycho(contract).outputs);
}

/// Returns a call of an operator on square frames of one mode, whose window is the whole frame. A
/// tiled operator gets the tiles of a scan with such windows; the halo is half a window wide.
Case case_of(std::string_view operation, int ranks, const Sizes& sizes) {
  // The measured scan has an object of 464 pixels a side for frames of 128.
  const int side = sizes.width * 464 / 128;
  const spec::Contract& contract = reference::contract_named(operation);
  Case c;
  c.operation = operation;
  c.ranks = ranks;
  ptycho(c).scene = {.rows = side, .cols = side, .window = sizes.width, .detector = sizes.width};
  // Only operators of several slices get two slices.
  if (operation.starts_with("multislice")) ptycho(c).scene.slices = 2;
  if (ptycho(contract).in_free_space || ptycho(c).scene.slices > 1) {
    ptycho(c).scene.wavelength = 1;
    ptycho(c).scene.distance = 100;
  }
  int parts = ranks;
  if (ptycho(contract).tiled) {
    // The tiles form a square. Its sides are the counts.
    parts = static_cast<int>(std::sqrt(ranks));
    ptycho(c).scene.tile_cols = parts;
    ptycho(c).scene.halo = sizes.width / 2;
  }
  for (int rank = 0; rank < ranks; ++rank) {
    const int all = ptycho(contract).tiled ? side : sizes.frames;
    c.counts.push_back(all / parts + (rank % parts < all % parts ? 1 : 0));
  }
  return c;
}

/// An operator on simulated devices. Its inputs are made once.
class OperatorCall {
 public:
  OperatorCall(const gpu::Operator& algorithm, Case c)
      : algorithm_(algorithm),
        case_(std::move(c)),
        cluster_(reference::contract_named, gpu::algorithm_for),
        images_(spec::to_size(case_.ranks)) {
    for (int rank = 0; rank < case_.ranks; ++rank) {
      harness::ImageLayout layout;
      harness::Image& image = images_[spec::to_size(rank)];
      prepare_stage(reference::contract_named,
                    {&case_, 1},
                    0,
                    rank,
                    harness::ResultPlace::start,
                    {},
                    layout,
                    image);
      buffers_.push_back({.send = image.data() + layout.send, .recv = image.data() + layout.recv});
    }
  }

  double run() {
    const spec::OperatorCall call = operator_call(case_);
    cluster_.begin(case_.ranks, {}, {});
    for (int rank = 0; rank < case_.ranks; ++rank) {
      const harness::Image& image = images_[spec::to_size(rank)];
      cluster_.adopt(rank, image.data(), static_cast<std::int64_t>(image.size()));
    }
    const auto start = Clock::now();
    algorithm_.run({cluster_, reference::contract_named(case_.operation), call, buffers_});
    const double seconds = seconds_since(start);
    cluster_.end();
    return seconds;
  }

 private:
  const gpu::Operator& algorithm_;
  Case case_;
  gpu::sim::SimCluster cluster_;
  std::vector<harness::Image> images_;
  std::vector<gpu::DeviceBuffers> buffers_;
};

/// Returns a floor: both transforms of sizes.frames frames. It transforms one frame again and
/// again, which stays in the cache.
Run transforms(const Sizes& sizes) {
  struct Frame {
    gpu::host::Fft fft;
    gpu::host::Memory memory;
    std::byte* pixels = nullptr;
  };
  const auto frame = std::make_shared<Frame>();
  const std::int64_t numbers = std::int64_t{sizes.width} * sizes.width * 2;
  frame->pixels = frame->memory.allocate(numbers * static_cast<std::int64_t>(sizeof(float)));
  // Zeros stay zeros, and on the host they take as long as other numbers.
  std::fill_n(reinterpret_cast<float*>(frame->pixels), numbers, 0.0F);
  return [frame, sizes] {
    const auto start = Clock::now();
    for (int i = 0; i < sizes.frames; ++i) {
      for (const bool inverse : {false, true}) {
        frame->fft.run(
            {.precision = spec::Type::f32, .width = sizes.width, .batch = 1, .inverse = inverse},
            frame->pixels,
            frame->pixels);
      }
    }
    return seconds_since(start);
  };
}

/// Returns a floor: a copy of `bytes` bytes.
Run copies(double bytes) {
  struct Buffers {
    std::vector<std::byte> from;
    std::vector<std::byte> to;
  };
  const auto size = static_cast<std::size_t>(bytes);
  const auto buffers = std::make_shared<Buffers>(
      Buffers{.from = std::vector(size, std::byte{1}), .to = std::vector(size, std::byte{2})});
  return [buffers] {
    const auto start = Clock::now();
    std::memcpy(buffers->to.data(), buffers->from.data(), buffers->from.size());
    return seconds_since(start);
  };
}

/// Returns an entry without its `prepare` or `times`.
Entry entry_of(const Case& c, const Sizes& sizes) {
  return {.name = fmt::format("frames/{}/{}/{}/{}x{}x{}",
                              c.backend,
                              c.operation,
                              c.algorithm,
                              c.ranks,
                              sizes.frames,
                              sizes.width),
          .backend = c.backend,
          .operator_ranks = c.ranks,
          .image_bytes = image_bytes(c)};
}

void add_simulated(Bench& bench, const gpu::OperatorImplementation& each) {
  const Sizes sizes = bench.sizes("sim");
  const bool is_exchange = exchanges(reference::contract_named(each.operation));
  Case c = case_of(each.operation, is_exchange ? exchanging_ranks : 1, sizes);
  c.algorithm = each.algorithm.name;
  if (!why_refused(each.algorithm, operator_call(c)).empty()) return;
  Entry entry = entry_of(c, sizes);
  entry.prepare = [&each, c]() -> Run {
    const auto call = std::make_shared<OperatorCall>(each.algorithm, c);
    return [call] { return call->run(); };
  };
  // An exchange reads and writes what it sends to other ranks. Copying half of all inputs and
  // outputs reads and writes as much.
  entry.prepare_floor = [sizes, is_exchange, bytes = entry.image_bytes] {
    return is_exchange ? copies(bytes / 2) : transforms(sizes);
  };
  bench.add(std::move(entry));
}

void add_real(Bench& bench, const std::string& backend, const gpu::OperatorImplementation& each) {
  if (each.operation != "gaussian_gradients" && each.operation != "rpie_step") return;
  const Sizes sizes = bench.sizes(backend);
  for (const int ranks : {1, 2}) {
    Case c = case_of(each.operation, ranks, sizes);
    c.algorithm = each.algorithm.name;
    c.backend = backend;
    const bool is_on_cuda = backend == "cuda";
    const bool is_refused = is_on_cuda ? !why_refused(each.algorithm, operator_call(c)).empty()
                                       : !bench.backend(backend).why_refused(c).empty();
    if (is_refused) continue;
    Entry entry = entry_of(c, sizes);
    if (is_on_cuda) {
      entry.times = times_on_cuda(bench, c);
    } else {
      entry.prepare = [&bench, c] { return stamped_run(bench, c); };
      entry.prepare_floor = [sizes] { return transforms(sizes); };
    }
    bench.add(std::move(entry));
  }
}

}  // namespace

void add_operators(Bench& bench, const std::string& backend) {
  for (const gpu::OperatorImplementation& each : gpu::operators()) {
    if (backend == "sim") {
      add_simulated(bench, each);
    } else {
      add_real(bench, backend, each);
    }
  }
}

}  // namespace rankcheck::cases::bench
