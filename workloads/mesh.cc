#include "workloads/mesh.h"

#include <tuple>

namespace ringpost::workloads {
namespace {

void ConnectRc(Fabric& fabric, const QpSpec& spec, uint32_t a, uint32_t b, Mesh& mesh,
               Outcome& outcome) {
  const Result<QpAddress> at_a = fabric.nic(a).CreateQp(spec);
  const Result<QpAddress> at_b = fabric.nic(b).CreateQp(spec);
  if (!at_a.Ok()) return outcome.Fail(at_a.Message());
  if (!at_b.Ok()) return outcome.Fail(at_b.Message());
  for (const auto& [rank, own, other] :
       {std::tuple(a, at_a.Value(), at_b.Value()), std::tuple(b, at_b.Value(), at_a.Value())}) {
    const Result<bool> connected = fabric.nic(rank).Connect(own, other);
    if (!connected.Ok()) return outcome.Fail(connected.Message());
    mesh[rank][rank == a ? b : a].push_back(fabric.nic(rank).View(own).Value());
  }
}

void ConnectDc(Fabric& fabric, const QpSpec& spec, uint32_t count, Mesh& mesh, Outcome& outcome) {
  std::vector<std::vector<QpAddress>> made(fabric.Nodes());
  for (uint32_t rank = 0; rank < fabric.Nodes(); ++rank) {
    for (uint32_t queue = 0; queue < count; ++queue) {
      const Result<QpAddress> address = fabric.nic(rank).CreateQp(spec);
      if (!address.Ok()) return outcome.Fail(address.Message());
      made[rank].push_back(address.Value());
    }
  }
  for (uint32_t rank = 0; rank < fabric.Nodes(); ++rank) {
    for (uint32_t queue = 0; queue < count; ++queue) {
      const uint32_t neighbour = (rank + 1) % fabric.Nodes();
      const Result<bool> connected =
          fabric.nic(rank).Connect(made[rank][queue], made[neighbour][queue]);
      if (!connected.Ok()) return outcome.Fail(connected.Message());
    }
  }
  for (uint32_t rank = 0; rank < fabric.Nodes(); ++rank) {
    for (uint32_t peer = 0; peer < fabric.Nodes(); ++peer) {
      for (uint32_t queue = 0; queue < count; ++queue) {
        QpView view = fabric.nic(rank).View(made[rank][queue]).Value();
        view.target.dct = made[peer][0].dct;
        view.target.lid = sim::NicNode::AddressOf(peer).lid;
        mesh[rank][peer].push_back(view);
      }
    }
  }
}

}  // namespace

Mesh ConnectMesh(Fabric& fabric, const QpSpec& spec, uint32_t count,
                 const std::function<bool(uint32_t rank, uint32_t peer)>& between,
                 Outcome& outcome) {
  Mesh mesh(fabric.Nodes(), std::vector<std::vector<QpView>>(fabric.Nodes()));
  if (spec.kind == TransportKind::kDc) {
    ConnectDc(fabric, spec, count, mesh, outcome);
    return mesh;
  }
  for (uint32_t b = 1; b < fabric.Nodes(); ++b) {
    for (uint32_t a = 0; a < b; ++a) {
      if (!between(a, b)) continue;
      for (uint32_t queue = 0; queue < count && outcome.ok; ++queue) {
        ConnectRc(fabric, spec, a, b, mesh, outcome);
      }
    }
  }
  return mesh;
}

}  // namespace ringpost::workloads
