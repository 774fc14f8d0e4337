#include "bench/gpu/live_put_kernels.h"

#include <cuda_runtime.h>

#include <algorithm>

#include "transport/cuda_port.cuh"
#include "transport/endpoint.h"
#include "transport/publication/pairs.h"

namespace ringpost::bench {
namespace {

constexpr uint32_t kWarmUp = 512;

struct Recorded {
  uint32_t issue[kLivePuts];
  uint32_t whole[kLivePuts];
  uint64_t cycles;  // of the whole loop, by both clocks
  uint64_t ps;
  Completion last;
};

struct PutJob {
  QpView view;
  RemoteSpan target;
};

// Samples are kept in shared memory, so that none is outstanding at a fence.
template <class Publication, class Ordering>
__global__ void PutsKernel(const __grid_constant__ PutJob job, Recorded* out) {
  __shared__ uint32_t issue[kLivePuts];
  __shared__ uint32_t whole[kLivePuts];
  CudaPort port;
  const QpTable table{&job.view, 1, 0, 1, 0};
  Endpoint<CudaPort, Publication, Ordering> endpoint(port, table);
  Completion done;
  const uint64_t first_ps = port.Now();
  const long long first = clock64();
  for (uint64_t i = 0; i < kWarmUp + kLivePuts && done.Ok(); ++i) {
    const long long begin = clock64();
    const Posted posted = endpoint.PutInline(job.target, &i, sizeof(i));
    port.template Fence<Order::kAcqRel, Scope::kThread>(job.view);
    const long long issued = clock64();
    done = endpoint.Wait(posted);
    const long long end = clock64();
    if (i < kWarmUp) continue;
    issue[i - kWarmUp] = static_cast<uint32_t>(issued - begin);
    whole[i - kWarmUp] = static_cast<uint32_t>(end - begin);
  }
  out->cycles = static_cast<uint64_t>(clock64() - first);
  out->ps = port.Now() - first_ps;
  out->last = done;
  for (uint32_t i = 0; i < kLivePuts; ++i) out->issue[i] = issue[i];
  for (uint32_t i = 0; i < kLivePuts; ++i) out->whole[i] = whole[i];
}

template <class Publication, class Ordering>
__global__ void FlagsKernel(const __grid_constant__ LiveFlags rank, uint32_t number,
                            Recorded* out) {
  __shared__ uint32_t whole[kLivePuts];
  CudaPort port;
  const QpTable table{&rank.view, 1, 0, 1, 0};
  Endpoint<CudaPort, Publication, Ordering> endpoint(port, table);
  Completion done;
  const uint64_t first_ps = port.Now();
  const long long first = clock64();
  for (uint64_t i = 1; i <= kWarmUp + kLivePuts && done.Ok(); ++i) {
    const long long begin = clock64();
    if (number != 0) done = endpoint.WaitSignal(Ref<uint64_t>{rank.mine}, i);
    if (!done.Ok()) break;
    done = endpoint.PutInline(rank.peers, &i, sizeof(i)).status;
    if (number == 0 && done.Ok()) done = endpoint.WaitSignal(Ref<uint64_t>{rank.mine}, i);
    if (i > kWarmUp) whole[i - kWarmUp - 1] = static_cast<uint32_t>(clock64() - begin);
  }
  out->cycles = static_cast<uint64_t>(clock64() - first);
  out->ps = port.Now() - first_ps;
  out->last = done;
  for (uint32_t i = 0; i < kLivePuts; ++i) out->issue[i] = out->whole[i] = whole[i];
}

struct RateJob {
  const QpView* views;
  uint32_t count;
  RemoteSpan target;
  uint32_t puts;
  Completion* last;
};

template <class Publication, class Ordering>
__global__ void RateKernel(const __grid_constant__ RateJob job) {
  CudaPort port;
  const uint32_t thread = blockIdx.x;
  const QpTable table{job.views, job.count, 0, job.count, thread};
  Endpoint<CudaPort, Publication, Ordering> endpoint(port, table);
  Completion done;
  for (uint64_t i = 0; i < job.puts && done.Ok(); ++i) {
    done = endpoint.PutInline({job.target.address + 8 * thread, job.target.rkey}, &i, sizeof(i))
               .status;
  }
  if (done.Ok()) done = endpoint.Quiet(CompletionScope::kSelectedQp);
  if (!done.Ok()) *job.last = done;
}

std::string Text(cudaError_t error, const Completion& last) {
  if (error != cudaSuccess) return cudaGetErrorString(error);
  if (last.Ok()) return {};
  return "status " + std::to_string(static_cast<int>(last.status)) + ", syndrome " +
         std::to_string(last.syndrome);
}

LiveTimes TimesOf(const Recorded& recorded, cudaError_t error) {
  LiveTimes times;
  times.refusal = Text(error, recorded.last);
  if (!times.refusal.empty()) return times;
  times.clock_mhz = 1e6 * static_cast<double>(recorded.cycles) / static_cast<double>(recorded.ps);
  for (const uint32_t cycles : recorded.issue)
    times.issue.push_back(1e3 * cycles / times.clock_mhz);
  for (const uint32_t cycles : recorded.whole)
    times.whole.push_back(1e3 * cycles / times.clock_mhz);
  std::sort(times.issue.begin(), times.issue.end());
  std::sort(times.whole.begin(), times.whole.end());
  return times;
}

// The memory of `count` of something for kernels, zeroed, and of the host once it is fetched.
template <class T>
class OnDevice {
 public:
  explicit OnDevice(uint32_t count) : host_(count) {
    error_ = cudaMalloc(&device_, count * sizeof(T));
    if (error_ == cudaSuccess) error_ = cudaMemset(device_, 0, count * sizeof(T));
    if (error_ == cudaSuccess) error_ = cudaDeviceSynchronize();
  }
  ~OnDevice() { cudaFree(device_); }
  T* Device() { return device_; }
  cudaError_t Error() const { return error_; }
  // Waits for all kernels.
  cudaError_t Fetch() {
    if (error_ == cudaSuccess) error_ = cudaDeviceSynchronize();
    if (error_ == cudaSuccess) {
      error_ = cudaMemcpy(host_.data(), device_, host_.size() * sizeof(T), cudaMemcpyDefault);
    }
    return error_;
  }
  const T& operator[](uint32_t i) const { return host_[i]; }

 private:
  T* device_ = nullptr;
  std::vector<T> host_;
  cudaError_t error_ = cudaSuccess;
};

}  // namespace

LiveTimes TimePuts(const std::string& ordering, const QpView& view, RemoteSpan target) {
  OnDevice<Recorded> recorded(1);
  if (recorded.Error() == cudaSuccess) {
    VisitPair("per_thread", ordering, [&]<class Publication, class O>() {
      PutsKernel<Publication, O><<<1, 1>>>({view, target}, recorded.Device());
    });
  }
  const cudaError_t error = recorded.Fetch();
  return TimesOf(recorded[0], error);
}

LiveTimes TimeRoundTrips(const std::string& ordering, const LiveFlags (&ranks)[2]) {
  OnDevice<Recorded> recorded(2);
  cudaStream_t streams[2] = {};
  for (uint32_t i = 0; i < 2 && recorded.Error() == cudaSuccess; ++i) {
    if (cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking) != cudaSuccess) break;
    VisitPair("per_thread", ordering, [&]<class Publication, class O>() {
      FlagsKernel<Publication, O><<<1, 1, 0, streams[i]>>>(ranks[i], i, recorded.Device() + i);
    });
  }
  const cudaError_t error = recorded.Fetch();
  for (const cudaStream_t stream : streams) cudaStreamDestroy(stream);
  return TimesOf(recorded[0], error);
}

double PutRate(const std::string& publication, const std::string& ordering,
               const std::vector<QpView>& views, RemoteSpan target, uint32_t puts,
               std::string* refusal) {
  const auto count = static_cast<uint32_t>(views.size());
  OnDevice<QpView> table(count);
  OnDevice<Completion> last(1);
  cudaEvent_t begin = nullptr;
  cudaEvent_t end = nullptr;
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  cudaMemcpy(table.Device(), views.data(), count * sizeof(QpView), cudaMemcpyDefault);
  cudaEventRecord(begin);
  VisitPair(publication, ordering, [&]<class Publication, class O>() {
    RateKernel<Publication, O><<<count, 1>>>({table.Device(), count, target, puts, last.Device()});
  });
  cudaEventRecord(end);
  const cudaError_t error = last.Fetch();
  float ms = 0;
  cudaEventElapsedTime(&ms, begin, end);
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  *refusal = Text(error, last[0]);
  return refusal->empty() ? 1e3 * puts * count / ms : 0;
}

}  // namespace ringpost::bench
