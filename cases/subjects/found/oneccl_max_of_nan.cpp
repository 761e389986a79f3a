/// oneCCL 2022.1.2: the maximum of NaN and 1 is NaN on one rank and 1 on the other. Ends with 1.
#include <cmath>
#include <cstdio>
#include <memory>

#include <oneapi/ccl.hpp>
#include <sys/wait.h>
#include <unistd.h>

int main() {
  int addresses[2];
  int results[2];
  if (::pipe(addresses) != 0 || ::pipe(results) != 0) return 2;
  const pid_t child = ::fork();
  const int rank = child == 0 ? 1 : 0;
  ccl::init();
  std::shared_ptr<ccl::kvs> store;
  ccl::kvs::address_type address{};
  if (rank == 0) {
    store = ccl::create_main_kvs();
    address = store->get_address();
    if (::write(addresses[1], address.data(), address.size()) < 0) return 2;
  } else {
    if (::read(addresses[0], address.data(), address.size()) < 0) return 2;
    store = ccl::create_kvs(address);
  }
  const ccl::communicator comm = ccl::create_communicator(2, rank, store);
  const float sent = rank == 0 ? NAN : 1.0F;
  float got = 0;
  ccl::allreduce(&sent, &got, 1, ccl::reduction::max, comm).wait();
  if (rank == 1) return ::write(results[1], &got, sizeof got) < 0 ? 2 : 0;
  float other = 0;
  if (::read(results[0], &other, sizeof other) < 0 || ::waitpid(child, nullptr, 0) < 0) return 2;
  std::printf("the maximum of NaN and 1: %g on rank 0, %g on rank 1\n", got, other);
  return std::isnan(got) == std::isnan(other) ? 0 : 1;
}
