#include "gpu/device/nccl/meeting.hpp"

#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

namespace rankcheck::gpu::nccl {

namespace {

std::string place_of(int rank) {
  return fmt::format("rank-{}", rank);
}

}  // namespace

Meeting::Meeting(std::filesystem::path folder, std::chrono::milliseconds patience)
    : folder_(std::move(folder)), patience_(patience) {}

void Meeting::publish(const std::string& key, const std::string& value) const {
  const std::filesystem::path path = folder_ / key;
  std::filesystem::path temporary = path;
  temporary += fmt::format(".{}.tmp", ::getpid());
  std::ofstream file(temporary, std::ios::binary);
  file << value;
  file.close();
  std::error_code error;
  if (file) std::filesystem::rename(temporary, path, error);
  if (file && !error) return;
  throw std::runtime_error(fmt::format("cannot publish '{}' in {}", key, folder_.string()));
}

std::string Meeting::await(const std::string& key) const {
  if (!appears(key, deadline())) {
    throw std::runtime_error(fmt::format(
        "nobody published '{}' within {} ms, in {}", key, patience_.count(), folder_.string()));
  }
  std::ifstream file(folder_ / key, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void Meeting::gather(int rank, int ranks) const {
  publish(place_of(rank), {});
  const Deadline end = deadline();
  for (int each = 0; each < ranks; ++each) {
    if (appears(place_of(each), end)) continue;
    throw std::runtime_error(
        fmt::format("rank {} did not start within {} ms", each, patience_.count()));
  }
}

bool Meeting::appears(const std::string& key, Deadline deadline) const {
  constexpr std::chrono::milliseconds pause{1};
  while (!std::filesystem::exists(folder_ / key)) {
    if (std::chrono::steady_clock::now() >= deadline) return false;
    std::this_thread::sleep_for(pause);
  }
  return true;
}

}  // namespace rankcheck::gpu::nccl
