// Which headers follow which opcode.
#include "sim/wire/opcode.h"

#include <boost/test/unit_test.hpp>

#include "tests/sim/wire/random_packet.h"

namespace ringpost {
namespace {

using namespace sim::wire;  // NOLINT: the enumerators are what this file is about.

BOOST_AUTO_TEST_CASE(EveryOpcodeIsOfOneService) {
  int of_service[5] = {};
  for (const Opcode opcode : AllOpcodes()) ++of_service[static_cast<int>(ServiceOf(opcode))];
  BOOST_TEST(of_service[static_cast<int>(Service::kRc)] == 25);
  BOOST_TEST(of_service[static_cast<int>(Service::kUc)] == 12);
  BOOST_TEST(of_service[static_cast<int>(Service::kUd)] == 2);
  BOOST_TEST(of_service[static_cast<int>(Service::kCnp)] == 1);
  BOOST_TEST(of_service[static_cast<int>(Service::kDc)] == 25);
}

BOOST_AUTO_TEST_CASE(EveryOpcodeComesBackFromTheOneOfRc) {
  for (const Opcode opcode : AllOpcodes()) {
    BOOST_CHECK(OnService(AsRc(opcode), ServiceOf(opcode)) == opcode);
  }
}

BOOST_AUTO_TEST_CASE(DcAddsOneHeaderToTheRequestsOfRc) {
  using namespace opcode_table;  // NOLINT
  for (const Opcode opcode : AllOpcodes()) {
    if (ServiceOf(opcode) != Service::kDc) continue;
    const uint32_t of_rc = kTable[static_cast<uint8_t>(AsRc(opcode))];
    const uint32_t of_dc = kTable[static_cast<uint8_t>(opcode)];
    BOOST_TEST(of_dc == (of_rc | (IsRequest(opcode) ? uint32_t{kDcHeader} : 0u)));
  }
}

BOOST_AUTO_TEST_CASE(EveryOpcodeButCnpIsARequestOrAResponse) {
  for (const Opcode opcode : AllOpcodes()) {
    BOOST_CHECK((IsRequest(opcode) != IsResponse(opcode)) == (opcode != Opcode::kCnp));
  }
}

static_assert(HasReth(Opcode::kRcWriteFirst) && !HasReth(Opcode::kRcWriteMiddle));
static_assert(HasReth(Opcode::kRcReadRequest) && !HasPayload(Opcode::kRcReadRequest));
static_assert(!HasAeth(Opcode::kRcReadResponseMiddle) && HasAeth(Opcode::kRcReadResponseLast));
static_assert(HasAeth(Opcode::kRcAtomicAck) && HasAtomicAckEth(Opcode::kRcAtomicAck));
static_assert(IsLast(Opcode::kRcSendLastInvalidate) && HasIeth(Opcode::kRcSendLastInvalidate));
static_assert(IsMiddle(Opcode::kUcSendMiddle) && IsOnly(Opcode::kRcAck));
static_assert(HasDeth(Opcode::kUdSendOnly) && !HasDcHeader(Opcode::kDcAck));
static_assert(IsWrite(Opcode::kDcWriteOnlyImmediate) && IsSend(Opcode::kUdSendOnly));
static_assert(!IsKnown(OnService(Opcode::kRcReadRequest, Service::kUc)));
static_assert(!IsMiddle(static_cast<Opcode>(0x15)));

}  // namespace
}  // namespace ringpost
