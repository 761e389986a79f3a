#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "reference/collectives/all_reduce/contract.hpp"

#include "harness/backend/backend.hpp"
#include "harness/case/image.hpp"
#include "harness/worker/protocol.hpp"

#include "cases/families/collectives/case.hpp"
#include "tests/harness/sample.hpp"
#include "tests/harness/text.hpp"

/// Workers that are scripts, and the case that tests give to them.
namespace rankcheck::harness::worker {

/// Knows all_reduce only.
inline const spec::Contract* contract_of_sum(std::string_view name) {
  static const spec::Contract contract = reference::all_reduce::contract();
  return name == contract.name ? &contract : nullptr;
}

/// An all_reduce of two elements.
inline Case sum_of_two(const std::string& algorithm = "fake") {
  Case c;
  c.operation = "all_reduce";
  c.algorithm = algorithm;
  c.count = 2;
  cases::collective(c).op = spec::ReduceOp::sum;
  return c;
}

inline Observation run_once(Backend& backend, const Case& c = sum_of_two()) {
  Observation seen;
  backend.run(std::span(&c, 1), seen);
  return seen;
}

/// Returns the status, and the reason if there is one.
inline std::string outcome_of(const Observation& seen) {
  return with_reason(name(seen.status), seen.reason);
}

/// The hello of a process with these ranks, which has the algorithm `fake`.
inline Hello hello_of(std::vector<int> ranks = {0}, int world = 1) {
  Hello hello;
  hello.world = world;
  hello.ranks = std::move(ranks);
  hello.traits.name = "fake";
  hello.algorithms = {{{"all_reduce", "fake", ""}, {}}};
  return hello;
}

/// The hello of a process that also has `other`, in another environment.
inline Hello hello_with_other() {
  Hello hello = hello_of();
  hello.algorithms.push_back({{"all_reduce", "other", ""}, {{"K", "V"}}});
  return hello;
}

/// A folder with the frames that the scripts send: a `hello`, and the `result` of the first run.
class ScriptTest : public testing::Test {
 protected:
  ScriptTest() {
    ImageLayout layout;
    lay_out(*contract_of_sum("all_reduce"), sum_of_two(), 0, ResultPlace::own_block, layout);
    image_.resize(static_cast<std::size_t>(layout.size), std::byte{7});
    write("hello", to_json(hello_of()));
    write_result("result", image_);
  }

  [[nodiscard]] std::string file(const std::string& name) const { return folder_.path() / name; }

  void write(const std::string& name, const nlohmann::ordered_json& header) const {
    EXPECT_TRUE(connect(name).send(header));
  }
  void write_result(const std::string& name,
                    const Image& image,
                    const std::string& path = "fake") const {
    Observation result;
    result.path = {path};
    result.stages = {{{image}, {{1, 2}}}};
    Connection connection = connect(name);
    EXPECT_TRUE(send_result(connection, 1, result));
  }
  /// Writes the result of a run that did not complete, with these fields besides.
  void write_failure(const std::string& name, const nlohmann::ordered_json& fields) const {
    const nlohmann::ordered_json none = nlohmann::ordered_json::array();
    nlohmann::ordered_json result{{"result", 1}, {"path", none}, {"stamps", none}, {"sizes", none}};
    result.update(fields);
    write(name, result);
  }

  TemporaryFolder folder_;
  Image image_;

 private:
  [[nodiscard]] Connection connect(const std::string& name) const {
    return {-1, ::open(file(name).c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0600)};
  }
};

}  // namespace rankcheck::harness::worker
