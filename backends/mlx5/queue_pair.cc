#include "backends/mlx5/queue_pair.h"

#include <fmt/format.h>

#include <algorithm>

#include "backends/mlx5/queue_commands.h"
#include "transport/abi/wqe.h"

namespace ringpost::mlx5 {

Result<bool> QueuePair::Connect(const Path& path, const QpAddress& peer) {
  const bool dc = views_.send.kind == TransportKind::kDc;
  if (dc && peer.dct == 0) {
    return Error{fmt::format("{}: QP {:#x} of the peer has no DCT to connect to",
                             shared_.device.Name(), peer.qpn)};
  }
  if (dc && path.global) return Error{NoGidOverDc(shared_.device.Name())};
  if (mtu_ != 0 && !dc) {
    return Error{
        fmt::format("{}: QP {:#x} is connected already", shared_.device.Name(), views_.send.qpn)};
  }
  if (mtu_ > path.mtu) {
    return Error{fmt::format(
        "{}: DCI {:#x} sends packets of {} bytes, and this peer takes {}; "
        "connect it first to the peer with the smallest MTU",
        shared_.device.Name(), views_.send.qpn, BytesOfMtu(mtu_), BytesOfMtu(path.mtu))};
  }
  if (mtu_ == 0) {
    const std::string wrong = BringUp(path, peer);
    if (!wrong.empty()) return Error{wrong};
    mtu_ = path.mtu;
  }
  if (dc) views_.send.target = {abi::kDcAccessKey, peer.dct, path.lid};
  return true;
}

std::string NoGidOverDc(const std::string& port) {
  return port +
         ": this network's packets have a global header, for which address vectors of DC need a "
         "GID, "
         "and the transport's name a LID; use transport.kind: rc";
}

// Every field is set or zero: the kernel refuses what is left over in others.
ibv_ah_attr AddressHandle(const DeviceFacts& facts, const Path& path) {
  ibv_ah_attr attributes = {};
  attributes.port_num = static_cast<uint8_t>(facts.port);
  if (path.link == Link::kInfiniband) attributes.dlid = path.lid;
  if (!path.global) return attributes;
  attributes.is_global = 1;
  std::copy(path.gid.begin(), path.gid.end(), attributes.grh.dgid.raw);
  attributes.grh.sgid_index = static_cast<uint8_t>(facts.gid_index);
  attributes.grh.hop_limit = kHopLimit;
  return attributes;
}

}  // namespace ringpost::mlx5
