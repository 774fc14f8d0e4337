// UC and UD: nobody answers, nothing is sent again (contract, sections 1.6 and 4).
#include "sim/nic/wqe_parser.h"
#include "tests/sim/nic/rc_fixture.h"

namespace ringpost::sim {
namespace {

using abi::Opcode;
constexpr uint32_t kRouteBytes = 40;
constexpr uint32_t kQkey = 0x1234;  // the harness's

struct UcFixture : RcFixture {
  UcFixture() : RcFixture({}, {.type = QpType::kUc}, {.type = QpType::kUc, .rq_depth = 16}) {}
};

struct UdFixture : RcFixture {
  UdFixture() : RcFixture({}, {.type = QpType::kUd}, {.type = QpType::kUd, .rq_depth = 16}) {}
  WqeBytes Datagram(uint32_t bytes, uint32_t qkey = kQkey, bool extended = true) {
    return WqeBytes(Opcode::kSend, kSignalled)
        .Target(uint64_t{qkey} << 32, pipe.remote.qpn, h.b.address.lid, extended)
        .Data(bytes, source.key, source.address);
  }
};

}  // namespace

BOOST_FIXTURE_TEST_CASE(UcWritesAndSendsCompleteWhenTheyHaveLeft, UcFixture) {
  BOOST_TEST(!IsError(Do(Write(3000))));
  BOOST_TEST(Same(3000));
  PostReceive();
  Fill(source, 2000, 77);
  BOOST_TEST(!IsError(Do(Send(2000))));
  BOOST_TEST(Same(2000));
  BOOST_TEST(h.b.nic.Count().packets_sent == 0u);
}

BOOST_FIXTURE_TEST_CASE(AUcMessageThatLostAPacketIsDroppedAndTheNextArrives, UcFixture) {
  int sent = 0;
  h.on_wire = [&](wire::Packet&) { return ++sent != 2; };
  PostReceive();
  BOOST_TEST(!IsError(Do(Send(3000))));
  BOOST_TEST(h.PollReceives(pipe.remote).empty());
  Fill(source, 2000, 55);
  Do(Send(2000));
  const auto received = h.PollReceives(pipe.remote);
  BOOST_TEST_REQUIRE(received.size() == 1u);
  BOOST_TEST(CounterOf(received[0]) == 0u);
  BOOST_TEST(Same(2000));
}

BOOST_FIXTURE_TEST_CASE(AUcWriteToABadKeyIsDroppedSilently, UcFixture) {
  target.key ^= 1;
  BOOST_TEST(!IsError(Do(Write(8))));
  BOOST_TEST((RemoteState() == State::kReadyToSend));
  BOOST_TEST(h.b.nic.Count().access_violations == 1u);
}

BOOST_FIXTURE_TEST_CASE(UcHasNoReadsAndItsFailureIsSqe, UcFixture) {
  BOOST_TEST(SyndromeOf(Do(Read(8))) == static_cast<int>(abi::Syndrome::kLocalQpOperation));
  BOOST_TEST((LocalState() == State::kSendQueueError));
  QpAttributes ready;
  ready.state = State::kReadyToSend;
  BOOST_TEST(h.a.nic.ModifyQp(pipe.local.qpn, ready, kAttrState) == "");
  BOOST_TEST(!IsError(Do(Write(8))));
}

BOOST_FIXTURE_TEST_CASE(ADatagramArrivesBehindFortyBytesAndNamesItsSender, UdFixture) {
  for (const bool extended : {false, true}) {
    PostReceive();
    BOOST_TEST(!IsError(Do(Datagram(500, kQkey, extended))));
    const auto received = h.PollReceives(pipe.remote);
    BOOST_TEST_REQUIRE(received.size() == 1u);
    BOOST_TEST(BytesOf(received[0]) == 500u + kRouteBytes);
    BOOST_TEST((abi::Swap32(received[0].flags_rqpn) & 0xffffff) == pipe.local.qpn);
    BOOST_TEST(abi::Swap16(received[0].slid) == h.a.address.lid);
    BOOST_TEST(std::memcmp(target.Bytes() + kRouteBytes, source.Bytes(), 500) == 0);
  }
}

// libmlx5 leaves the bit for a GRH clear there.
BOOST_AUTO_TEST_CASE(OnEthernetAnAddressHasAGidWhateverTheReservedBitSays) {
  std::vector<uint8_t> bytes = WqeBytes(Opcode::kSend, kSignalled)
                                   .Target(uint64_t{kQkey} << 32, 5, 1, /*extended=*/true)
                                   .Data(8, 1, 2)
                                   .Finish(0, 4);
  bytes.resize(2 * 64);
  bytes[16 + 47] = 9;  // the GID's last byte
  for (const bool routed : {false, true}) {
    SendWqe wqe;
    SendTarget target;
    ParseWqe(bytes.data(),
             {.type = QpType::kUd, .mtu = 1024, .message_bytes = 1024, .routed = routed}, wqe,
             &target);
    BOOST_TEST(target.address.global == routed);
    BOOST_TEST(int{target.address.gid[15]} == (routed ? 9 : 0));
  }
}

BOOST_FIXTURE_TEST_CASE(ADatagramWithAnotherQkeyOrWithoutAReceiveIsDropped, UdFixture) {
  PostReceive();
  BOOST_TEST(!IsError(Do(Datagram(8, kQkey + 1))));
  BOOST_TEST(h.b.nic.Count().qkey_violations == 1u);
  BOOST_TEST(!IsError(Do(Datagram(8))));
  BOOST_TEST(!IsError(Do(Datagram(8))));
  BOOST_TEST(h.PollReceives(pipe.remote).size() == 1u);
}

BOOST_FIXTURE_TEST_CASE(TheUpperBitOfTheQkeyAsksForTheQpsOwn, UdFixture) {
  PostReceive();
  Do(Datagram(8, 0x80000000));
  BOOST_TEST(h.PollReceives(pipe.remote).size() == 1u);
}

BOOST_FIXTURE_TEST_CASE(ADatagramIsOnePacket, UdFixture) {
  PostReceive();
  BOOST_TEST(!IsError(Do(Datagram(4096))));
  BOOST_TEST(SyndromeOf(Do(Datagram(4097))) == static_cast<int>(abi::Syndrome::kLocalLength));
  BOOST_TEST((LocalState() == State::kSendQueueError));
}

BOOST_FIXTURE_TEST_CASE(ADatagramTooLongForItsReceiveFailsTheReceiver, UdFixture) {
  PostReceive(100);
  BOOST_TEST(!IsError(Do(Datagram(61))));
  const auto received = h.PollReceives(pipe.remote);
  BOOST_TEST_REQUIRE(received.size() == 1u);
  BOOST_TEST(SyndromeOf(received[0]) == static_cast<int>(abi::Syndrome::kLocalLength));
}

BOOST_FIXTURE_TEST_CASE(UdSendsNothingBesidesSends, UdFixture) {
  BOOST_TEST(SyndromeOf(Do(Write(8))) == static_cast<int>(abi::Syndrome::kLocalQpOperation));
}

}  // namespace ringpost::sim
