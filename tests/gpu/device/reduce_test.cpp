#include "gpu/device/reduce.hpp"

#include <cstddef>
#include <vector>

#include <gtest/gtest.h>

#include "gpu/device/sim/combine.hpp"
#include "gpu/plan/random.hpp"

/// Compares the device's pass with the simulator's, both on the host.
namespace rankcheck::gpu::reduce_pass {
namespace {

/// Runs a pass with this number of threads, one after the other, because their results are
/// independent.
void run(spec::Type type, spec::ReduceOp op, const Pass& pass, std::int64_t threads) {
  element::visit_values(type, op, [&](auto stored, auto pairwise) {
    using T = decltype(stored);
    for (std::int64_t t = threads; t-- > 0;) {
      reduce<pairwise(), T>(pass, cut<T>(pass), t, threads);
    }
  });
}

/// Buffers that begin `off` bytes behind a multiple of 16.
class Buffers {
 public:
  Buffers(int count, std::int64_t bytes, std::int64_t off, std::uint64_t seed)
      : bytes_(bytes), off_(off) {
    plan::Random random(seed);
    for (int b = 0; b <= count; ++b) {
      auto& memory = memory_.emplace_back(static_cast<std::size_t>((off + bytes) / 16 + 4));
      for (auto& chunk : memory) {
        // Clears the exponents' upper bit, so that no number is NaN: the bits of a NaN are not
        // defined.
        for (auto& each : chunk.bytes) each = static_cast<std::byte>(random.below(256) & 0xbfU);
      }
    }
  }

  [[nodiscard]] std::byte* at(int b) {
    return memory_[static_cast<std::size_t>(b)].front().bytes + off_;
  }
  /// Returns all bytes of buffer `b`, including the bytes around it.
  [[nodiscard]] std::vector<std::byte> all(int b) {
    const std::byte* const begin = memory_[static_cast<std::size_t>(b)].front().bytes;
    return {begin, begin + (off_ + bytes_) / 16 * 16 + 64};
  }

 private:
  struct alignas(16) Chunk {
    std::byte bytes[16];
  };
  std::int64_t bytes_;
  std::int64_t off_;
  std::vector<std::vector<Chunk>> memory_;
};

TEST(ReducePassTest, GivesTheSimulatorsBitsForEveryTypeOpSizeAndAlignment) {
  using spec::ReduceOp;
  for (const spec::TypeInfo& type : spec::type_table) {
    for (std::size_t each = 1; each < spec::reduce_op_names.size(); ++each) {
      const auto op = static_cast<ReduceOp>(each);
      if (element::pairwise(op) != op || !spec::is_defined(op, type.type)) continue;
      for (const std::int64_t count : {0, 1, 15, 16, 67}) {
        for (const std::int64_t off : {0, 1, 8}) {
          for (const int n : {1, 4, 9}) {
            Buffers buffers(n, count * type.bytes, off, static_cast<std::uint64_t>(count + off));
            std::vector<Source> sources;
            for (int s = 1; s <= n; ++s) sources.push_back({.data = buffers.at(s)});
            // The last source has a scalar. The destination is also the first source.
            if (!spec::is_complex(type.type)) sources.back().scalar = buffers.at(0);
            Buffers expected = buffers;
            std::vector<Source> other;
            for (int s = 1; s <= n; ++s) other.push_back({.data = expected.at(s)});
            if (!spec::is_complex(type.type)) other.back().scalar = expected.at(0);
            const int divisor = op == ReduceOp::sum ? n : 1;
            run(type.type,
                op,
                make_pass({type.type, op, buffers.at(1), sources, count, divisor}),
                3);
            sim::combine({type.type, op, expected.at(1), other, count, divisor});
            ASSERT_EQ(buffers.all(1), expected.all(1))
                << type.name << " count " << count << " off " << off << " sources " << n;
          }
        }
      }
    }
  }
}

TEST(ReducePassTest, MovesPacksBetweenAlignedEnds) {
  alignas(16) std::byte memory[256];
  const std::vector<Source> sources{{.data = memory + 64 + 4}, {.data = memory + 128 + 4}};
  const Cut aligned =
      cut<float>(make_pass({spec::Type::f32, spec::ReduceOp::sum, memory + 4, sources, 14, 1}));
  EXPECT_EQ(aligned.head, 3);
  EXPECT_EQ(aligned.packs, 2);
  EXPECT_EQ(aligned.tail<float>(), 11);
  // Where the destination is aligned, the sources are not.
  EXPECT_EQ(
      cut<float>(make_pass({spec::Type::f32, spec::ReduceOp::sum, memory, sources, 14, 1})).packs,
      0);
}

}  // namespace
}  // namespace rankcheck::gpu::reduce_pass
