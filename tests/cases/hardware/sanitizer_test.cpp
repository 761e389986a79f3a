#include "cases/hardware/sanitizer.hpp"

#include <string>

#include <gtest/gtest.h>

#include "tests/harness/text.hpp"

namespace rankcheck::cases::hardware {
namespace {

/// Returns why a sanitizer that is a shell script is not trusted.
std::string blindness(const std::string& script) {
  return why_blind({.arguments = {"/bin/sh", "-c", script}, .environment = {}}, 20);
}

constexpr const char* report = "echo '========= Invalid __global__ write of size 8 bytes'; ";

TEST(SanitizerTest, IsTrustedIfItReportsThePlantedWrite) {
  EXPECT_EQ(blindness(std::string(report) + "exit 86"), "");
}

TEST(SanitizerTest, IsNotTrustedOtherwise) {
  const std::string before = "compute-sanitizer was to report a planted write out of bounds: ";
  const std::string behind = ". So its silence says nothing";
  EXPECT_EQ(blindness("exit 0"), before + "it did not report it" + behind);
  // It talks, but a gate would see no failure.
  EXPECT_EQ(blindness(std::string(report) + "exit 0"), before + "it did not report it" + behind);
  // Another error than the planted one.
  EXPECT_EQ(blindness("echo '========= Program hit cudaErrorNoDevice'; exit 86"),
            before + "it ended with status 86, but without the words \"Invalid __global__ write\"" +
                behind);
  EXPECT_EQ(blindness("echo 'no such device' >&2; exit 1"),
            before + "it ended with status 1: no such device" + behind);
}

TEST(SanitizerTest, IsNotTrustedIfItCannotRun) {
  const std::string sanitizer = "/nowhere/compute-sanitizer";
  EXPECT_TRUE(
      harness::has(why_blind({.arguments = {sanitizer}, .environment = {}}, 20), sanitizer));
}

TEST(SanitizerTest, IsAskedToHaveAStatusOfItsOwn) {
  EXPECT_EQ(sanitizer_launcher("/usr/bin/compute-sanitizer"),
            "/usr/bin/compute-sanitizer --error-exitcode 86");
}

}  // namespace
}  // namespace rankcheck::cases::hardware
