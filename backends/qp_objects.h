// qp_objects.h: what a QpSpec comes to on a software NIC: the objects of its function, and how they
// are brought up. Both backends place the queues; the rest is here.
#pragma once

#include <functional>
#include <string>

#include "backends/qp_spec.h"
#include "sim/nic/rnic.h"
#include "transport/nic.h"

namespace ringpost {

// The numbers of its objects; 0 where there is none.
struct QpObjects {
  uint32_t send_cq = 0;
  uint32_t receive_cq = 0;
  uint32_t srq = 0;
  uint32_t qp = 0;  // RC, or the DCI
  uint32_t dct = 0;
};

// Rnic's functions of these names, wherever that NIC runs.
struct ObjectMaker {
  std::function<sim::Created(const sim::CqConfig&)> cq;
  std::function<sim::Created(uint32_t pd, const sim::ReceiveQueueConfig&)> srq;
  std::function<sim::Created(const sim::RnicQpConfig&)> qp;
};

// Makes the objects behind views whose queues are placed; sets their QPN. Empty if done; what was
// made before a refusal stays in `objects`.
std::string MakeObjects(const ObjectMaker& make, uint32_t pd, QpViews& views, QpObjects& objects);

// To RTS, towards the peer. `state` is that of `objects.qp`, `modify` is Rnic::ModifyQp.
using Modify = std::function<std::string(uint32_t, const sim::QpAttributes&, uint32_t mask)>;
std::string ConnectObjects(const QpObjects& objects, sim::State state, const sim::Address& to,
                           const QpAddress& peer, const sim::RnicConfig& nic, const Modify& modify);

}  // namespace ringpost
