// verbs_peer: one QP at a time of this machine's first RDMA device, by commands on a TCP
// connection.
//
//   verbs_peer HOST PORT IPV4_OF_THE_DEVICE
//
// It connects to HOST:PORT and answers each line by one line: "ok ...", or "error ..." which says
// what the machine refused. The test that listens there says what is to happen; see Commands().
#include <arpa/inet.h>
#include <infiniband/verbs.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/interop/pattern.h"

namespace ringpost::interop {
namespace {

constexpr size_t kMemoryBytes = 1 << 20;
constexpr uint32_t kDepth = 128;
constexpr auto kHangGuard = std::chrono::seconds(30);
constexpr unsigned kAccess = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
                             IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;

void Require(bool holds, const char* what) {
  if (!holds) throw std::runtime_error(std::string(what) + ": " + std::strerror(errno));
}
void RequireZero(int error, const char* what) {
  errno = error;
  Require(error == 0, what);
}

template <class T>
T Take(std::istream& words) {
  T value{};
  if (!(words >> value)) throw std::runtime_error("a word is missing or is no number");
  return value;
}

std::string Text(const char* format, auto... values) {
  char text[128];
  std::snprintf(text, sizeof(text), format, values...);
  return text;
}

class Peer {
 public:
  explicit Peer(const char* address) {
    Require(inet_pton(AF_INET, address, gid_.raw + 12) == 1, address);
    gid_.raw[10] = gid_.raw[11] = 0xff;
    ibv_device** devices = ibv_get_device_list(nullptr);
    Require(devices != nullptr && devices[0] != nullptr, "an RDMA device");
    device_ = ibv_open_device(devices[0]);
    Require(device_ != nullptr, "ibv_open_device");
    pd_ = ibv_alloc_pd(device_);
    Require(pd_ != nullptr, "ibv_alloc_pd");
    void* pages = nullptr;
    RequireZero(posix_memalign(&pages, 4096, kMemoryBytes), "memory");
    memory_ = static_cast<uint8_t*>(pages);
    region_ = ibv_reg_mr(pd_, memory_, kMemoryBytes, kAccess);
    Require(region_ != nullptr, "ibv_reg_mr");
    gid_index_ = FindGid();
  }

  // "memory": where its memory is, for the other side's RDMA: ADDRESS RKEY.
  std::string Memory(std::istream&) {
    return Text("%" PRIu64 " %u", reinterpret_cast<uint64_t>(memory_), region_->rkey);
  }

  // "create": a new QP instead of the one before: QPN.
  std::string Create(std::istream&) {
    Destroy();
    send_cq_ = ibv_create_cq(device_, kDepth, nullptr, nullptr, 0);
    receive_cq_ = ibv_create_cq(device_, kDepth, nullptr, nullptr, 0);
    Require(send_cq_ != nullptr && receive_cq_ != nullptr, "ibv_create_cq");
    ibv_qp_init_attr init = {};
    init.send_cq = send_cq_;
    init.recv_cq = receive_cq_;
    init.cap = {kDepth, kDepth, 1, 1, 0};
    init.qp_type = IBV_QPT_RC;
    qp_ = ibv_create_qp(pd_, &init);
    Require(qp_ != nullptr, "ibv_create_qp");
    return Text("%u", qp_->qp_num);
  }

  // "connect IPV4 QPN MTU SEND_PSN RECEIVE_PSN TIMEOUT RNR_TIMER": to RTS.
  std::string Connect(std::istream& words) {
    Require(qp_ != nullptr, "a QP");
    const auto address = Take<std::string>(words);
    ibv_qp_attr attr = {};
    attr.qp_state = IBV_QPS_INIT;
    attr.port_num = 1;
    attr.qp_access_flags = kAccess;
    Modify(attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
    attr.qp_state = IBV_QPS_RTR;
    attr.dest_qp_num = Take<uint32_t>(words);
    attr.path_mtu = MtuOf(Take<uint32_t>(words));
    attr.sq_psn = Take<uint32_t>(words);
    attr.rq_psn = Take<uint32_t>(words);
    attr.timeout = static_cast<uint8_t>(Take<unsigned>(words));
    attr.min_rnr_timer = static_cast<uint8_t>(Take<unsigned>(words));
    attr.max_rd_atomic = attr.max_dest_rd_atomic = 16;
    attr.retry_cnt = attr.rnr_retry = 7;
    attr.ah_attr.is_global = 1;
    attr.ah_attr.port_num = 1;
    attr.ah_attr.grh.sgid_index = static_cast<uint8_t>(gid_index_);
    attr.ah_attr.grh.hop_limit = 64;
    attr.ah_attr.grh.dgid = gid_;
    Require(inet_pton(AF_INET, address.c_str(), attr.ah_attr.grh.dgid.raw + 12) == 1, "an address");
    Modify(attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                     IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
    attr.qp_state = IBV_QPS_RTS;
    Modify(attr, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                     IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
    return {};
  }

  // "post OPERATION OFFSET BYTES REMOTE RKEY IMMEDIATE COMPARE SWAP COUNT STRIDE": so many of them
  // at once, each STRIDE bytes further on both sides. An addend stands in COMPARE.
  std::string Post(std::istream& words) {
    const auto operation = Take<std::string>(words);
    const auto found = Operations().find(operation);
    if (found == Operations().end()) throw std::runtime_error("no operation " + operation);
    const uint64_t offset = Take<uint64_t>(words), bytes = Take<uint64_t>(words);
    const uint64_t remote = Take<uint64_t>(words);
    ibv_send_wr first = {};
    first.opcode = found->second;
    first.send_flags = IBV_SEND_SIGNALED;
    const uint32_t rkey = Take<uint32_t>(words);
    first.imm_data = htonl(Take<uint32_t>(words));
    first.wr.atomic.compare_add = Take<uint64_t>(words);
    first.wr.atomic.swap = Take<uint64_t>(words);
    const uint64_t count = Take<uint64_t>(words), stride = Take<uint64_t>(words);
    std::vector<ibv_sge> pieces(count);
    std::vector<ibv_send_wr> requests(count, first);
    for (uint64_t i = 0; i < count; ++i) {
      pieces[i] = {reinterpret_cast<uint64_t>(At(offset + i * stride, bytes)),
                   static_cast<uint32_t>(bytes), region_->lkey};
      requests[i].sg_list = &pieces[i];
      requests[i].num_sge = bytes == 0 ? 0 : 1;
      requests[i].next = i + 1 < count ? &requests[i + 1] : nullptr;
      if (IsAtomic(first.opcode)) {
        requests[i].wr.atomic.remote_addr = remote + i * stride;
        requests[i].wr.atomic.rkey = rkey;
      } else {
        requests[i].wr.rdma = {remote + i * stride, rkey};
      }
    }
    ibv_send_wr* bad = nullptr;
    RequireZero(ibv_post_send(qp_, requests.data(), &bad), "ibv_post_send");
    return {};
  }

  // "receive OFFSET BYTES": posts a receive.
  std::string Receive(std::istream& words) {
    const uint64_t offset = Take<uint64_t>(words), bytes = Take<uint64_t>(words);
    ibv_sge piece = {reinterpret_cast<uint64_t>(At(offset, bytes)), static_cast<uint32_t>(bytes),
                     region_->lkey};
    ibv_recv_wr request = {};
    request.sg_list = &piece;
    request.num_sge = 1;
    ibv_recv_wr* bad = nullptr;
    RequireZero(ibv_post_recv(qp_, &request, &bad), "ibv_post_recv");
    return {};
  }

  // "sent", "received": waits for the next completion: STATUS OPCODE BYTES IMMEDIATE.
  std::string Sent(std::istream&) { return Next(send_cq_); }
  std::string Received(std::istream&) { return Next(receive_cq_); }

  // "fill OFFSET BYTES SEED", "check ...": the pattern of that seed: "same", or where it differs.
  std::string Fill(std::istream& words) {
    const uint64_t offset = Take<uint64_t>(words), bytes = Take<uint64_t>(words);
    FillPattern(At(offset, bytes), bytes, Take<uint32_t>(words));
    return {};
  }
  std::string Check(std::istream& words) {
    const uint64_t offset = Take<uint64_t>(words), bytes = Take<uint64_t>(words);
    const int64_t wrong = FindDifference(At(offset, bytes), bytes, Take<uint32_t>(words));
    return wrong < 0 ? "same" : Text("byte %" PRId64 " differs", wrong);
  }
  // "peek OFFSET", "poke OFFSET VALUE": 8 bytes.
  std::string Peek(std::istream& words) {
    uint64_t value = 0;
    std::memcpy(&value, At(Take<uint64_t>(words), sizeof(value)), sizeof(value));
    return Text("%" PRIu64, value);
  }
  std::string Poke(std::istream& words) {
    uint8_t* at = At(Take<uint64_t>(words), sizeof(uint64_t));
    const uint64_t value = Take<uint64_t>(words);
    std::memcpy(at, &value, sizeof(value));
    return {};
  }
  // "destroy": the QP is gone.
  std::string Gone(std::istream&) {
    Destroy();
    return {};
  }

 private:
  static const std::map<std::string, ibv_wr_opcode>& Operations() {
    static const std::map<std::string, ibv_wr_opcode> operations = {
        {"send", IBV_WR_SEND},
        {"send_imm", IBV_WR_SEND_WITH_IMM},
        {"write", IBV_WR_RDMA_WRITE},
        {"write_imm", IBV_WR_RDMA_WRITE_WITH_IMM},
        {"read", IBV_WR_RDMA_READ},
        {"fetch_add", IBV_WR_ATOMIC_FETCH_AND_ADD},
        {"cas", IBV_WR_ATOMIC_CMP_AND_SWP}};
    return operations;
  }
  static bool IsAtomic(ibv_wr_opcode opcode) {
    return opcode == IBV_WR_ATOMIC_FETCH_AND_ADD || opcode == IBV_WR_ATOMIC_CMP_AND_SWP;
  }
  static ibv_mtu MtuOf(uint32_t bytes) {
    return bytes >= 4096   ? IBV_MTU_4096
           : bytes >= 2048 ? IBV_MTU_2048
           : bytes >= 1024 ? IBV_MTU_1024
           : bytes >= 512  ? IBV_MTU_512
                           : IBV_MTU_256;
  }

  uint8_t* At(uint64_t offset, uint64_t bytes) {
    if (offset > kMemoryBytes || bytes > kMemoryBytes - offset) {
      throw std::runtime_error("beyond the memory");
    }
    return memory_ + offset;
  }

  // The driver adds them after the address was set, by a worker of the kernel.
  int FindGid() {
    const auto guard = std::chrono::steady_clock::now() + kHangGuard;
    while (std::chrono::steady_clock::now() < guard) {
      ibv_gid_entry entry = {};
      for (uint32_t i = 0; i < 16; ++i) {
        const bool there = ibv_query_gid_ex(device_, 1, i, &entry, 0) == 0;
        if (there && entry.gid_type == IBV_GID_TYPE_ROCE_V2 &&
            std::memcmp(entry.gid.raw, gid_.raw, sizeof(gid_.raw)) == 0) {
          return static_cast<int>(i);
        }
      }
      usleep(10'000);
    }
    throw std::runtime_error("the device has no GID of this address");
  }

  void Modify(ibv_qp_attr& attr, int mask) {
    RequireZero(ibv_modify_qp(qp_, &attr, mask), "ibv_modify_qp");
  }

  static std::string Next(ibv_cq* cq) {
    Require(cq != nullptr, "a QP");
    const auto guard = std::chrono::steady_clock::now() + kHangGuard;
    ibv_wc entry = {};
    int found = 0;
    while ((found = ibv_poll_cq(cq, 1, &entry)) == 0) {
      if (std::chrono::steady_clock::now() > guard) throw std::runtime_error("nothing completed");
    }
    Require(found == 1, "ibv_poll_cq");
    const bool immediate = (entry.wc_flags & IBV_WC_WITH_IMM) != 0;
    return Text("%d %d %u %u", entry.status, entry.opcode, entry.byte_len,
                immediate ? ntohl(entry.imm_data) : 0);
  }

  void Destroy() {
    if (qp_ == nullptr) return;
    RequireZero(ibv_destroy_qp(qp_), "ibv_destroy_qp");
    RequireZero(ibv_destroy_cq(send_cq_), "ibv_destroy_cq");
    RequireZero(ibv_destroy_cq(receive_cq_), "ibv_destroy_cq");
    qp_ = nullptr;
    send_cq_ = receive_cq_ = nullptr;
  }

  ibv_gid gid_ = {};
  ibv_context* device_ = nullptr;
  ibv_pd* pd_ = nullptr;
  ibv_mr* region_ = nullptr;
  ibv_cq* send_cq_ = nullptr;
  ibv_cq* receive_cq_ = nullptr;
  ibv_qp* qp_ = nullptr;
  uint8_t* memory_ = nullptr;
  int gid_index_ = 0;
};

using Command = std::string (Peer::*)(std::istream&);
const std::map<std::string, Command>& Commands() {
  static const std::map<std::string, Command> commands = {
      {"memory", &Peer::Memory},     {"create", &Peer::Create}, {"connect", &Peer::Connect},
      {"destroy", &Peer::Gone},      {"post", &Peer::Post},     {"receive", &Peer::Receive},
      {"sent", &Peer::Sent},         {"fill", &Peer::Fill},     {"check", &Peer::Check},
      {"received", &Peer::Received}, {"peek", &Peer::Peek},     {"poke", &Peer::Poke}};
  return commands;
}

std::string Answer(Peer& peer, const std::string& line) {
  std::istringstream words(line);
  std::string name;
  words >> name;
  const auto found = Commands().find(name);
  if (found == Commands().end()) return "error no command " + name;
  try {
    return "ok " + (peer.*found->second)(words);
  } catch (const std::exception& error) {
    return "error " + name + ": " + error.what();
  }
}

// Ends when the other side closes the connection.
void Serve(Peer& peer, const char* host, const char* port) {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(std::atoi(port)));
  Require(inet_pton(AF_INET, host, &address.sin_addr) == 1, host);
  const auto* where = reinterpret_cast<const sockaddr*>(&address);
  Require(connect(socket, where, sizeof(address)) == 0, "connect");
  const int at_once = 1;
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof(at_once));
  std::FILE* lines = fdopen(socket, "r");
  Require(lines != nullptr, "fdopen");
  char line[512];
  while (std::fgets(line, sizeof(line), lines) != nullptr) {
    const std::string answer = Answer(peer, line) + "\n";
    Require(write(socket, answer.data(), answer.size()) == static_cast<ssize_t>(answer.size()),
            "write");
  }
}

}  // namespace
}  // namespace ringpost::interop

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "verbs_peer: give HOST, PORT and the device's IPv4 address\n");
    return 2;
  }
  try {
    ringpost::interop::Peer peer(argv[3]);
    ringpost::interop::Serve(peer, argv[1], argv[2]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "verbs_peer: %s\n", error.what());
    return 1;
  }
  return 0;
}
