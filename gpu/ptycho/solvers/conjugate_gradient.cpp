#include "gpu/ptycho/solvers/conjugate_gradient.hpp"

#include <cmath>

#include "reference/ptycho/conjugate_gradient_step/contract.hpp"

namespace rankcheck::gpu {

namespace {

/// Computes one value of the direction of a conjugate gradient step.
template <class T>
struct Turn {
  const Complex<T>* gradient;
  Complex<T>* direction;
  T memory;

  RANKCHECK_HD void operator()(std::int64_t i) const {
    const Complex<T> downhill{-gradient[i].re, -gradient[i].im};
    direction[i] = memory == 0 ? downhill : downhill + memory * direction[i];
  }
};

}  // namespace

template <class T>
typename ConjugateGradient<T>::Block ConjugateGradient<T>::object_of(int rank,
                                                                     const SolverShare<T>& share) {
  const std::int64_t pixels = sums_.pixels(rank);
  return {.rank = rank,
          .size = pixels,
          .values = share.object,
          .gradient = share.object_gradient,
          .direction = share.object_direction,
          .fresh = sums_.object(rank),
          .trial = object_trial_.get(rank, pixels),
          .counts = pixels,
          .counted = sums_.objects().counted(rank)};
}

template <class T>
typename ConjugateGradient<T>::Block ConjugateGradient<T>::probe_of(int rank,
                                                                    const SolverShare<T>& share) {
  return {.rank = rank,
          .size = sums_.probe_size(),
          .values = share.probe,
          .gradient = share.probe_gradient,
          .direction = share.probe_direction,
          .fresh = sums_.probe(rank),
          .trial = probe_trial_.get(rank, sums_.probe_size()),
          // All ranks have the same probe, so only rank 0 counts.
          .counts = rank == 0 ? sums_.probe_size() : 0};
}

template <class T>
void ConjugateGradient<T>::put_product(const Block& block, InnerProduct<T> of, int number) {
  of.counted = block.counted;
  inner_product(sums_.cluster(),
                block.rank,
                block.counts,
                of,
                sums_of_chunks_,
                sums_.numbers(block.rank) + number);
}

template <class T>
template <class SumProducts>
void ConjugateGradient<T>::turn(std::span<const Block> blocks, const SumProducts& sum_products) {
  const auto launch_turn = [&](T memory) {
    for (const Block& each : blocks) {
      launch(sums_.cluster(), each.rank, each.size, Turn<T>{each.fresh, each.direction, memory});
    }
  };
  for (const Block& each : blocks) {
    put_product(each, {.a = each.fresh, .b = each.fresh}, 0);
    put_product(each, {.a = each.direction, .b = each.fresh, .c = each.gradient}, 1);
  }
  const std::vector<double> products = sum_products(2);
  const T memory = products[1] > 0 ? static_cast<T>(products[0] / products[1]) : T{0};
  launch_turn(memory);
  if (memory != 0) {
    for (const Block& each : blocks) put_product(each, {.a = each.fresh, .b = each.direction}, 0);
    if (!(sum_products(1).front() < 0)) launch_turn(0);
  }
  for (const Block& each : blocks) {
    copy(sums_.cluster(), each.rank, each.size, each.fresh, each.gradient);
  }
}

template <class T>
void ConjugateGradient<T>::send_to_all(const std::vector<Block>& blocks,
                                       Complex<T>* Block::*array) {
  std::vector<DeviceBuffers> buffers;
  for (const Block& each : blocks) {
    auto* const values = reinterpret_cast<std::byte*>(each.*array);
    buffers.push_back({.send = each.rank == 0 ? values : nullptr, .recv = values});
  }
  sums_.cluster().collective("broadcast",
                             {.ranks = sums_.cluster().ranks(),
                              .root = 0,
                              .type = component_type<Complex<T>>,
                              .count = blocks.front().size * components_of<Complex<T>>},
                             true,
                             buffers);
}

template <class T>
void ConjugateGradient<T>::turn(const std::vector<Block>& blocks, Directions directions) {
  if (directions == Directions::by_every_rank) {
    return turn(std::span(blocks), [&](std::int64_t count) { return sums_.sum_numbers(count); });
  }
  if (blocks.front().rank == 0) {
    turn(std::span(blocks).first(1),
         [&](std::int64_t count) { return sums_.read_numbers(0, count); });
  }
  send_to_all(blocks, &Block::gradient);
  send_to_all(blocks, &Block::direction);
}

template <class T>
double ConjugateGradient<T>::search(Noise noise,
                                    const std::vector<Block>& blocks,
                                    double cost,
                                    Shares trials) {
  for (int halvings = 0; halvings <= reference::line_search_halvings; ++halvings) {
    const double length = std::ldexp(1.0, -halvings);
    for (const Block& each : blocks) {
      add_scaled<T>(sums_.cluster(),
                    each.rank,
                    each.size,
                    each.values,
                    static_cast<T>(length),
                    each.direction,
                    each.trial);
    }
    if (!(sums_.add(noise, trials, {}).cost <= cost)) continue;
    for (const Block& each : blocks) {
      copy<Complex<T>>(sums_.cluster(), each.rank, each.size, each.trial, each.values);
    }
    return length;
  }
  return 0;
}

template <class T>
StepReport ConjugateGradient<T>::take(Noise noise, Shares shares, Directions directions) {
  const bool gathers = directions == Directions::by_rank_0;
  StepReport report;
  const auto locals = sums_.cluster().local();
  std::vector<Block> blocks;
  std::vector<SolverShare<T>> trials(shares.begin(), shares.end());
  report.cost = sums_.add(noise, shares, {.object = true, .gathered = gathers}).cost;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    blocks.push_back(object_of(locals[i], shares[i]));
    trials[i].object = blocks[i].trial;
  }
  turn(blocks, directions);
  report.object_length = search(noise, blocks, report.cost, trials);

  const double cost = sums_.add(noise, shares, {.probe = true, .gathered = gathers}).cost;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    blocks[i] = probe_of(locals[i], shares[i]);
    trials[i] = shares[i];
    trials[i].probe = blocks[i].trial;
  }
  turn(blocks, directions);
  report.probe_length = search(noise, blocks, cost, trials);
  return report;
}

template class ConjugateGradient<float>;
template class ConjugateGradient<double>;

}  // namespace rankcheck::gpu
