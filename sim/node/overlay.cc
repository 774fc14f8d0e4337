// What a run asks for on top of NIC and wire: faults, and a look at each packet.
#include <cstring>

#include "sim/node/nic_node.h"
#include "transport/abi/doorbell.h"

namespace ringpost::sim {
namespace {

// No QPN has more than 24 bits: a packet whose ICRC does not hold is for nobody.
constexpr uint32_t kUnreadable = ~0u;

}  // namespace

bool NicNode::IsCorrupt(const PacketItem& item) { return item.packet.dest_qpn == kUnreadable; }

// `*last` is when the one before it of the same QP and direction arrives.
void NicNode::LaunchWatched(uint32_t peer, Time* last, PacketItem& item) {
  const Time now = engine_.Now();
  if (fabric_.tap != nullptr) fabric_.tap(now, node_, peer, item.packet);
  // A switch has no port for the LID of nobody.
  if (peer >= fabric_.nodes.size()) return Lose(item);
  Channel<PacketItem>& wire = WireTo(*fabric_.nodes[peer]);
  Faults& faults = fabric_.faults;
  if (!faults.At(FaultWhere::kWire)) {
    wire.Put(*last, item);
    return;
  }
  const uint64_t wqes = wire::IsResponse(item.packet.opcode) ? 0 : 1;
  const FaultVerdict verdict =
      faults.Judge(FaultWhere::kWire, {node_, item.from_qp, item.wqe, item.wqe + wqes}, now);
  if (verdict.lost || faults.LinkIsDown(node_, now) || faults.LinkIsDown(peer, now)) {
    if (item.held != 0) fabric_.nodes[peer]->shared_->GiveRoom(item);
    return Lose(item);
  }
  *last += verdict.delay;
  const Time arrives = *last + verdict.held;
  if (verdict.held.ps != 0) ++count_.packets_reordered;
  if (verdict.corrupt) item.packet.dest_qpn = kUnreadable;
  if (verdict.again) {
    ++count_.packets_duplicated;
    PacketItem& copy = fabric_.packets.Take();
    copy = item;
    copy.held = 0;  // who waits for room waits for the first one
    wire.Put(arrives + *verdict.again, copy);
  }
  wire.Put(arrives, item);
}

void NicNode::Lose(PacketItem& item) {
  ++count_.packets_lost;
  item.released.reset();
  fabric_.packets.Give(item);
}

void NicNode::RingFaultyDoorbell(Time at, Duration way, uint64_t value, const Origin& origin) {
  const abi::DoorbellFields fields = abi::DecodeDoorbell(value);
  const QpContext* qp = nic_.FindQp(fields.qpn);
  if (qp == nullptr) {
    DeliverDoorbell(at, way, value, origin);
    return;
  }
  const uint64_t known = qp->requester.producer;
  const auto ahead = static_cast<int16_t>(fields.producer - static_cast<uint16_t>(known));
  const uint64_t end = known + static_cast<uint64_t>(int64_t{ahead});
  const FaultVerdict verdict = fabric_.faults.Judge(
      FaultWhere::kDoorbell, {node_, LaneOf(fields.qpn).number, end - 1, end}, engine_.Now());
  if (verdict.lost) {
    ++count_.doorbells_lost;
    return;
  }
  DeliverDoorbell(at + verdict.delay, way, value, origin);
  if (verdict.again) DeliverDoorbell(at + verdict.delay + *verdict.again, way, value, origin);
}

// Reads the WQEs [from, item.until) at `due`, or when the QP's pause is over.
void NicNode::Fetch(Lane& lane, Time due, uint64_t from, DoorbellItem& item) {
  if (fabric_.faults.At(FaultWhere::kFetch)) [[unlikely]] {
    const FaultVerdict verdict = fabric_.faults.Judge(
        FaultWhere::kFetch, {node_, lane.number, from, item.until}, engine_.Now());
    // Later doorbells of the QP do not overtake what is paused.
    if (verdict.delay.ps != 0) lane.fetches_from = Later(lane.fetches_from, due + verdict.delay);
    due = Later(due, lane.fetches_from);
  }
  fetches_.Put(due, item);
}

// The lane's last write is to be this CQE.
void NicNode::OverlayCqe(Lane& lane, uint64_t address, const void* cqe) {
  uint64_t tail = 0;
  std::memcpy(&tail, static_cast<const uint8_t*>(cqe) + abi::kCqeTailOffset, sizeof(tail));
  const uint64_t fetched = lane.qp->requester.fetched;
  const auto behind = static_cast<uint16_t>(fetched - abi::TailCounter(tail));
  const uint64_t wqe = fetched - behind;
  const FaultVerdict verdict =
      fabric_.faults.Judge(FaultWhere::kCqe, {node_, lane.number, wqe, wqe + 1}, engine_.Now());
  lane.last_write += verdict.delay;
  if (!verdict.again) return;
  CqeItem& item = cqe_items_.Take();
  item.lane = &lane;
  item.address = address;
  std::memcpy(item.bytes.data(), cqe, item.bytes.size());
  cqes_again_.Put(lane.last_write + *verdict.again, item);
}

void NicNode::OnCqeAgain(CqeItem& item) {
  Lane& lane = *item.lane;
  lane.last_write = Later(lane.last_write, engine_.Now());
  memory_.WriteFromDevice({lane.agent, item.address, lane.last_write, {}}, item.bytes.data(),
                          item.bytes.size());
  cqe_items_.Give(item);
}

}  // namespace ringpost::sim
