// What the operations of an Endpoint store: WQE bytes, record, doorbell, and in which order.

#include "transport/endpoint.h"

#include <boost/test/unit_test.hpp>
#include <numeric>
#include <string>

#include "tests/transport/recording_port.h"
#include "transport/publication/per_thread.h"

namespace ringpost {
namespace {

constexpr RemoteSpan kTarget{0x1122334455667788, 0xaabbccdd};
constexpr LocalSpan kSource{0x0102030405060708, 4096, 0x11223344};

bool operator==(const abi::Segment& a, const abi::Segment& b) {
  return std::memcmp(&a, &b, sizeof(a)) == 0;
}

// One QP, one thread that owns it, and an endpoint on it.
template <class Ordering = OrderGpuFence>
struct Owned {
  RecordingPort<> port;
  QpTable table{&port.view, 1, 0, 1, 0};
  Endpoint<RecordingPort<>, PerThread, Ordering> endpoint{port, table};

  explicit Owned(uint32_t depth = 16) : port(depth) {}

  abi::Segment Control(abi::Opcode opcode, uint64_t index, uint32_t segments, int flags) {
    return abi::ControlSegmentOf(opcode, index & 0xffff, port.view.qpn, segments,
                                 static_cast<uint8_t>(flags));
  }

  // The inline payload of the WQE at `index`, after its header said how long it is.
  std::string InlineAt(uint64_t index) {
    std::string bytes;
    const uint32_t header = abi::Swap32(port.SegmentAt(index, 2).word[0]);
    BOOST_REQUIRE((header & abi::kInlineFlag) != 0);
    const uint32_t length = header & ~abi::kInlineFlag;
    for (uint32_t i = 0; i < length; ++i) {
      const uint32_t at = abi::kInlineHeaderBytes + i;
      const abi::Segment segment = port.SegmentAt(index, 2 + at / 16);
      bytes += reinterpret_cast<const char*>(&segment)[at % 16];
    }
    return bytes;
  }
};

using Fixture = Owned<>;

std::string Counting(uint32_t bytes) {
  std::string text(bytes, 0);
  std::iota(text.begin(), text.end(), 1);
  return text;
}

BOOST_AUTO_TEST_SUITE(EndpointTest)

BOOST_FIXTURE_TEST_CASE(PutStoresControlAddressAndData, Fixture) {
  const Posted posted = endpoint.Put(kTarget, kSource);
  BOOST_TEST(posted.status.Ok());
  BOOST_TEST((port.SegmentAt(0, 0) == Control(abi::Opcode::kRdmaWrite, 0, 3, abi::kCqeAlways)));
  BOOST_TEST((port.SegmentAt(0, 1) == abi::RemoteAddressOf(kTarget.address, kTarget.rkey)));
  BOOST_TEST((port.SegmentAt(0, 2) == abi::DataOf(4096, kSource.lkey, kSource.address)));
  BOOST_TEST(port.Of(EventKind::kWqe).at(0).count == 3u);
}

BOOST_FIXTURE_TEST_CASE(GetReadsIntoTheLocalSpan, Fixture) {
  endpoint.Get(kSource, kTarget);
  BOOST_TEST((port.SegmentAt(0, 0) == Control(abi::Opcode::kRdmaRead, 0, 3, abi::kCqeAlways)));
  BOOST_TEST((port.SegmentAt(0, 1) == abi::RemoteAddressOf(kTarget.address, kTarget.rkey)));
  BOOST_TEST((port.SegmentAt(0, 2) == abi::DataOf(4096, kSource.lkey, kSource.address)));
}

BOOST_FIXTURE_TEST_CASE(ZeroLengthPutHasTwoSegments, Fixture) {
  endpoint.Put(kTarget, {kSource.address, 0, kSource.lkey});
  BOOST_TEST((port.SegmentAt(0, 0) == Control(abi::Opcode::kRdmaWrite, 0, 2, abi::kCqeAlways)));
  BOOST_TEST(port.Of(EventKind::kWqe).at(0).count == 2u);
}

BOOST_FIXTURE_TEST_CASE(ZeroLengthInlinePutHasTwoSegments, Fixture) {
  endpoint.PutInline(kTarget, nullptr, 0);
  BOOST_TEST((port.SegmentAt(0, 0) == Control(abi::Opcode::kRdmaWrite, 0, 2, abi::kCqeAlways)));
  BOOST_TEST(port.Of(EventKind::kWqe).at(0).count == 2u);
}

BOOST_AUTO_TEST_CASE(InlinePayloadOfEveryLengthStandsInTheWqe) {
  for (uint32_t bytes = 1; bytes <= 220; ++bytes) {
    Fixture f;
    const std::string payload = Counting(bytes);
    BOOST_TEST(f.endpoint.PutInline(kTarget, payload.data(), bytes).status.Ok());
    BOOST_TEST(f.InlineAt(0) == payload);
    const uint32_t segments = 2 + (4 + bytes + 15) / 16;
    BOOST_TEST((f.port.SegmentAt(0, 0) ==
                f.Control(abi::Opcode::kRdmaWrite, 0, segments, abi::kCqeAlways)));
    f.endpoint.GiveBack();
    BOOST_TEST(f.port.template Get<uint64_t>(f.port.view.reserved.address) == (segments + 3) / 4);
  }
}

BOOST_FIXTURE_TEST_CASE(BytesBehindTheInlinePayloadAreZero, Fixture) {
  const std::string payload = Counting(5);
  endpoint.PutInline(kTarget, payload.data(), 5);
  BOOST_TEST(port.SegmentAt(0, 2).word[2] == 5u);
  BOOST_TEST(port.SegmentAt(0, 2).word[3] == 0u);
}

BOOST_AUTO_TEST_CASE(WqeOfSeveralBlocksWrapsAtTheEndOfTheRing) {
  for (uint64_t start : {13, 14, 15, 16}) {
    Fixture f;
    f.port.StartAt(start);
    const std::string payload = Counting(220);
    BOOST_TEST(f.endpoint.PutInline(kTarget, payload.data(), 220).status.Ok());
    BOOST_TEST(f.InlineAt(start) == payload);
    BOOST_TEST((f.port.SegmentAt(start, 0) ==
                f.Control(abi::Opcode::kRdmaWrite, start, 16, abi::kCqeAlways)));
  }
}

BOOST_FIXTURE_TEST_CASE(IndicesAreMaskedAt65536, Fixture) {
  port.StartAt(65535);
  endpoint.Put(kTarget, kSource);
  BOOST_TEST(
      (port.SegmentAt(65535, 0) == Control(abi::Opcode::kRdmaWrite, 65535, 3, abi::kCqeAlways)));
  BOOST_TEST(port.Of(EventKind::kRecord).at(0).value == 0u);
  BOOST_TEST(abi::DecodeDoorbell(port.Of(EventKind::kDoorbell).at(0).value).producer == 0);

  endpoint.Put(kTarget, kSource);
  BOOST_TEST((port.SegmentAt(65536, 0) == Control(abi::Opcode::kRdmaWrite, 0, 3, abi::kCqeAlways)));
  BOOST_TEST(port.Of(EventKind::kRecord).at(1).value == 1u);
  BOOST_TEST(abi::DecodeDoorbell(port.Of(EventKind::kDoorbell).at(1).value).producer == 1);
}

BOOST_FIXTURE_TEST_CASE(RecordAndDoorbellHoldTheProducerIndex, Fixture) {
  const std::string payload = Counting(60);
  endpoint.PutInline(kTarget, payload.data(), 60);
  BOOST_TEST(port.Get<uint32_t>(port.view.record + 4) == abi::Swap32(2));
  BOOST_TEST(port.Get<uint32_t>(port.view.record) == 0u);
  BOOST_TEST(port.Get<uint64_t>(port.view.doorbell) == abi::ProducerDoorbell(2, port.view.qpn));
}

BOOST_FIXTURE_TEST_CASE(PutSignalWritesTheValueAfterThePayload, Fixture) {
  const RemoteSpan signal{0x7000, 0x99};
  const Posted posted = endpoint.PutSignal(kTarget, kSource, signal, 0x0807060504030201);
  BOOST_TEST(posted.confirmed == 2u);
  BOOST_TEST((port.SegmentAt(0, 0) == Control(abi::Opcode::kRdmaWrite, 0, 3, abi::kCqeOnError)));
  BOOST_TEST((port.SegmentAt(1, 0) == Control(abi::Opcode::kRdmaWrite, 1, 3, abi::kCqeAlways)));
  BOOST_TEST((port.SegmentAt(1, 1) == abi::RemoteAddressOf(signal.address, signal.rkey)));
  BOOST_TEST(InlineAt(1) == Counting(8));
  BOOST_TEST(port.Of(EventKind::kDoorbell).size() == 1u);
}

constexpr LocalSpan kResult{0x9000, 8, 0x55};
constexpr RemoteSpan kCounter{0x7008, 0x99};

BOOST_FIXTURE_TEST_CASE(AtomicsHaveTheirOperandsBehindTheAddress, Fixture) {
  endpoint.FetchAdd(kResult, kCounter, 7);
  endpoint.CompareSwap(kResult, kCounter, 5, 6);
  const abi::Opcode opcodes[] = {abi::Opcode::kAtomicFetchAdd, abi::Opcode::kAtomicCompareSwap};
  const abi::Segment operands[] = {abi::AtomicOf(7, 0), abi::AtomicOf(6, 5)};
  for (uint64_t i = 0; i < 2; ++i) {
    BOOST_TEST((port.SegmentAt(i, 0) == Control(opcodes[i], i, 4, abi::kCqeAlways)));
    BOOST_TEST((port.SegmentAt(i, 1) == abi::RemoteAddressOf(kCounter.address, kCounter.rkey)));
    BOOST_TEST((port.SegmentAt(i, 2) == operands[i]));
    BOOST_TEST((port.SegmentAt(i, 3) == abi::DataOf(8, kResult.lkey, kResult.address)));
  }
}

BOOST_FIXTURE_TEST_CASE(ASignalAddsAndLeavesTheOldValueInTheSink, Fixture) {
  port.view.sink = 0x8000;
  port.view.sink_lkey = 3;
  endpoint.Signal(kCounter, 2);
  BOOST_TEST((port.SegmentAt(0, 2) == abi::AtomicOf(2, 0)));
  BOOST_TEST((port.SegmentAt(0, 3) == abi::DataOf(8, 3, 0x8000)));
}

BOOST_FIXTURE_TEST_CASE(AnAddStandsBehindThePutInTheSamePost, Fixture) {
  port.view.sink = 0x8000;
  port.view.sink_lkey = 3;
  BOOST_TEST(endpoint.PutSignalAdd(kTarget, kSource, kCounter, 5).confirmed == 2u);
  BOOST_TEST(endpoint.PutValueSignalAdd(kTarget, 0x0807060504030201, kCounter, 6).confirmed == 4u);
  for (uint64_t i = 0; i < 4; i += 2) {
    const auto add = abi::Opcode::kAtomicFetchAdd;
    BOOST_TEST((port.SegmentAt(i, 0) == Control(abi::Opcode::kRdmaWrite, i, 3, abi::kCqeOnError)));
    BOOST_TEST((port.SegmentAt(i + 1, 0) == Control(add, i + 1, 4, abi::kCqeAlways)));
    BOOST_TEST((port.SegmentAt(i + 1, 1) == abi::RemoteAddressOf(kCounter.address, kCounter.rkey)));
    BOOST_TEST((port.SegmentAt(i + 1, 2) == abi::AtomicOf(5 + i / 2, 0)));
    BOOST_TEST((port.SegmentAt(i + 1, 3) == abi::DataOf(8, 3, 0x8000)));
  }
  BOOST_TEST((port.SegmentAt(0, 2) == abi::DataOf(4096, kSource.lkey, kSource.address)));
  BOOST_TEST(InlineAt(2) == Counting(8));
  BOOST_TEST(port.Of(EventKind::kDoorbell).size() == 2u);
  const RemoteSpan odd{kCounter.address + 4, kCounter.rkey};
  BOOST_TEST(
      (endpoint.PutSignalAdd(kTarget, kSource, odd, 1).status.status == Status::kInvalidArgument));
}

BOOST_FIXTURE_TEST_CASE(SendsHaveNoRemoteAddress, Fixture) {
  endpoint.Send(kSource);
  endpoint.SendImmediate({}, 0x01020304);
  BOOST_TEST((port.SegmentAt(0, 0) == Control(abi::Opcode::kSend, 0, 2, abi::kCqeAlways)));
  BOOST_TEST((port.SegmentAt(0, 1) == abi::DataOf(4096, kSource.lkey, kSource.address)));
  BOOST_TEST((port.SegmentAt(1, 0) == abi::ControlSegmentOf(abi::Opcode::kSendImm, 1, port.view.qpn,
                                                            1, abi::kCqeAlways, 0x01020304)));
}

BOOST_FIXTURE_TEST_CASE(AValueIsAnInlinePutOfItsSize, Fixture) {
  endpoint.PutValue(kTarget, uint16_t{0x0201});
  BOOST_TEST(InlineAt(0) == Counting(2));
}

BOOST_FIXTURE_TEST_CASE(PiecesEndWithWhatTheMessageEndsWith, Fixture) {
  port.view.max_message = 2000;
  const abi::Segment key = abi::RemoteAddressOf(kTarget.address + 4000, kTarget.rkey);
  const Posted posted = endpoint.PutSignal(kTarget, kSource, kCounter, 1);
  BOOST_TEST(posted.confirmed == 4u);
  BOOST_TEST((port.SegmentAt(0, 2) == abi::DataOf(2000, kSource.lkey, kSource.address)));
  BOOST_TEST((port.SegmentAt(1, 2) == abi::DataOf(2000, kSource.lkey, kSource.address + 2000)));
  BOOST_TEST((port.SegmentAt(2, 1) == key));
  BOOST_TEST((port.SegmentAt(2, 2) == abi::DataOf(96, kSource.lkey, kSource.address + 4000)));
  BOOST_TEST(InlineAt(3).size() == 8u);
  endpoint.PutImmediate(kTarget, kSource, 9);
  for (uint64_t i = 4; i < 7; ++i) {
    const auto opcode = i == 6 ? abi::Opcode::kRdmaWriteImm : abi::Opcode::kRdmaWrite;
    BOOST_TEST((port.SegmentAt(i, 0) ==
                abi::ControlSegmentOf(opcode, i, port.view.qpn, 3, abi::kCqeAlways, 9)));
  }
}

BOOST_FIXTURE_TEST_CASE(ADciSaysInEachWqeWhomItIsFor, Fixture) {
  port.view.kind = TransportKind::kDc;
  port.view.target = {abi::kDcAccessKey, 0x123, 7};
  const abi::Segment address = abi::AddressVectorOf(abi::kDcAccessKey, 0x123, 7);
  endpoint.Put(kTarget, kSource);
  BOOST_TEST((port.SegmentAt(0, 0) == Control(abi::Opcode::kRdmaWrite, 0, 4, abi::kCqeAlways)));
  BOOST_TEST((port.SegmentAt(0, 1) == address));
  BOOST_TEST((port.SegmentAt(0, 3) == abi::DataOf(4096, kSource.lkey, kSource.address)));
  // An atomic has one segment more than a WQEBB.
  BOOST_TEST(endpoint.FetchAdd(kResult, kCounter, 7).confirmed == 2u);
  BOOST_TEST(
      (port.SegmentAt(1, 0) == Control(abi::Opcode::kAtomicFetchAdd, 1, 5, abi::kCqeAlways)));
  BOOST_TEST((port.SegmentAt(1, 1) == address));
  BOOST_TEST((port.SegmentAt(2, 0) == abi::DataOf(8, kResult.lkey, kResult.address)));
  endpoint.Send(kSource);
  BOOST_TEST((port.SegmentAt(3, 1) == address));
  endpoint.GiveBack();
  BOOST_TEST(port.Get<uint64_t>(port.view.reserved.address) == 4u);
}

BOOST_FIXTURE_TEST_CASE(FenceMarksTheNextOperationOnly, Fixture) {
  BOOST_TEST(endpoint.Fence().Ok());
  endpoint.Put(kTarget, kSource);
  endpoint.Put(kTarget, kSource);
  BOOST_TEST((port.SegmentAt(0, 0) ==
              Control(abi::Opcode::kRdmaWrite, 0, 3, abi::kCqeAlways | abi::kFenceReadsAtomics)));
  BOOST_TEST((port.SegmentAt(1, 0) == Control(abi::Opcode::kRdmaWrite, 1, 3, abi::kCqeAlways)));
}

BOOST_FIXTURE_TEST_CASE(ImpossibleLengthsAreRefusedAndNothingIsPosted, Fixture) {
  port.view.max_inline = 28;
  const std::string payload = Counting(220);
  const Status refused = Status::kInvalidArgument;
  BOOST_TEST((endpoint.PutInline(kTarget, payload.data(), 29).status.status == refused));
  port.view.max_inline = 4096;
  BOOST_TEST((endpoint.PutInline(kTarget, payload.data(), 221).status.status == refused));
  port.view.max_message = 4095;
  BOOST_TEST((endpoint.Send(kSource).status.status == refused));
  BOOST_TEST((endpoint.FetchAdd(kSource, kTarget, 1).status.status == refused));
  BOOST_TEST(port.events.empty());
}

BOOST_AUTO_TEST_CASE(WqeAboveHalfTheRingIsRefused) {
  Fixture f(4);
  const std::string payload = Counting(220);
  const Posted posted = f.endpoint.PutInline(kTarget, payload.data(), 220);
  BOOST_TEST((posted.status.status == Status::kInvalidArgument));
  BOOST_TEST(f.port.Of(EventKind::kWqe).empty());
}

template <class Ordering>
std::vector<Event> EventsOfOnePut() {
  Owned<Ordering> f;
  f.endpoint.Put(kTarget, kSource);
  std::erase_if(f.port.events, [](const Event& e) { return e.kind == EventKind::kWord; });
  return f.port.events;
}

// "fence.acq_rel.gpu" and so on for each event of one put.
template <class Ordering>
std::string OrderOfOnePut() {
  const char* const kKinds[] = {"wqe", "fence", "record", "doorbell", "word"};
  const char* const kOrders[] = {".relaxed", ".acquire", ".release", ".acq_rel", ".sc"};
  const char* const kScopes[] = {".thread", ".cta", ".gpu", ".sys"};
  std::string text;
  for (const Event& event : EventsOfOnePut<Ordering>()) {
    text += std::string(kKinds[static_cast<int>(event.kind)]);
    if (event.kind != EventKind::kWqe) {
      text += kOrders[static_cast<int>(event.order)];
      text += kScopes[static_cast<int>(event.scope)];
    }
    text += " ";
  }
  return text;
}

BOOST_AUTO_TEST_CASE(EachOrderingPutsItsFencesWhereItsTableSays) {
  BOOST_TEST(OrderOfOnePut<OrderNone>() == "wqe record.relaxed.gpu doorbell.relaxed.sys ");
  BOOST_TEST(OrderOfOnePut<OrderGpuFence>() ==
             "wqe fence.acq_rel.gpu record.relaxed.gpu doorbell.relaxed.sys ");
  BOOST_TEST(OrderOfOnePut<OrderGpuFenceDbrec>() ==
             "wqe fence.acq_rel.gpu record.relaxed.gpu fence.acq_rel.gpu doorbell.relaxed.sys ");
  BOOST_TEST(OrderOfOnePut<OrderGpuRelease>() == "wqe record.release.gpu doorbell.release.gpu ");
  BOOST_TEST(OrderOfOnePut<OrderThreadfence>() ==
             "wqe fence.sc.gpu record.relaxed.gpu fence.sc.gpu doorbell.relaxed.sys ");
  BOOST_TEST(OrderOfOnePut<OrderSystemRelease>() == "wqe record.release.sys doorbell.release.sys ");
  BOOST_TEST(OrderOfOnePut<OrderSystemFence>() ==
             "wqe fence.sc.sys record.relaxed.sys fence.sc.sys doorbell.relaxed.sys ");
}

BOOST_AUTO_TEST_CASE(AFenceHoldsForTheNextOperationThatIsPosted) {
  RecordingPort<> port(8);
  port.view.kind = TransportKind::kDc;
  const QpTable table{&port.view, 1, 0, 1, 0};
  Endpoint<RecordingPort<>, PerThread, OrderGpuFence> endpoint(port, table);
  const char payload[220] = {};
  BOOST_TEST(endpoint.Fence().Ok());
  // Five WQEBBs are more than half of this ring.
  BOOST_TEST(!endpoint.PutInline({0x1000, 1}, payload, sizeof(payload)).status.Ok());
  BOOST_TEST(endpoint.Put({0x1000, 1}, {0x2000, 8, 2}).status.Ok());
  BOOST_TEST(port.SegmentAt(0, 0).word[2] >> 24 ==
             uint32_t{abi::kCqeAlways | abi::kFenceReadsAtomics});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace ringpost
