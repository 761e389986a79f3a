#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rankcheck/detail/member.hpp>

namespace rankcheck::detail {
namespace {

using Blocks = std::vector<std::pair<std::size_t, std::size_t>>;

Blocks blocks_of(const Buffer& buffer) {
  Blocks all;
  for (const Block& block : buffer.blocks()) all.emplace_back(block.start, block.count);
  return all;
}

/// What the function of the second of three members gets. The image has 1024 bytes.
class MemberTest : public testing::Test {
 protected:
  /// `fields` are fields of the case, and `buffers` are fields of the member.
  void read(const std::string& fields, const std::string& buffers) {
    const std::string text = R"({"run":1,"stage":0,"case":{)" + fields +
                             R"(},"group":[4,2,7],"members":[{"rank":2,"place":1,"image":1024)" +
                             buffers + "}]}";
    const Json header = JsonReader(text).read();
    member_ = Member();
    member_.image = std::make_shared<ImageMemory>(memory_, 2);
    member_.image->resize(1024);
    MemberReader(header).read(header.at("members").items[0], {}, member_);
  }

  [[nodiscard]] std::ptrdiff_t offset(const Buffer& buffer) const {
    return static_cast<unsigned char*>(buffer.data()) - member_.image->host();
  }

  Memory memory_;
  Member member_;
};

TEST_F(MemberTest, KnowsItsCall) {
  read(R"("operation":"all_reduce","count":3,"type":"f64","op":"max","in_place":true,"root":2)",
       R"(,"send":{"offset":64,"bytes":24,"blocks":[[0,24]]},)"
       R"("recv":{"offset":64,"bytes":24,"blocks":[[0,24]]})");
  const Call& call = member_.call;
  EXPECT_EQ(call.operation, "all_reduce");
  EXPECT_EQ(call.op, Op::max);
  EXPECT_EQ(call.type, Type::f64);
  EXPECT_EQ(call.rank, 1);
  EXPECT_EQ(call.size, 3);
  EXPECT_EQ(call.root, 2);
  EXPECT_FALSE(call.is_root());
  EXPECT_EQ(call.ranks, (std::vector<int>{4, 2, 7}));
  EXPECT_EQ(call.count, 3U);
  EXPECT_TRUE(call.in_place);
  EXPECT_FALSE(member_.is_late);
  EXPECT_EQ(call.field("root"), "2");
  EXPECT_EQ(call.field("gap"), "");
  EXPECT_EQ(member_.send.count(), 3U);
  EXPECT_EQ(member_.send.bytes(), 24U);
  EXPECT_EQ(offset(member_.send), 64);
  EXPECT_EQ(member_.send.size(), 0U) << "it is one array";
  EXPECT_EQ(member_.send.as<double>().data(), member_.recv.data());
  EXPECT_THROW(static_cast<void>(member_.send.as<float>()), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(call.group<int>()), std::logic_error);
  EXPECT_THROW(static_cast<void>(call.scalar<double>()), std::logic_error);
}

TEST_F(MemberTest, KnowsWhetherItIsLate) {
  for (const int late : {-1, 0, 1, 2}) {
    read(R"("operation":"barrier","late":)" + std::to_string(late), "");
    EXPECT_EQ(member_.is_late, late == 1) << late;
  }
}

TEST_F(MemberTest, DefaultsAreLeftOut) {
  read(R"("operation":"broadcast")", R"(,"recv":{"offset":64,"bytes":0,"blocks":[[0,0]]})");
  EXPECT_EQ(member_.call.type, Type::f32);
  EXPECT_EQ(member_.call.op, Op::none);
  EXPECT_EQ(member_.call.root, 0);
  EXPECT_FALSE(member_.send) << "only the root sends";
  EXPECT_TRUE(member_.recv);
  EXPECT_EQ(member_.recv.count(), 0U);
}

TEST_F(MemberTest, HasARowForEachRank) {
  read(R"("operation":"all_gather","count":2,"type":"int32")",
       R"(,"send":{"offset":64,"bytes":8,"blocks":[[0,8]]},)"
       R"("recv":{"offset":192,"bytes":24,"blocks":[[0,24]]})");
  EXPECT_EQ(blocks_of(member_.recv), (Blocks{{0, 2}, {2, 2}, {4, 2}}));
  EXPECT_EQ(offset(member_.recv[2]), 192 + 16);
  EXPECT_EQ(member_.recv[2].count(), 2U);
  EXPECT_THROW(static_cast<void>(member_.recv[3]), std::out_of_range);
}

TEST_F(MemberTest, HasUnequalArraysWithGaps) {
  read(R"("operation":"all_to_all_v","counts":[1,2,3,4,5,6,7,8,9],"gap":1,"type":"f64")",
       R"(,"send":{"offset":64,"bytes":144,"blocks":[[0,32],[40,40],[88,48]]},)"
       R"("recv":{"offset":320,"bytes":144,"blocks":[[0,16],[24,40],[72,64]]})");
  EXPECT_EQ(blocks_of(member_.send), (Blocks{{0, 4}, {5, 5}, {11, 6}}));
  EXPECT_EQ(blocks_of(member_.recv), (Blocks{{0, 2}, {3, 5}, {9, 8}}));
  EXPECT_EQ(offset(member_.recv[1]), 320 + 24);
}

TEST_F(MemberTest, ArraysThatMustBeLeftAloneAreWhereTheyWouldBeOnTheRoot) {
  read(R"("operation":"gather_v","counts":[2,0,1],"gap":2,"type":"f32")",
       R"(,"send":{"offset":64,"bytes":0,"blocks":[[0,0]]},)"
       R"("recv":{"offset":192,"bytes":36,"blocks":[]})");
  EXPECT_EQ(blocks_of(member_.recv), (Blocks{{0, 2}, {4, 0}, {6, 1}}));
  read(R"("operation":"gather_v","counts":[0,0,0],"type":"f32")",
       R"(,"send":{"offset":64,"bytes":0,"blocks":[[0,0]]})");
  EXPECT_EQ(blocks_of(member_.recv), (Blocks{{0, 0}, {0, 0}, {0, 0}})) << "it is not in the image";
}

TEST_F(MemberTest, HasAxes) {
  read(R"("operation":"gather_axis","counts":[1,2,0],"outer":3,"inner":2,"type":"f32")",
       R"(,"send":{"offset":64,"bytes":48,"blocks":[[0,16],[16,16],[32,16]]},)"
       R"("recv":{"offset":192,"bytes":72,"blocks":[]})");
  EXPECT_EQ(member_.call.outer, 3U);
  EXPECT_EQ(member_.call.inner, 2U);
  EXPECT_EQ(member_.send.count(), 12U);
  EXPECT_EQ(member_.recv.count(), 18U);
  EXPECT_EQ(member_.recv.size(), 0U);
}

TEST_F(MemberTest, HasItsScalar) {
  read(R"("operation":"reduce","count":1,"type":"int32","op":"premul_sum")",
       R"(,"scalar":"02000000","send":{"offset":64,"bytes":4,"blocks":[[0,4]]})");
  EXPECT_EQ(member_.call.scalar<std::int32_t>(), 2);
}

TEST_F(MemberTest, KnowsItsPartnersInSendRecv) {
  const auto partners = [&](const std::string& said) {
    read(R"("operation":"send_recv","pattern":"of a later version")", said);
    return std::pair(member_.call.target.value_or(-1), member_.call.source.value_or(-1));
  };
  EXPECT_EQ(partners(R"(,"to":2,"from":0)"), std::pair(2, 0));
  EXPECT_EQ(partners(R"(,"to":1,"from":1)"), std::pair(1, 1));
  EXPECT_EQ(partners(R"(,"to":null,"from":0)"), std::pair(-1, 0));
  EXPECT_EQ(partners(R"(,"to":0,"from":null)"), std::pair(0, -1));
  EXPECT_THROW(partners(""), ProtocolError);
  EXPECT_THROW(partners(R"(,"to":1)"), ProtocolError);
  EXPECT_THROW(partners(R"(,"to":"all","from":1)"), ProtocolError);
}

TEST_F(MemberTest, BuffersStayInsideOfTheImage) {
  const std::string of = R"("operation":"broadcast","count":1)";
  EXPECT_THROW(read(of, R"(,"recv":{"offset":1020,"bytes":8,"blocks":[]})"), ProtocolError);
  EXPECT_THROW(read(of, R"(,"recv":{"offset":2000,"bytes":0,"blocks":[]})"), ProtocolError);
  EXPECT_THROW(read(R"("operation":"all_gather","count":2)",
                    R"(,"recv":{"offset":64,"bytes":16,"blocks":[]})"),
               ProtocolError);
}

TEST(WithTypeTest, FindsTheTypeOfTheElements) {
  const auto size_of = [](Type type) {
    std::size_t size = 0;
    with_real_type(type, [&](auto zero) { size = sizeof zero; });
    return size;
  };
  EXPECT_EQ(size_of(Type::uint8), 1U);
  EXPECT_EQ(size_of(Type::int64), 8U);
  EXPECT_EQ(size_of(Type::f32), 4U);
  EXPECT_THROW(size_of(Type::bf16), std::invalid_argument);
  bool is_complex = false;
  with_type<double, std::complex<double>>(Type::complex128,
                                          [&](auto zero) { is_complex = sizeof zero == 16; });
  EXPECT_TRUE(is_complex);
}

}  // namespace
}  // namespace rankcheck::detail
