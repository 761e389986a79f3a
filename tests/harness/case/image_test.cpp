#include "harness/case/image.hpp"

#include <algorithm>
#include <string>
#include <tuple>

#include <gtest/gtest.h>

#include "reference/collectives/registry.hpp"
#include "reference/registry.hpp"
#include "reference/spec/to_size.hpp"

#include "harness/case/family.hpp"
#include "harness/case/input.hpp"

#include "cases/families/collectives/case.hpp"
#include "cases/families/collectives/inputs.hpp"
#include "tests/print.hpp"

namespace rankcheck::harness {
namespace {

using cases::collective;
using cases::collective_call;
using cases::fill_block;

using spec::Block;
using spec::InPlace;
using spec::Type;

/// Returns a legal call of a collective by three ranks, with a gap and an empty block if the
/// contract allows them.
Case case_of(const spec::Contract& contract) {
  Case c;
  c.operation = contract.name;
  c.ranks = 3;
  collective(c).root = collective(contract).rooted ? 1 : 0;
  collective(c).op = collective(contract).reduces ? spec::ReduceOp::sum : spec::ReduceOp::none;
  c.input = InputKind::general;
  if (collective(contract).sizes == spec::Sizes::count) c.count = 3;
  if (collective(contract).sizes == spec::Sizes::counts_per_rank) c.counts = {2, 3, 0};
  if (collective(contract).sizes == spec::Sizes::counts_per_pair)
    c.counts = {1, 2, 0, 3, 0, 1, 2, 2, 1};
  if (collective(contract).sizes == spec::Sizes::counts_per_array) c.counts = {2, 0, 1, 3};
  const bool axis = collective(contract).sizes == spec::Sizes::lengths_along_axis;
  if (axis) {
    c.counts = {2, 0, 1};
    collective(c).outer = 2;
    collective(c).inner = 3;
  }
  if (collective(contract).sizes > spec::Sizes::count && !axis) collective(c).gap = 2;
  return c;
}

/// One collective, its call and one rank's image.
struct Laid {
  spec::Contract contract;
  Case c;
  ResultPlace place = ResultPlace::own_block;
  int rank = 0;
  ImageLayout layout = {};

  /// Whether both buffers share memory on this rank.
  [[nodiscard]] bool shares() const {
    return c.in_place && !layout.extents.send.empty() && !layout.extents.recv.empty();
  }
  [[nodiscard]] std::int64_t bytes() const { return spec::info(c.type).bytes; }
  /// The bytes from each element of a buffer to the next one.
  [[nodiscard]] std::int64_t send_bytes() const { return bytes() * layout.extents.send_stride; }
  [[nodiscard]] std::int64_t recv_bytes() const { return bytes() * layout.extents.recv_stride; }
  [[nodiscard]] std::string text() const {
    return to_text(c) + " rank " + std::to_string(rank) +
           (place == ResultPlace::start ? " start" : " own_block");
  }
};

using Parameters = std::tuple<bool, std::int64_t, Type, ResultPlace, std::int64_t>;

class ImageTest : public testing::TestWithParam<Parameters> {
 protected:
  template <class Check>
  void for_each_image(Check check) const {
    for (const reference::Collective& each : reference::collectives()) {
      Laid laid{.contract = each.contract, .c = case_of(each.contract)};
      std::int64_t stride = 1;
      std::tie(laid.c.in_place, laid.c.offset, laid.c.type, laid.place, stride) = GetParam();
      if (stride != 1) {
        if (!cases::may_be_strided(each.contract)) continue;
        collective(laid.c).send_stride = stride;
        collective(laid.c).recv_stride = stride + 1;
      }
      if (laid.c.in_place && each.contract.in_place == InPlace::none) continue;
      family_of(laid.contract).settle(laid.contract, laid.c);
      for (laid.rank = 0; laid.rank < laid.c.ranks; ++laid.rank) {
        lay_out(laid.contract, laid.c, laid.rank, laid.place, laid.layout);
        check(laid);
        if (HasFatalFailure()) return;
      }
    }
  }
};

TEST_P(ImageTest, BuffersHaveTheirSizes) {
  for_each_image([](const Laid& laid) {
    const spec::Extents extents =
        spec::extents_of(laid.contract, collective_call(laid.c), laid.rank);
    const std::int64_t recv_stride = collective(laid.c).recv_stride;
    const std::int64_t send_stride = laid.shares() ? recv_stride : collective(laid.c).send_stride;
    ASSERT_EQ(laid.layout.send_size, extents.send_size * laid.bytes() * send_stride) << laid.text();
    ASSERT_EQ(laid.layout.recv_size, extents.recv_size * laid.bytes() * recv_stride) << laid.text();
    ASSERT_EQ(laid.layout.send >= 0, !extents.send.empty()) << laid.text();
    ASSERT_EQ(laid.layout.recv >= 0, !extents.recv.empty() || extents.recv_size > 0);
  });
}

TEST_P(ImageTest, GuardsAreOnBothSides) {
  for_each_image([](const Laid& laid) {
    const ImageLayout& layout = laid.layout;
    for (const auto& [begin, size] :
         {std::pair(layout.send, layout.send_size), std::pair(layout.recv, layout.recv_size)}) {
      if (begin < 0) continue;
      ASSERT_GE(begin, guard_bytes) << laid.text();
      ASSERT_LE(begin + size + guard_bytes, layout.size) << laid.text();
    }
  });
}

TEST_P(ImageTest, BuffersShareMemoryInPlaceAlone) {
  for_each_image([](const Laid& laid) {
    const ImageLayout& layout = laid.layout;
    if (layout.send < 0 || layout.recv < 0) return;
    const auto own = spec::to_size(laid.rank);
    const bool apart = layout.send + layout.send_size + guard_bytes <= layout.recv ||
                       layout.recv + layout.recv_size + guard_bytes <= layout.send;
    ASSERT_EQ(apart, !laid.shares()) << laid.text();
    if (apart) return;
    if (laid.contract.in_place == InPlace::same) {
      ASSERT_EQ(layout.recv, layout.send) << laid.text();
    } else if (laid.contract.in_place == InPlace::send_within_recv) {
      const std::int64_t at = layout.extents.recv[own].offset * laid.recv_bytes();
      ASSERT_EQ(layout.send, layout.recv + at) << laid.text();
    } else {
      const bool moves = laid.place == ResultPlace::own_block || !collective(laid.contract).reduces;
      const std::int64_t at = moves ? layout.extents.send[own].offset * laid.send_bytes() : 0;
      ASSERT_EQ(layout.recv, layout.send + at) << laid.text();
    }
  });
}

TEST_P(ImageTest, BuffersLieOffABoundaryByTheOffset) {
  for_each_image([](const Laid& laid) {
    const ImageLayout& layout = laid.layout;
    const std::int64_t off = laid.c.offset * laid.bytes() % 64;
    const bool send_leads = laid.contract.in_place != InPlace::send_within_recv;
    if (layout.send >= 0 && (!laid.shares() || send_leads)) {
      ASSERT_EQ(layout.send % 64, off) << laid.text();
    }
    if (layout.recv >= 0 && (!laid.shares() || !send_leads)) {
      ASSERT_EQ(layout.recv % 64, off) << laid.text();
    }
  });
}

TEST_P(ImageTest, RestIsUndefinedForMpiAlone) {
  for_each_image([](const Laid& laid) {
    const bool expected = laid.shares() && laid.place == ResultPlace::start &&
                          laid.contract.name.starts_with("reduce_scatter");
    ASSERT_EQ(laid.layout.rest_undefined, expected) << laid.text();
  });
}

TEST_P(ImageTest, HoldsTheInputsAndPoison) {
  for_each_image([](const Laid& laid) {
    const ImageLayout& layout = laid.layout;
    Image image;
    prepare(family_of(laid.contract), laid.c, laid.rank, layout, nullptr, image);
    Image expected(spec::to_size(layout.size));
    fill_poison(laid.c, laid.rank, 0, expected.data(), layout.size);
    for (std::size_t b = 0; b < layout.extents.send.size(); ++b) {
      const Block& block = layout.extents.send[b];
      std::byte* const at = expected.data() + layout.send + block.offset * laid.send_bytes();
      Image dense(spec::to_size(block.count * laid.bytes()));
      fill_block(laid.c, laid.rank, static_cast<int>(b), block, dense.data());
      for (std::int64_t i = 0; i < block.count; ++i) {
        const std::byte* const element = dense.data() + i * laid.bytes();
        std::copy_n(element, laid.bytes(), at + i * laid.send_bytes());
      }
    }
    ASSERT_EQ(image, expected) << laid.text();
  });
}

/// Changes every byte. Changes must be found except in outputs: in guards, gaps, inputs, and any
/// part of recv that the call leaves alone.
TEST_P(ImageTest, EveryClobberedByteIsFoundAndNoOther) {
  for_each_image([](const Laid& laid) {
    const ImageLayout& layout = laid.layout;
    Image before;
    prepare(family_of(laid.contract), laid.c, laid.rank, layout, nullptr, before);
    ASSERT_FALSE(find_clobbered(laid.c, layout, before, before)) << laid.text();
    Image after = before;
    for (std::int64_t at = 0; at < layout.size; ++at) {
      const auto within = [&](std::int64_t begin, std::int64_t size) {
        return begin <= at && at < begin + size;
      };
      bool free = layout.rest_undefined && within(layout.send, layout.send_size);
      for (const Block& block : layout.extents.recv) {
        for (std::int64_t i = block.offset; i < block.offset + block.count; ++i)
          free = free || within(layout.recv + i * laid.recv_bytes(), laid.bytes());
      }
      after[spec::to_size(at)] ^= std::byte{1};
      const bool found = find_clobbered(laid.c, layout, before, after).has_value();
      after[spec::to_size(at)] ^= std::byte{1};
      ASSERT_NE(found, free) << laid.text() << " byte " << at;
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Image,
                         ImageTest,
                         testing::Combine(testing::Bool(),
                                          testing::Values(0, 1, 65),
                                          testing::Values(Type::uint8, Type::complex64),
                                          testing::Values(ResultPlace::own_block,
                                                          ResultPlace::start),
                                          testing::Values(1, 2)),
                         tests::printed_name);

class ClobberTest : public testing::Test {
 protected:
  static constexpr std::int64_t element_bytes = 4;

  ClobberTest() { lay(1); }

  void lay(int rank) {
    lay_out(contract_, c_, rank, ResultPlace::own_block, layout_);
    prepare(family_of(contract_), c_, rank, layout_, nullptr, before_);
  }

  std::string after_writing(std::int64_t at) const {
    Image after = before_;
    after[spec::to_size(at)] ^= std::byte{255};
    return find_clobbered(c_, layout_, before_, after).value_or("nothing");
  }

  spec::Contract contract_ = reference::contract_named("gather_v");
  Case c_ = case_of(contract_);
  ImageLayout layout_;
  Image before_;
};

TEST_F(ClobberTest, TellsTheByteThatWasWritten) {
  const std::string outside = "memory outside the buffers was written: ";
  EXPECT_EQ(after_writing(layout_.send - 3), outside + "3 bytes before send");
  EXPECT_EQ(after_writing(layout_.recv + layout_.recv_size),
            outside + "1 bytes past the end of recv");
  EXPECT_EQ(after_writing(layout_.recv + 2 * element_bytes),
            "element 2 of recv, which is no part of the output, was written");
  EXPECT_EQ(after_writing(layout_.send + element_bytes),
            "input changed: element 1 of send was written");
}

TEST_F(ClobberTest, TellsWhatLiesBetweenElements) {
  collective(c_).send_stride = 3;
  collective(c_).recv_stride = 2;
  lay(1);
  EXPECT_EQ(after_writing(layout_.recv + 3 * element_bytes),
            "memory behind element 1 of recv was written");
  EXPECT_EQ(after_writing(layout_.send + 3 * element_bytes),
            "input changed: element 1 of send was written");
  EXPECT_EQ(after_writing(layout_.send + 5 * element_bytes),
            "memory behind element 1 of send was written");
}

TEST_F(ClobberTest, TellsOutputsOffTheRoot) {
  lay(0);
  EXPECT_EQ(after_writing(layout_.recv),
            "element 0 of recv, which is no part of the output, was written");
}

TEST_F(ClobberTest, TellsAnImageOfAnotherSize) {
  Image after = before_;
  after.pop_back();
  EXPECT_EQ(find_clobbered(c_, layout_, before_, after), "the image has the wrong size");
}

TEST_F(ClobberTest, TellsTheFirstOfSeveral) {
  Image after = before_;
  after.front() ^= std::byte{1};
  after[spec::to_size(layout_.send)] ^= std::byte{1};
  EXPECT_EQ(find_clobbered(c_, layout_, before_, after),
            "memory outside the buffers was written: "
            "64 bytes before send");
}

TEST_F(ClobberTest, PreviousOutputsAndGivenInputsReplaceTheRules) {
  const Image inputs(spec::to_size(layout_.send_size), std::byte{42});
  auto given = std::make_shared<GivenInputs>();
  given->send = {{}, inputs, {}};
  for (const bool is_given : {false, true}) {
    c_.input = is_given ? InputKind::given : InputKind::previous;
    if (is_given) c_.given = given;
    Image image;
    prepare(family_of(contract_), c_, 1, layout_, is_given ? nullptr : inputs.data(), image);
    EXPECT_TRUE(std::equal(inputs.begin(), inputs.end(), image.begin() + layout_.send)) << is_given;
    EXPECT_EQ(find_clobbered(c_, layout_, before_, image),
              "input changed: element 0 of send was written")
        << is_given;
  }
}

TEST(ImageLayoutTest, BarrierIsOneGuard) {
  const spec::Contract& barrier = reference::contract_named("barrier");
  ImageLayout layout;
  lay_out(barrier, case_of(barrier), 0, ResultPlace::own_block, layout);
  EXPECT_EQ(layout.size, guard_bytes);
  EXPECT_EQ(layout.send, -1);
  EXPECT_EQ(layout.recv, -1);
}

}  // namespace
}  // namespace rankcheck::harness
