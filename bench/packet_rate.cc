// packet_rate: how many packets a second one thread sends to another through a ring, and through
// UDP on the loopback: the wires of the live backend.
//
//   bazel run //bench:packet_rate
//
// One item is one packet that has been received. What a full ring dropped is not counted.

#include <benchmark/benchmark.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "sim/service/fabric_segment.h"
#include "sim/service/segment_port.h"
#include "sim/service/udp_port.h"
#include "sim/wire/addressing.h"
#include "sim/wire/packet.h"

namespace ringpost::bench {
namespace {

using sim::service::Address;
using sim::service::AddressOf;
using sim::service::Arrival;
using sim::service::DeviceInfo;
using sim::service::FabricSegment;
using sim::service::FirstQpn;
using sim::service::PacketPort;
using sim::service::Polling;
using sim::service::SegmentPort;
using sim::service::UdpPeer;
using sim::service::UdpPort;
using sim::wire::Packet;

constexpr uint32_t kRingCells = 1 << 14;

DeviceInfo Device(uint8_t number) {
  return {"roce" + std::to_string(number), 0, sim::wire::MappedGid(10, 0, 0, number),
          sim::wire::Link::kEthernet};
}

Packet Write(uint32_t qpn, int64_t payload_bytes) {
  Packet packet;
  packet.opcode = sim::wire::Opcode::kRcWriteOnly;
  packet.dest_qpn = qpn;
  packet.payload.resize(static_cast<size_t>(payload_bytes), 1);
  return packet;
}

// As a NIC with a window does: after a loss it lets the receiver work.
void SendOrYield(PacketPort& port, const Address& target, const Packet& packet) {
  if (!port.Send(target, packet)) sched_yield();
}

void Receive(benchmark::State& state, PacketPort& port) {
  constexpr int kBatch = 1024;
  Arrival arrival;
  for (auto _ : state) {
    for (int received = 0; received < kBatch;) {
      if (port.Poll(arrival)) {
        ++received;
      } else {
        sched_yield();
      }
    }
  }
  state.SetItemsProcessed(state.iterations() * kBatch);
  state.SetBytesProcessed(state.iterations() * kBatch * state.range(0));
}

// One thread does both, so that no other core takes part.
void SameThread(benchmark::State& state) {
  const auto fabric = std::move(FabricSegment::InProcess(kRingCells).Value());
  const auto port = std::move(SegmentPort::Attach(*fabric, Device(1), Polling::kSpin).Value());
  const Packet packet = Write(FirstQpn(port->Slot()), state.range(0));
  Arrival arrival;
  for (auto _ : state) {
    port->Send(AddressOf(Device(1)), packet);
    port->Poll(arrival);
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(SameThread)->ArgName("payload")->Arg(8)->Arg(4096);

void InProcess(benchmark::State& state) {
  const auto fabric = std::move(FabricSegment::InProcess(kRingCells).Value());
  const auto port = std::move(SegmentPort::Attach(*fabric, Device(1), Polling::kSpin).Value());
  const auto other = std::move(SegmentPort::Attach(*fabric, Device(2), Polling::kSpin).Value());
  std::atomic<bool> stop{false};
  std::thread sender([&] {
    const Packet packet = Write(FirstQpn(port->Slot()), state.range(0));
    while (!stop.load(std::memory_order_relaxed)) {
      SendOrYield(*other, AddressOf(Device(1)), packet);
    }
  });
  Receive(state, *port);
  stop = true;
  sender.join();
}
BENCHMARK(InProcess)->ArgName("payload")->Arg(8)->Arg(4096)->UseRealTime();

void CrossProcess(benchmark::State& state) {
  const std::string name = "bench." + std::to_string(getpid());
  const pid_t parent = getpid();
  const auto fabric = std::move(FabricSegment::Open({name, kRingCells}).Value());
  const auto port = std::move(SegmentPort::Attach(*fabric, Device(1), Polling::kSpin).Value());
  const pid_t child = fork();
  if (child == 0) {
    const auto own = std::move(FabricSegment::Open({name, kRingCells}).Value());
    const auto other = std::move(SegmentPort::Attach(*own, Device(2), Polling::kSpin).Value());
    const Packet packet = Write(FirstQpn(port->Slot()), state.range(0));
    while (getppid() == parent) {
      for (int i = 0; i < 10'000; ++i) SendOrYield(*other, AddressOf(Device(1)), packet);
    }
    _exit(0);
  }
  Receive(state, *port);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}
BENCHMARK(CrossProcess)->ArgName("payload")->Arg(8)->Arg(4096)->UseRealTime();

std::unique_ptr<UdpPort> OpenUdp(uint8_t number) {
  return std::move(
      UdpPort::Open({Device(number), {2, 0, 0, 0, 0, number}, "127.0.0.1", 0}).Value());
}

UdpPeer PeerOf(uint8_t number, const UdpPort& port) {
  return {Device(number).gid, {2, 0, 0, 0, 0, number}, std::nullopt, "127.0.0.1", port.Port()};
}

void Udp(benchmark::State& state) {
  const auto port = OpenUdp(1);
  const auto other = OpenUdp(2);
  if (!port->AddPeer(PeerOf(2, *other)).Ok() || !other->AddPeer(PeerOf(1, *port)).Ok()) {
    return state.SkipWithError("the ports do not know each other");
  }
  std::atomic<bool> stop{false};
  std::thread sender([&] {
    const Packet packet = Write(FirstQpn(1), state.range(0));
    while (!stop.load(std::memory_order_relaxed)) {
      SendOrYield(*other, AddressOf(Device(1)), packet);
    }
  });
  Receive(state, *port);
  stop = true;
  sender.join();
}
BENCHMARK(Udp)->ArgName("payload")->Arg(8)->Arg(4096)->UseRealTime();

}  // namespace
}  // namespace ringpost::bench

BENCHMARK_MAIN();
