#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cases/families/collectives/inputs.hpp"
#include "cases/families/ptycho/inputs.hpp"
#include "tests/cases/families/collectives/inputs.hpp"
#include "tests/print.hpp"

namespace rankcheck::cases {
namespace {

using harness::Case;
using harness::case_from_text;
using harness::CounterHash;
using harness::fill_poison;
using harness::InputKind;
using harness::to_text;

using spec::ReduceOp;
using spec::Type;

/// Fields of a case, and the first bytes of rank 1 of 3 under seed 7. A program in another language
/// computed the bytes from two pages alone: harness/INPUTS.md and
/// cases/families/collectives/INPUTS.md.
struct Golden {
  std::string fields;
  std::string bytes;

  friend void PrintTo(const Golden& golden, std::ostream* out) { *out << golden.fields; }
};

class GoldenInputTest : public testing::TestWithParam<Golden> {};

TEST_P(GoldenInputTest, IsAsDocumented) {
  const Case c = case_from_text(R"({"operation":"all_reduce","ranks":3,"data_seed":7,)" +
                                GetParam().fields + "}");
  const auto size = static_cast<std::int64_t>(GetParam().bytes.size() / 2 / bytes_of(c));
  EXPECT_EQ(hexadecimal(elements(c, 1, size)), GetParam().bytes) << to_text(c);
}

const std::vector<Golden> golden_inputs{
    {R"("type":"uint8","input":"coded")", "8c8f9baa"},
    {R"("type":"f16","input":"coded")", "8cb38fe39bbdaa7f"},
    {R"("type":"f32","input":"coded")", "000000484000004880000048c0000048"},
    {R"("type":"int32","input":"coded")", "00000200010002000200020003000200"},
    {R"("type":"f64","input":"coded")", "000000000000f041000010000000f041"},
    {R"("type":"complex64","input":"coded")", "000000484000004880000048c0000048"},
    {R"("type":"int8","input":"exact")", "fffdfdfd"},
    {R"("type":"bf16","input":"exact")", "40c000c1c0c00000"},
    {R"("type":"int32","input":"special")", "01000000000000800000008000000080"},
    {R"("type":"f8e4m3","input":"special")", "858180a3"},
    {R"("type":"f8e5m2")", "6d89ab53"},
    {R"("type":"f16","input":"each_special")", "007c00fcf68151ffbcfcfffbb4b40080"},
    {R"("type":"f8e5m2","input":"each_special")", "7cfc81fffdfbb480"},
    {R"("type":"complex64","input":"each_special")",
     "0000807f000080ff512d08808cb0dbffadafb6ffffff7fffb4b8c6be00000080"},
    {R"("type":"f32","op":"sum","input":"each_special")",
     "000000800000807f000080ffc7926b80adaff6ff0000807fffff7fff00000000"},
    {R"("type":"bf16","op":"prod","input":"each_special")", "0080807f80ff4680dbff807f7fff0000"},
    {R"("type":"complex128")", "6dc6d9872366cafb89c77173e3da57a4abcd5e60e012b9e753d5bfa5c6140a8c"},
    {R"("type":"int8","op":"prod","input":"exact")", "fefefefe"},
    {R"("type":"uint64","op":"prod","input":"coded")", "02000000000000000200000000000000"},
    {R"("type":"f32","op":"max","input":"coded")", "0000803f0000803f0000000000000040"},
    {R"("type":"int64","op":"min","input":"coded")", "01000000000000000100000000000000"},
    {R"("type":"f16","op":"sum","input":"coded")", "004c004800480048"},
    {R"("type":"uint32","op":"avg","input":"coded")", "10000000080000000800000008000000"},
    {R"("type":"complex64","op":"sum","input":"coded")", "00008041000000410000004100000041"},
    {R"("type":"int8","op":"sum","input":"exact")", "fffdfdfd"},
    {R"("type":"f64","op":"premul_sum","input":"exact")", "0000000030c20ac1000000008ca01fc1"},
    {R"("type":"f32","op":"sum","input":"exact")", "c098f3c8c07870c88075dcc780aae9c8"},
    {R"("type":"uint64","op":"max","input":"special")", "01000000000000000000000000000080"},
    {R"("type":"f32","op":"sum","input":"special")", "6dc6598089c771800000008053d53fbe"},
    {R"("type":"f32","op":"prod","input":"special")", "000000800000008000000080000080bf"},
    {R"("type":"f64","op":"min","input":"special")", "6dc6d98723660a8089c77173e3da0780"},
    {R"("type":"int32","op":"sum")", "6dc6d98789c77173abcd5e6053d5bfa5"},
    {R"("type":"f32","op":"prod")", "f23c8abf17198abf63ac82bfa33c95bf"},
    {R"("type":"bf16","op":"sum","input":"cancelling")", "2ec129c15cc158c1"},
    {R"("type":"complex128","op":"sum","input":"cancelling")",
     "aee2aaf4891c2ec0a982bcfef0b028c0dc94b2111e2724c058dbca1e990c25c0"},
    {R"("type":"f16","op":"avg","input":"wide_range")", "6d368953ab8d53b1"},
    {R"("type":"f32","op":"max")", "6dc6d9bd89c771bfabcddebd53d53fbf"},
    {R"("type":"f64","op":"sum")", "6dc6d9872366babf89c77173e3dae7bf"},
    {R"("type":"int32","op":"sum","input":"exact","scale":2,"added_seed":9)",
     "4065faff0490f5ff08dfeffffbb1e0ff"},
    {R"("type":"f16","op":"sum","input":"edge")", "547554f558f554f554f554f5547554f5"},
    {R"("type":"f32","op":"sum","input":"edge")", "aaaaaa7eaaaaaafeacaaaafeaaaaaafe"},
    {R"("type":"int32","op":"band","input":"coded")", "effffffff7fffffff7fffffff7ffffff"},
    {R"("type":"uint8","op":"bor","input":"coded")", "1000080018001800"},
    {R"("type":"int64","op":"bxor","input":"coded")", "10000000000000000800000000000000"},
    {R"("type":"uint32","op":"band")", "6dc6d98789c77173abcd5e60ffffffff"},
    {R"("type":"int8","op":"bor","input":"special")", "01808000ff000000"},
    {R"("type":"int32","op":"bxor","input":"exact")", "baa7fcffdd17f8ff567ff7fffc8af0ff"},
    {R"("type":"int32","op":"land")", "6dc6d98700000000abcd5e6053d5bfa5"},
    {R"("type":"uint64","op":"lor","input":"coded")", "6dc6d9872366cafb0000000000000000"},
    {R"("type":"int8","op":"lxor","input":"exact")", "ff00fd000000fe00"},
    {R"("type":"int64","op":"land","input":"special")", "01000000000000000000000000000080"},
    {R"("type":"uint8","op":"lor")", "6d00ab0000000000"},
    {R"("type":"complex64","op":"maxloc","input":"coded")", "000000000000b041000080bf0000a041"},
    {R"("type":"complex64","op":"minloc")", "c7e63dbf89c771bf9a5970be53d53fbf"},
    {R"("type":"complex128","op":"minloc","input":"special")", "01000000000000800000000000003640"},
    {R"("type":"complex64","op":"maxloc","input":"special")", "010000800000b041000000800000a041"},
    {R"("type":"int32","op":"compose","input":"coded")", "6dc6d98789c77173abcd5f6053d5bfa5"},
    {R"("type":"int64","op":"compose")", "6dc6d9872366cafb89c77173e3da57a4"},
    {R"("type":"int32","op":"compose","input":"special")", "01000000000000800000008000000080"},
};

INSTANTIATE_TEST_SUITE_P(Input,
                         GoldenInputTest,
                         testing::ValuesIn(golden_inputs),
                         tests::printed_name);

/// Fields of an operator's case, and components 3 to 5 of one of its arrays under seed 7. A program
/// in another language computed the bytes from two pages alone: harness/INPUTS.md and
/// cases/families/ptycho/INPUTS.md.
struct GoldenArray {
  spec::Array array;
  std::string fields;
  std::string bytes;

  friend void PrintTo(const GoldenArray& golden, std::ostream* out) {
    *out << spec::name(golden.array) << golden.fields;
  }
};

class GoldenArrayTest : public testing::TestWithParam<GoldenArray> {};

TEST_P(GoldenArrayTest, IsAsDocumented) {
  const Case c = case_from_text(R"({"operation":"crop","ranks":3,"counts":[1,1,1],"data_seed":7,)"
                                R"("rows":5,"cols":4,"window":3,"detector":4,"modes":2)" +
                                GetParam().fields + "}");
  Bytes bytes(3 * sizeof(float));
  fill_array(c, {.offset = 0, .count = 3, .array = GetParam().array, .first = 3}, bytes.data());
  EXPECT_EQ(hexadecimal(bytes), GetParam().bytes) << to_text(c);
}

constexpr const char* exact = R"(,"input":"exact")";
constexpr const char* wide_range = R"(,"input":"wide_range")";

const std::vector<GoldenArray> golden_arrays{
    {spec::Array::object, "", "38bbab3d4f4ceebec38b323e"},
    {spec::Array::probe, "", "62b64c3f01a0083f61b2a5be"},
    {spec::Array::positions, "", "0000653f0000753f00000f3f"},
    {spec::Array::frames, "", "2b089a3e7255443f9dcc6040"},
    {spec::Array::mask, "", "0000803f0000803f0000803f"},
    {spec::Array::owners, "", "0000803f000000000000803f"},
    {spec::Array::tile, "", "caa35d3f64d93d3fd1f65d3e"},
    {spec::Array::object, exact, "000000000000004000000040"},
    {spec::Array::positions, exact, "000000000000000000000000"},
    {spec::Array::frames, exact, "0000803f0000000000000040"},
    {spec::Array::positions, R"(,"scan":"overhanging","moved":2)", "0080a6400080c83f00006a40"},
    {spec::Array::object,
     R"(,"varied":"object","scale":2,"added_seed":9,"halvings":3)",
     "0eaca9bf581f71bfb896f9bf"},
    {spec::Array::frames,
     R"(,"varied":"frames","scale":2,"added_seed":9,"halvings":3)",
     "08bdfe3e9123aa4005e9fd40"},
    {spec::Array::frames, wide_range, "0008024600c0554490cc6049"},
    {spec::Array::probe, wide_range, "62b6cc4301a0884361b225c3"},
    {spec::Array::far_waves, wide_range, "659af6c2709a0fc29c49d6c2"},
    {spec::Array::exit_waves, "", "001c25be20578b3ec05d84be"},
    {spec::Array::exit_waves, wide_range, "001ca5c220570b43c05d04c3"},
    {spec::Array::exit_waves, R"(,"form":"twin")", "202dc5be8057113e004f173e"},
    {spec::Array::positions, R"(,"form":"raster")", "000000000000143f00000000"},
    {spec::Array::object, R"(,"form":"periodic")", "47ca72be4f4ceebec38b323e"},
    {spec::Array::probe, R"(,"form":"periodic")", "37c1093f01a0083f61b2a5be"},
};

INSTANTIATE_TEST_SUITE_P(Input,
                         GoldenArrayTest,
                         testing::ValuesIn(golden_arrays),
                         tests::printed_name);

TEST(InputTest, FineValuesAreAsDocumented) {
  const Case c = case_from_text(R"({"operation":"crop","ranks":1,"counts":[3],"data_seed":7,)"
                                R"("rows":5,"cols":4,"window":3,"detector":4,"type":"f64",)"
                                R"("input":"fine"})");
  const auto text = [&](spec::Array array) {
    Bytes bytes(2 * sizeof(double));
    fill_array(c, {.offset = 0, .count = 2, .array = array, .first = 0}, bytes.data());
    return hexadecimal(bytes);
  };
  EXPECT_EQ(text(spec::Array::object), "aece55f9686eb0bfa6799c222a62c5bf");
  EXPECT_EQ(text(spec::Array::frames), "0000000000000000480a39995cb8d23f");
}

TEST(InputTest, UnmeasuredPixelsAreAsDocumented) {
  const Case c = case_from_text(R"({"operation":"crop","ranks":1,"counts":[3],"data_seed":7,)"
                                R"("rows":5,"cols":4,"window":3,"detector":4,"input":"special"})");
  const auto text = [&](spec::Array array, std::int64_t first) {
    Bytes bytes(sizeof(float));
    fill_array(c, {.count = 1, .array = array, .first = first}, bytes.data());
    return hexadecimal(bytes);
  };
  EXPECT_EQ(text(spec::Array::mask, 13), "00000000");
  EXPECT_EQ(text(spec::Array::frames, 13), "000080fb");
  EXPECT_EQ(text(spec::Array::frames, 16 + 13), "0000c07f");
  EXPECT_EQ(text(spec::Array::frames, 32 + 13), "0000807f");
  EXPECT_EQ(text(spec::Array::frames, 3), "2b089a3e");
}

TEST(InputTest, HashIsAsDocumented) {
  EXPECT_EQ(CounterHash(1, 0)(0), 0xb18a02f46d8d86c3U);
  EXPECT_EQ(CounterHash(7, 3)(5), 0xaeffd877c3126126U);
}

TEST(InputTest, ScalarsAreAsDocumented) {
  const auto text = [](Type type, InputKind input) {
    const Case c = make(type, ReduceOp::premul_sum, input);
    Bytes bytes(bytes_of(c));
    fill_scalar(c, 1, bytes.data());
    return hexadecimal(bytes);
  };
  EXPECT_EQ(text(Type::f32, InputKind::coded), "0000803f");
  EXPECT_EQ(text(Type::f32, InputKind::general), "e63f4fbf");
  EXPECT_EQ(text(Type::f64, InputKind::exact), "000000000000f0bf");
  EXPECT_EQ(text(Type::uint8, InputKind::special), "01");
}

TEST(InputTest, PoisonIsAsDocumented) {
  Bytes bytes(11);
  fill_poison(make(Type::f32, ReduceOp::none, InputKind::general), 1, 0, bytes.data(), 11);
  EXPECT_EQ(hexadecimal(bytes), "1df4b8ac53d63ec5995f39");
}

}  // namespace
}  // namespace rankcheck::cases
