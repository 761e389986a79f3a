#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "reference/registry.hpp"

#include "harness/backend/backend.hpp"
#include "harness/base/files.hpp"
#include "harness/case/image.hpp"
#include "harness/worker/protocol.hpp"

#include "cases/families/collectives/case.hpp"
#include "tests/harness/sample.hpp"
#include "tests/harness/text.hpp"

/// Workers that are scripts, and the case that tests give to them.
namespace rankcheck::harness::worker {

/// An all_reduce of so many elements.
inline Case sum_of(std::int64_t count, const std::string& algorithm = "fake") {
  Case c;
  c.operation = "all_reduce";
  c.algorithm = algorithm;
  c.count = count;
  cases::collective(c).op = spec::ReduceOp::sum;
  return c;
}
inline Case sum_of_two(const std::string& algorithm = "fake") {
  return sum_of(2, algorithm);
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

/// What workers in Perl have: connect_to_harness(), give() to send a file, get() to read so many
/// bytes, and answer(). It answers each run with its image, which `change` may change before.
inline constexpr const char* perl_functions = R"(
    use IO::Socket::UNIX;
    sub connect_to_harness { return IO::Socket::UNIX->new(Peer => $ENV{RANKCHECK_SOCKET}); }
    sub give { my ($to, $name) = @_;
        open(my $f, '<', $name); local $/; print {$to} <$f>; $to->flush; }
    sub get { my ($from, $n) = @_; my $b = ''; while (length($b) < $n) {
        sysread($from, $b, $n - length($b), length($b)) or exit 0; } return $b; }
    sub answer { my ($from, $to, $change) = @_; while (1) {
        my $h = get($from, unpack('V', get($from, 4)));
        my ($n) = $h =~ /"payload":(\d+)/;
        my ($run) = $h =~ /"run":(\d+)/;
        my $image = get($from, $n);
        $change->($h, $image);
        my $r = qq({"result":$run,"status":"completed","path":["fake"],"stamps":[[[1,2]]],) .
                qq("sizes":[[$n]],"payload":$n});
        print {$to} pack('V', length($r)), $r, $image; $to->flush; } }
)";

/// A folder with the frames that the scripts send: a `hello`, the `result` of the first run, and
/// the `progress` of its rank.
class ScriptTest : public testing::Test {
 protected:
  ScriptTest() {
    ImageLayout layout;
    const spec::Contract& contract = reference::contract_named("all_reduce");
    lay_out(contract, sum_of_two(), 0, ResultPlace::own_block, layout);
    image_.resize(static_cast<std::size_t>(layout.size), std::byte{7});
    write("hello", to_json(hello_of()));
    write_result("result", image_);
    write("progress", {{"progress", 1}, {"rank", 0}, {"stage", 0}});
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
  void write_perl(const std::string& program) const {
    write_file(file("worker.pl"), perl_functions + program);
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
