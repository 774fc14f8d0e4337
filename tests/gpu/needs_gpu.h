// needs_gpu.h: what a test that runs kernels names as its precondition: without a GPU it is counted
// as skipped.
//
//   BOOST_AUTO_TEST_CASE(KernelsDoSomething, *boost::unit_test::precondition(NeedsGpu))
#pragma once

#include <cuda_runtime_api.h>

#include <boost/test/unit_test.hpp>

namespace ringpost {

inline int Gpus() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}
inline bool HasGpu() { return Gpus() > 0; }

inline boost::test_tools::assertion_result NeedsGpu(boost::unit_test::test_unit_id) {
  boost::test_tools::assertion_result result(HasGpu());
  result.message() << "there is no GPU";
  return result;
}

inline boost::test_tools::assertion_result NeedsTwoGpus(boost::unit_test::test_unit_id) {
  boost::test_tools::assertion_result result(Gpus() > 1);
  result.message() << "there are no two GPUs";
  return result;
}

inline boost::test_tools::assertion_result NeedsNoGpu(boost::unit_test::test_unit_id) {
  boost::test_tools::assertion_result result(!HasGpu());
  result.message() << "there is a GPU";
  return result;
}

}  // namespace ringpost
