// backends.h: the backends that the conformance suite runs on, one fixture each (any_backend.h).
#pragma once

#include <boost/test/unit_test.hpp>
#include <string>
#include <tuple>

#if RINGPOST_CONFORMANCE_KERNELS
#include "tests/gpu/kernel_backend.h"
#include "tests/gpu/needs_gpu.h"
#else
#include "tests/conformance/live_backend.h"
#include "tests/conformance/proxy_backend.h"
#endif
#if RINGPOST_CONFORMANCE_SIM
#include "tests/conformance/mlx5_backend.h"
#include "tests/conformance/sim_backend.h"
#endif

namespace ringpost::conformance {

// Whether this machine has a ConnectX: empty, or why not.
#if RINGPOST_CONFORMANCE_SIM || RINGPOST_CONFORMANCE_KERNELS
inline const std::string& MissingConnectX() {
  static const std::string missing = [] {
    const auto nic = Mlx5Nic::Open({});
    return nic.Ok() ? std::string() : nic.Message();
  }();
  return missing;
}
// Without one the cases of mlx5 are skipped.
inline boost::test_tools::assertion_result HasConnectXIfNeeded(boost::unit_test::test_unit_id id) {
  const std::string name = boost::unit_test::framework::get(id, boost::unit_test::TUT_ANY).p_name;
  boost::test_tools::assertion_result result(name.find("Mlx5") == std::string::npos ||
                                             MissingConnectX().empty());
  result.message() << MissingConnectX();
  return result;
}
#endif

// HasDevice says whether a case's backend has its device.
#if RINGPOST_CONFORMANCE_KERNELS
using Backends = std::tuple<LiveKernelBackend, Mlx5KernelBackend>;
inline boost::test_tools::assertion_result HasDevice(boost::unit_test::test_unit_id id) {
  boost::test_tools::assertion_result gpu = NeedsGpu(id);
  return gpu ? HasConnectXIfNeeded(id) : gpu;
}
#elif RINGPOST_CONFORMANCE_SIM
using Backends = std::tuple<SimBackend, LiveBackend, Mlx5DevxBackend, Mlx5VerbsBackend,
                            ProxyBackendOf<SimBackend>, ProxyBackendOf<LiveBackend>,
                            ProxyBackendOf<Mlx5DevxBackend>, ProxyBackendOf<Mlx5VerbsBackend> >;
// Those that can delay an answer.
using DelayingBackends = std::tuple<SimBackend, ProxyBackendOf<SimBackend> >;
inline boost::test_tools::assertion_result HasDevice(boost::unit_test::test_unit_id id) {
  return HasConnectXIfNeeded(id);
}
#else
// Under ThreadSanitizer: virtual time has one thread, and nothing to show it.
using Backends = std::tuple<LiveBackend, ProxyBackendOf<LiveBackend> >;
inline boost::test_tools::assertion_result HasDevice(boost::unit_test::test_unit_id) {
  return true;
}
#endif

}  // namespace ringpost::conformance
