// context.h: what one open file of a virtual device has: its objects, by the handles that the
// program knows, and its asynchronous events.
//
// Commands run one at a time, under Mutex(). The NIC's thread takes no such lock: it reaches an
// event pipe only.
#pragma once

#include <rdma/ib_user_verbs.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "sim/nic/address.h"
#include "sim/uverbs/event_pipe.h"
#include "sim/uverbs/handle_table.h"
#include "sim/uverbs/nic_host.h"
#include "sim/uverbs/prm/devx.h"

namespace ringpost::sim::uverbs {

struct Pd {
  uint32_t number = 0;  // the NIC's
};

// Memory that the NIC reaches: the program's own, a GPU's, or a dma-buf's.
struct Mr {
  uint32_t pd = 0;  // handle
  uint32_t key = 0;
  uint64_t iova = 0;
  uint64_t address = 0;
  uint64_t bytes = 0;
  uint32_t access = 0;
  prm::Devx::Memory dma_buf;  // null: it is of none
};

struct Range {
  uint64_t address = 0;
  uint64_t bytes = 0;
};

struct Cq {
  uint32_t number = 0;
  uint64_t user_handle = 0;
  std::shared_ptr<EventPipe> channel;  // null: none
  Range ring;
  Range record;
};

struct Srq {
  uint32_t number = 0;
  uint64_t user_handle = 0;
  uint32_t max_wr = 0;
  uint32_t max_sge = 0;
  Range ring;
  Range record;
};

struct Qp {
  uint32_t number = 0;
  uint64_t user_handle = 0;
  uint8_t type = 0;     // ib_uverbs_qp_type
  bool target = false;  // a DCT, which has its number from RTR on
  uint8_t signal_all = 0;
  uint32_t max_send_wr = 0, max_recv_wr = 0, max_send_sge = 0, max_recv_sge = 0, max_inline = 0;
  Range rings;
  Range record;
};

struct Ah {
  uint32_t pd = 0;  // the NIC's number
};

struct Uar {
  uint32_t page = 0;  // of NicHost::Uars()
};

class Context {
 public:
  explicit Context(std::shared_ptr<NicHost> nic);
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  // Destroys what is left, as the kernel does when a file is closed.
  ~Context();

  NicHost& Nic() { return *nic_; }
  std::mutex& Mutex() { return mutex_; }
  EventPipe* Events() { return events_.get(); }
  // A descriptor for asynchronous events, or -1. The program gets and closes it.
  int MakeEvents();
  // The completion channel of a descriptor; null if it is none.
  std::shared_ptr<EventPipe> ChannelOf(int file) const;
  int MakeChannel();
  // The program has closed this descriptor; true if it was a channel's.
  void Closed(int file);

  // Posts an asynchronous event of an object; on any thread.
  static void PostEvent(EventPipe* events, uint64_t object, uint32_t type);
  uint32_t ForgetEvents(uint64_t object) { return events_ ? events_->Forget(object) : 0; }

  HandleTable<Pd> pds;
  HandleTable<Mr> mrs;
  HandleTable<Cq> cqs;
  HandleTable<Srq> srqs;
  HandleTable<Qp> qps;
  HandleTable<Ah> ahs;
  HandleTable<Uar> uars;
  // What came by DevX. Made at its first use; on the NIC's thread, as all of it.
  std::unique_ptr<prm::Devx> devx;

  // Lets the NIC touch a queue's memory, and takes that back. On the NIC's thread.
  static void Allow(service::NicLoop& loop, const Range& range);
  static void Forbid(service::NicLoop& loop, const Range& range);

  const std::shared_ptr<EventPipe>& EventsShared() const { return events_; }

 private:
  const std::shared_ptr<NicHost> nic_;
  std::mutex mutex_;
  std::shared_ptr<EventPipe> events_;
  std::map<int, std::shared_ptr<EventPipe>> channels_;  // by the program's descriptor
};

}  // namespace ringpost::sim::uverbs
