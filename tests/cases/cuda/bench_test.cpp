#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/cases/cuda/on_stand_in.hpp"

/// `rankcheck bench --backend cuda`, and what the worker is asked for beside running cases.
namespace rankcheck {
namespace {

using tests::Outcome;

class CudaBench : public tests::OnStandIn {
 protected:
  Outcome bench(const std::string& surroundings, const std::string& arguments) {
    return shell(surroundings + " " + program_ +
                 " bench --backend cuda --min-time 0.01 --bytes 4096 --frames 64 --width 64 " +
                 arguments);
  }
};

TEST_F(CudaBench, NamesTheDevices) {
  const Outcome outcome = bench("", "--filter large/cuda/all_reduce/ring/* --json bench.json");
  EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  EXPECT_NE((outcome.out + outcome.err).find("stand-in, on this host"), std::string::npos)
      << outcome.out << outcome.err;
  const auto context = nlohmann::json::parse(text_of("bench.json")).at("context");
  EXPECT_NE(context.at("cuda").get<std::string>().find("stand-in, on this host"),
            std::string::npos);
}

}  // namespace
}  // namespace rankcheck
