// backends.h: the backends that the conformance suite runs on, one fixture each (any_backend.h).
#pragma once

#include <boost/test/unit_test.hpp>
#include <string>
#include <tuple>

#include "tests/conformance/live_backend.h"
#if RINGPOST_CONFORMANCE_SIM
#include "tests/conformance/mlx5_backend.h"
#include "tests/conformance/sim_backend.h"
#endif

namespace ringpost::conformance {

#if RINGPOST_CONFORMANCE_SIM
using Backends = std::tuple<SimBackend, LiveBackend, Mlx5DevxBackend, Mlx5VerbsBackend>;
// Those that can delay an answer.
using DelayingBackends = std::tuple<SimBackend>;
// Whether the case's backend has its device: without a ConnectX the cases of mlx5 are skipped.
inline boost::test_tools::assertion_result HasDevice(boost::unit_test::test_unit_id id) {
  const std::string name = boost::unit_test::framework::get(id, boost::unit_test::TUT_ANY).p_name;
  static const std::string missing = [] {
    const auto nic = Mlx5Nic::Open({});
    return nic.Ok() ? std::string() : nic.Message();
  }();
  boost::test_tools::assertion_result result(name.find("Mlx5") == std::string::npos ||
                                             missing.empty());
  result.message() << missing;
  return result;
}
#else
// Under ThreadSanitizer: virtual time has one thread, and nothing to show it.
using Backends = std::tuple<LiveBackend>;
inline boost::test_tools::assertion_result HasDevice(boost::unit_test::test_unit_id) {
  return true;
}
#endif

}  // namespace ringpost::conformance
