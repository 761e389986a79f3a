#include "gpu/device/nccl/library.hpp"

#include <stdexcept>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "gpu/device/nccl/types.hpp"

#include "tests/gpu/device/nccl/named.hpp"
#include "tests/harness/text.hpp"

namespace rankcheck::gpu::nccl {
namespace {

std::string complaint(const std::string& path) {
  return harness::complaint_of<std::runtime_error>([&] { return Library(named(path)); });
}

TEST(NcclLibraryTest, IsLoadedFromTheFileThatIsNamed) {
  const Library library(named(RANKCHECK_STAND_IN_NCCL));
  EXPECT_EQ(library.loaded().file, RANKCHECK_STAND_IN_NCCL);
  EXPECT_EQ(library.version_text(), "2.28.9");
  EXPECT_TRUE(library.on_host());
  EXPECT_TRUE(library.missing().empty());
}

TEST(NcclLibraryTest, NamesWhatAnOlderOneLacks) {
  const Library library(named(RANKCHECK_STAND_IN_NCCL_OLD));
  EXPECT_EQ(fmt::format("{}", fmt::join(library.missing(), " ")),
            "ncclAlltoAll ncclCommDeregister ncclCommRegister ncclCommSplit "
            "ncclCommWindowDeregister ncclCommWindowRegister ncclGather ncclGetLastError "
            "ncclMemAlloc ncclMemFree ncclScatter");
  EXPECT_EQ(library.version_text(), "2.17.3");
  EXPECT_FALSE(library.has("ncclGather"));
  EXPECT_TRUE(library.has("ncclSend"));
}

TEST(NcclLibraryTest, SaysInALineWhyItIsNone) {
  EXPECT_TRUE(
      harness::has(complaint("/nowhere/libnccl.so.2"), "/nowhere/libnccl.so.2", "--nccl-library"));
  EXPECT_TRUE(harness::has(complaint("libm.so.6"),
                           "libm.so.6: not NCCL: it has no function ncclGetVersion: "));
}

TEST(NcclLibraryTest, TellsRefusalsFromDefects) {
  const Library library(named(RANKCHECK_STAND_IN_NCCL));
  library.check(ncclSuccess, "call");
  for (int code = ncclUnhandledCudaError; code < ncclNumResults; ++code) {
    try {
      library.check(static_cast<ncclResult_t>(code), "call");
      FAIL() << code;
    } catch (const Error& error) {
      EXPECT_EQ(error.is_refusal(), code == ncclInvalidArgument || code == ncclInvalidUsage);
      EXPECT_EQ(std::string(error.what()).find("call: "), 0U);
    }
  }
}

TEST(NcclTypesTest, HaveNcclsSizes) {
  for (const spec::TypeInfo& each : spec::type_table) {
    const TypeWords words = words_of(each.type);
    // Bytes of the types in the order of ncclDataType_t: 1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1.
    constexpr std::string_view sizes = "114488248211";
    const auto bytes = static_cast<std::size_t>(sizes[words.type] - '0');
    EXPECT_EQ(bytes * words.factor, static_cast<std::size_t>(each.bytes)) << each.name;
  }
}

TEST(NcclTypesTest, CameWithVersions) {
  EXPECT_EQ(why_unknown(spec::Type::f8e5m2, spec::ReduceOp::none, 22400), "");
  EXPECT_NE(why_unknown(spec::Type::f8e5m2, spec::ReduceOp::none, 22399), "");
  EXPECT_NE(why_unknown(spec::Type::bf16, spec::ReduceOp::sum, 20900), "");
  EXPECT_NE(why_unknown(spec::Type::f32, spec::ReduceOp::avg, 2809), "");
  EXPECT_EQ(why_unknown(spec::Type::f32, spec::ReduceOp::avg, 21000), "");
}

TEST(NcclTypesTest, HaveNoBitsAndNoTruthValues) {
  for (const spec::ReduceOp op : {spec::ReduceOp::band, spec::ReduceOp::lxor}) {
    EXPECT_EQ(why_unknown(spec::Type::int32, op, 22900),
              "op: NCCL has neither bitwise nor logical reductions");
  }
}

TEST(NcclTypesTest, HaveNoLocationsAndNoMaps) {
  EXPECT_EQ(why_unknown(spec::Type::complex64, spec::ReduceOp::minloc, 22900),
            "op: NCCL has neither maxloc nor minloc");
  EXPECT_EQ(why_unknown(spec::Type::int64, spec::ReduceOp::compose, 22900),
            "op: NCCL has no reductions that do not commute");
}

}  // namespace
}  // namespace rankcheck::gpu::nccl
