#include "tests/gpu/device/cuda/stand_in/streams.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "tests/gpu/device/cuda/stand_in/cuda_runtime.h"
#include "tests/gpu/device/cuda/stand_in/faults.hpp"
#include "tests/gpu/device/cuda/stand_in/memory.hpp"

namespace rankcheck::stand_in {

namespace {

void run_grid(const cudaLaunchConfig_t& config, bool backwards, const std::function<void()>& one) {
  if (is_planted("illegal_address")) break_devices(cudaErrorIllegalAddress);
  const unsigned blocks = config.gridDim.x;
  const unsigned threads = config.blockDim.x;
  gridDim = {blocks, 1, 1};
  blockDim = {threads, 1, 1};
  const unsigned done = is_planted("lost_block") ? blocks - 1 : blocks;
  for (unsigned b = 0; b < done; ++b) {
    blockIdx = {backwards ? blocks - 1 - b : b, 0, 0};
    for (unsigned t = 0; t < threads; ++t) {
      threadIdx = {backwards ? threads - 1 - t : t, 0, 0};
      one();
    }
  }
}

/// Plants the fault `flipped_load`: makes one bit wrong in each copy that a kernel has made.
void flip_copies(const std::vector<Held>& before, std::uint64_t devices) {
  const std::vector<Held> after = held(devices);
  for (std::size_t i = 0; i < after.size(); ++i) {
    const bool is_copy = after[i].bytes != before[i].bytes &&
                         std::any_of(after.begin(), after.end(), [&](const Held& each) {
                           return each.begin != after[i].begin && each.bytes == after[i].bytes;
                         });
    if (is_copy) after[i].begin[after[i].bytes.size() / 2] ^= std::byte{1};
  }
}

}  // namespace

cudaError_t why_not(cudaStream_t stream) {
  // The stand-in has no default stream.
  if (stream == nullptr) return cudaErrorNotSupported;
  return stream->device == current_device() ? cudaSuccess : cudaErrorInvalidResourceHandle;
}

void enqueue(cudaStream_t stream, std::uint64_t opens, std::function<void()> work, bool is_copy) {
  Task task{.device = stream->device, .opens = opens, .work = std::move(work)};
  if (stream->capture == nullptr) {
    const bool overtakes = is_planted("overtakes") && !is_copy;
    task.waits = {overtakes ? stream->tail_without_copies : stream->tail};
    stream->tail = Scheduler::get().add(std::move(task));
    if (!is_copy) stream->tail_without_copies = stream->tail;
    return;
  }
  auto& nodes = stream->capture->nodes;
  nodes.push_back({std::move(task), {stream->front.begin(), stream->front.end()}});
  stream->front = {nodes.size() - 1};
}

cudaError_t launch(const cudaLaunchConfig_t& config, std::function<void()> thread) {
  constexpr unsigned threads_max = 1024;
  if (const cudaError_t code = why_not(config.stream); code != cudaSuccess) return answer(code);
  const bool is_sound = config.gridDim.x > 0 && config.gridDim.y == 1 && config.gridDim.z == 1 &&
                        config.blockDim.x > 0 && config.blockDim.x <= threads_max &&
                        config.blockDim.y == 1 && config.blockDim.z == 1 &&
                        config.dynamicSmemBytes == 0;
  if (!is_sound) return answer(cudaErrorInvalidConfiguration);
  // Threads run in an order that the kernel cannot know.
  const bool backwards = Scheduler::get().draw(2) != 0;
  const std::uint64_t reach = reach_of(config.stream->device);
  enqueue(config.stream, reach, [config, backwards, reach, thread = std::move(thread)] {
    const bool flips = is_planted("flipped_load");
    const std::vector<Held> before = flips ? held(reach) : std::vector<Held>();
    run_grid(config, backwards, thread);
    if (flips) flip_copies(before, reach);
  });
  return cudaSuccess;
}

extern "C" {

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  // Other streams would wait for the default stream, which the stand-in does not have.
  if (flags != cudaStreamNonBlocking) return answer(cudaErrorNotSupported);
  *stream = new CUstream_st{.device = current_device()};
  return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  if (stream == nullptr) return answer(cudaErrorInvalidResourceHandle);
  // Work that was already enqueued is still done.
  if (stream->capture != nullptr) return answer(cudaErrorStreamCaptureUnsupported);
  delete stream;
  return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  if (stream == nullptr) return answer(cudaErrorNotSupported);
  if (stream->capture != nullptr) {
    stream->capture->is_broken = true;
    return answer(cudaErrorStreamCaptureUnsupported);
  }
  if (!is_planted("early_return")) {
    Scheduler::get().finish(stream->tail);
    for (const auto& late : std::exchange(stream->late_launches, {})) late();
    Scheduler::get().finish(stream->tail);
  }
  expect_guards(stream->device);
  return answer(cudaSuccess);
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned /*flags*/) {
  if (stream == nullptr || event == nullptr) return answer(cudaErrorInvalidResourceHandle);
  if (event->capture == nullptr) {
    if (stream->capture != nullptr) {
      stream->capture->is_broken = true;
      return answer(cudaErrorStreamCaptureIsolation);
    }
    if (event->recorded == nullptr || is_planted("deaf_wait")) return cudaSuccess;
    const auto& before = is_planted("overtakes") ? stream->tail_without_copies : stream->tail;
    stream->tail =
        Scheduler::get().add({.device = stream->device, .waits = {before, event->recorded}});
    stream->tail_without_copies = stream->tail;
    return cudaSuccess;
  }
  if (event->capture->origin == nullptr) return answer(cudaErrorCapturedEvent);
  if (stream->capture != nullptr && stream->capture != event->capture) {
    stream->capture->is_broken = true;
    event->capture->is_broken = true;
    return answer(cudaErrorStreamCaptureMerge);
  }
  if (stream->capture == nullptr) {
    stream->capture = event->capture;
    stream->capture->streams.insert(stream);
  }
  stream->front.insert(event->nodes.begin(), event->nodes.end());
  return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return cudaEventCreateWithFlags(event, 0);
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  *event =
      new CUevent_st{.device = current_device(), .has_time = (flags & cudaEventDisableTiming) == 0};
  return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  if (event == nullptr) return answer(cudaErrorInvalidResourceHandle);
  delete event;
  return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  if (stream == nullptr) return answer(cudaErrorNotSupported);
  if (event == nullptr || event->device != stream->device) {
    return answer(cudaErrorInvalidResourceHandle);
  }
  event->capture = stream->capture;
  event->nodes = stream->front;
  event->recorded = nullptr;
  if (stream->capture == nullptr) {
    const auto before = stream->tail;
    enqueue(stream, 0, {});
    event->recorded = stream->tail;
    if (is_planted("early_event") && before != nullptr) {
      event->recorded = Scheduler::get().add({.device = stream->device, .waits = before->waits});
    }
  }
  return cudaSuccess;
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end) {
  for (cudaEvent_t each : {begin, end}) {
    if (each == nullptr || !each->has_time || each->recorded == nullptr) {
      return answer(cudaErrorInvalidResourceHandle);
    }
    if (!each->recorded->done) return answer(cudaErrorNotReady);
  }
  if (begin->device != end->device) return answer(cudaErrorInvalidResourceHandle);
  constexpr double ns_per_ms = 1e6;
  const auto between = static_cast<double>(end->recorded->done_ns - begin->recorded->done_ns);
  const double lie = is_planted("no_time")          ? 0
                     : is_planted("time_backwards") ? -1
                     : is_planted("time_in_us")     ? 1000
                     : is_planted("time_of_nan")    ? std::numeric_limits<double>::quiet_NaN()
                                                    : 1;
  *milliseconds = static_cast<float>(lie * between / ns_per_ms);
  return cudaSuccess;
}

}  // extern "C"

}  // namespace rankcheck::stand_in
