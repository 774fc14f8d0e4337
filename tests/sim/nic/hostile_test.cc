// Whatever comes in as WQEs, packets, records or doorbells: no access outside what the keys allow,
// no endless loop, no crash.
#include "tests/seed.h"
#include "tests/sim/nic/rc_fixture.h"
#include "transport/abi/doorbell.h"

namespace ringpost::sim {
namespace {

constexpr QpType kTypes[] = {QpType::kRc, QpType::kUc, QpType::kUd, QpType::kDci};

// A packet of any opcode, mostly near to what the QP expects.
wire::Packet AnyPacket(Harness& h, const End& to, const Buffer& target) {
  auto& random = h.random;
  const QpContext& qp = *to.side->nic.FindQp(to.qpn);
  wire::Packet packet;
  packet.opcode = static_cast<wire::Opcode>(random() % 256);
  packet.dest_qpn = to.qpn;
  const uint32_t near = random() % 2 == 0 ? qp.responder.expected : qp.requester.unanswered;
  packet.psn = PsnAfter(near, random() % 4 == 0 ? static_cast<uint32_t>(random()) : random() % 3);
  packet.ack_request = random() % 2 == 0;
  packet.remote_address = target.address + random() % 3 * 32;
  packet.remote_key = target.key ^ (random() % 8 == 0 ? 1u << random() % 32 : 0);
  packet.dma_length = static_cast<uint32_t>(random() % 4 == 0 ? random() : random() % 100);
  packet.atomic_bytes = static_cast<uint8_t>(random() % 10);
  packet.syndrome = static_cast<uint8_t>(random());
  packet.source_qpn = static_cast<uint32_t>(random() % 5);
  packet.qkey = h.base.qkey;
  packet.invalidate_key = static_cast<uint32_t>(random());
  const size_t sizes[] = {0, 8, packet.dma_length % 5000, 256, 1024, 5000};
  packet.payload.resize(sizes[random() % 6], static_cast<uint8_t>(random()));
  return packet;
}

// 64 guard bytes on each side of the target.
bool GuardsHold(Side& side, const Buffer& target, uint64_t bytes) {
  for (uint64_t i = 1; i <= 64; ++i) {
    if (*side.memory.At(target.address - i) != 0x5a) return false;
    if (*side.memory.At(target.address + bytes - 1 + i) != 0x5a) return false;
  }
  return true;
}

}  // namespace

BOOST_AUTO_TEST_CASE(AnyPacketsTouchNothingBesidesWhatTheKeyAllows) {
  for (const QpType type : kTypes) {
    Harness h({}, TestSeed());
    h.timers_run = false;
    constexpr uint64_t kBytes = 128;
    const uint64_t area = h.b.memory.Allocate(kBytes + 128);
    std::memset(h.b.memory.At(area), 0x5a, kBytes + 128);
    Buffer target{&h.b, area + 64, 0};
    target.key = h.b.nic.Keys().Register(
        {target.address, target.address, kBytes, h.b.pd,
         kMayWriteLocally | kMayWriteRemotely | kMayReadRemotely | kMayUseAtomics});
    Pipe pipe =
        h.Connect({.type = type}, {.type = type, .rq_depth = type == QpType::kDci ? 0u : 16u});
    for (int i = 0; i < 60000; ++i) {
      QpContext& qp = h.Qp(pipe.remote);
      if (qp.state == State::kError || qp.state == State::kSendQueueError) {
        QpAttributes reset;
        reset.state = State::kReset;
        h.b.nic.ModifyQp(pipe.remote.qpn, reset, kAttrState);
        pipe.remote.posted = pipe.remote.producer = 0;
        std::memset(h.b.memory.At(pipe.remote.record), 0, 8);
        h.Ready(pipe.remote, h.a, pipe.local.qpn);
      }
      if (type != QpType::kDci && h.random() % 4 == 0) {
        h.PostReceive(pipe.remote, {{target.address, target.key, kBytes}});
      }
      if (h.random() % 8 == 0) {
        WqeBytes read(abi::Opcode::kRdmaRead, kSignalled);
        h.Post(pipe.remote, read.Remote(0, 0).Data(64, target.key, target.address));
      }
      h.b.nic.Receive(AnyPacket(h, pipe.remote, target), h.a.address);
      h.Step();
      h.Poll(pipe.remote);
      h.PollReceives(pipe.remote);
    }
    BOOST_TEST(GuardsHold(h.b, target, kBytes));
  }
}

BOOST_AUTO_TEST_CASE(AnyRingBytesAreExecutedOrRefused) {
  for (const QpType type : kTypes) {
    Harness h({}, TestSeed());
    h.timers_run = false;
    Pipe pipe = h.Connect({.type = type, .waits = true}, {.type = type});
    h.Register(h.a, 4096);
    uint64_t cqes = 0;
    for (int i = 0; i < 20000; ++i) {
      for (uint32_t k = 0; k < 8; ++k) {
        uint8_t* block = h.a.memory.At(pipe.local.sq + (pipe.local.producer + k) % 64 * 64);
        for (int byte = 0; byte < 64; ++byte) block[byte] = static_cast<uint8_t>(h.random());
        constexpr uint8_t kOpcodes[] = {0, 1, 8, 9, 10, 11, 15, 16, 17, 18, 20, 21, 35};
        if (h.random() % 8 != 0) block[3] = kOpcodes[h.random() % sizeof(kOpcodes)];
        block[0] = static_cast<uint8_t>(h.random() % 2 == 0 ? 0 : 8 + h.random() % 3);
      }
      pipe.local.producer += 8;
      h.SetRecord(pipe.local);
      h.a.nic.RingDoorbell(
          h.random() % 16 == 0
              ? h.random()
              : abi::ProducerDoorbell(pipe.local.producer & 0xffff, pipe.local.qpn));
      BOOST_TEST_REQUIRE(h.Run(10000));
      cqes += h.Poll(pipe.local).size();
      if (h.Qp(pipe.local).state == State::kReadyToSend && h.random() % 4 != 0) continue;
      QpAttributes reset;
      reset.state = State::kReset;
      h.a.nic.ModifyQp(pipe.local.qpn, reset, kAttrState);
      pipe.local.producer = 0;
      h.SetRecord(pipe.local);
      h.Ready(pipe.local, h.b, pipe.remote.qpn);
    }
    BOOST_TEST(cqes != 0u);
  }
}

}  // namespace ringpost::sim
