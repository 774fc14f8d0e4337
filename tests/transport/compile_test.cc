#include <boost/test/unit_test.hpp>

#include "transport/abi/cqe.h"
#include "transport/abi/doorbell.h"
#include "transport/endpoint.h"
#include "transport/publication/batched.h"
#include "transport/publication/cooperative.h"
#include "transport/publication/locked.h"
#include "transport/publication/ordered_handoff.h"
#include "transport/publication/per_thread.h"

BOOST_AUTO_TEST_CASE(QpViewIsAPodThatAKernelTakesByValue) {
  BOOST_TEST(std::is_trivially_copyable_v<ringpost::QpView>);
}
