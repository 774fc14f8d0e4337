#include "sim/uverbs/record/replay.h"

#include <fmt/format.h>
#include <rdma/mlx5_user_ioctl_cmds.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <memory>
#include <utility>

#include "sim/uverbs/prm/devx.h"
#include "sim/uverbs/prm/layout/cqc.h"
#include "sim/uverbs/prm/layout/dctc.h"
#include "sim/uverbs/prm/layout/mkc.h"
#include "sim/uverbs/prm/layout/qpc.h"
#include "sim/uverbs/prm/layout/rmpc.h"

namespace ringpost::sim::uverbs::record {
namespace {

using namespace prm;  // NOLINT: the layouts' names
using enum Opcode;

constexpr uint64_t kUmemBytes = 256 << 20;  // reserved, and touched by nobody

// What a number is of. Objects of the firmware are named by the command that makes them.
constexpr Opcode kUmem{0xf001}, kEqn{0xf002};

// Numbers in the contexts of objects, by the command that makes these.
struct Reference {
  Opcode creator;
  uint16_t create_at, query_at;  // where the context begins
  Field field;
  Opcode of;
};
constexpr Reference kReferences[] = {
    {kCreateCq, cqc::kAt, kContextAt, cqc::kUar, kAllocUar},
    {kCreateCq, cqc::kAt, kContextAt, cqc::kEqn, kEqn},
    {kCreateCq, cqc::kAt, kContextAt, cqc::kDbrUmem, kUmem},
    {kCreateQp, qpc::kAt, qpc::kAt, qpc::kPd, kAllocPd},
    {kCreateQp, qpc::kAt, qpc::kAt, qpc::kUar, kAllocUar},
    {kCreateQp, qpc::kAt, qpc::kAt, qpc::kSendCq, kCreateCq},
    {kCreateQp, qpc::kAt, qpc::kAt, qpc::kReceiveCq, kCreateCq},
    {kCreateQp, qpc::kAt, qpc::kAt, qpc::kSrq, kCreateRmp},
    {kCreateQp, qpc::kAt, qpc::kAt, qpc::kDbrUmem, kUmem},
    {kCreateQp, qpc::kAt, qpc::kAt, qpc::kRemoteQpn, kCreateQp},
    {kCreateDct, dctc::kAt, kContextAt, dctc::kPd, kAllocPd},
    {kCreateDct, dctc::kAt, kContextAt, dctc::kCq, kCreateCq},
    {kCreateDct, dctc::kAt, kContextAt, dctc::kSrq, kCreateRmp},
    {kCreateRmp, rmpc::kAt, rmpc::kAt, rmpc::kPd, kAllocPd},
    {kCreateRmp, rmpc::kAt, rmpc::kAt, rmpc::kUmem, kUmem},
    {kCreateRmp, rmpc::kAt, rmpc::kAt, rmpc::kDbrUmem, kUmem},
    {kCreateMkey, mkc::kAt, kContextAt, mkc::kPd, kAllocPd},
};
// And beside the contexts, where their memory is.
constexpr struct {
  Opcode creator;
  Field umem;
} kRings[] = {{kCreateCq, cqc::kUmem}, {kCreateQp, qpc::kUmem}, {kCreateMkey, mkc::kUmem}};

class Player {
 public:
  explicit Player(Firmware& firmware)
      : firmware_(firmware),
        memory_(mmap(nullptr, kUmemBytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {}
  Player(const Player&) = delete;
  Player& operator=(const Player&) = delete;
  ~Player() {
    files_.clear();
    munmap(memory_, kUmemBytes);
  }

  Replayed Play(const std::vector<DevxCall>& calls) {
    for (const DevxCall& call : calls) {
      ++result_.calls;
      if (call.method == MLX5_IB_METHOD_DEVX_OBJ_DESTROY &&
          call.object == MLX5_IB_OBJECT_DEVX_OBJ) {
        Destroy(call);
      } else {
        Run(call);
      }
    }
    return std::move(result_);
  }

 private:
  // Objects belong to the file that made them.
  struct OpenFile {
    std::unique_ptr<Devx> devx;
    std::map<uint64_t, uint32_t> handles;                     // ours, by the recorded one
    std::map<std::pair<Opcode, uint32_t>, uint32_t> numbers;  // the same, by what it is of
  };

  OpenFile& FileOf(const DevxCall& call) {
    OpenFile& file = files_[call.file];
    if (file.devx == nullptr) {
      file.devx = std::make_unique<Devx>(firmware_, [](int, Devx::Memory*) { return EBADF; });
    }
    return file;
  }

  void Differ(const DevxCall& call, const char* command, const std::string& what) {
    result_.differences.push_back({call.line, fmt::format("{}: {}", command, what)});
  }

  // Our number for a recorded one. What a program gets by other ways is made at its first use; a
  // number of nobody here, as of a QP elsewhere, stays as it is.
  uint32_t Ours(OpenFile& file, Opcode of, uint32_t recorded) {
    if (recorded == 0) return 0;
    const auto [found, made] = file.numbers.try_emplace({of, recorded}, recorded);
    if (!made) return found->second;
    const uint16_t uid = file.devx->Uid();
    if (of == kUmem) {
      found->second = firmware_.CreateUmem({uid, reinterpret_cast<uint64_t>(memory_), kUmemBytes});
    } else if (of == kEqn) {
      found->second = firmware_.EqnOf(0);
    } else if (of == kAllocPd || of == kAllocUar) {
      std::vector<uint8_t> in(kHeaderBytes), out(kHeaderBytes);
      prm::Set(in.data(), kOpcode, static_cast<uint32_t>(of));
      firmware_.Execute(in, out, uid);
      found->second = prm::Get(out.data(), kNumber);
    }
    return found->second;
  }

  void Exchange(OpenFile& file, std::vector<uint8_t>& bytes, Field field, Opcode of) {
    if (field.offset + size_t{4} > bytes.size()) return;
    prm::Set(bytes.data(), field, Ours(file, of, prm::Get(bytes.data(), field)));
  }

  // The numbers in a mailbox about an object that `facts` names; of the answer, if `answer`.
  void ExchangeAll(OpenFile& file, std::vector<uint8_t>& bytes, const CommandFacts& facts,
                   bool answer) {
    const bool creates = facts.verb == Verb::kCreate, queries = facts.verb == Verb::kQuery;
    if (facts.verb == Verb::kGeneral) return;
    if (answer ? creates : !creates) Exchange(file, bytes, kNumber, facts.creator);
    if (answer != queries) return;
    for (const Reference& reference : kReferences) {
      // A transition has the context where CREATE_QP has it, and counts what it needs.
      if (reference.creator != facts.creator) continue;
      const uint16_t at = queries ? reference.query_at : reference.create_at;
      Exchange(file, bytes, In(at, reference.field), reference.of);
    }
    for (const auto& ring : kRings) {
      if (creates && ring.creator == facts.creator) Exchange(file, bytes, ring.umem, kUmem);
    }
  }

  void Run(const DevxCall& call) {
    OpenFile& file = FileOf(call);
    std::vector<uint8_t> in = call.in, expected = call.out;
    expected.resize(std::max<size_t>(expected.size(), kHeaderBytes));
    std::vector<uint8_t> out(expected.size());
    const uint32_t opcode = in.size() < kHeaderBytes ? 0 : prm::Get(in.data(), kOpcode);
    const CommandFacts* facts = FindCommand(static_cast<uint16_t>(opcode));
    const std::string name = facts == nullptr ? fmt::format("command {:#x}", opcode) : facts->name;
    if (facts != nullptr) ExchangeAll(file, in, *facts, false);
    uint32_t handle = 0;
    int error = 0;
    if (call.object == MLX5_IB_OBJECT_DEVX) {
      error = file.devx->General(in, out);
    } else if (call.method == MLX5_IB_METHOD_DEVX_OBJ_CREATE) {
      error = file.devx->Create(in, out, &handle);
    } else {
      const auto known = file.handles.find(call.handle);
      if (known != file.handles.end()) handle = known->second;
      error = call.method == MLX5_IB_METHOD_DEVX_OBJ_MODIFY ? file.devx->Modify(handle, in, out)
                                                            : file.devx->Query(handle, in, out);
    }
    if (error != call.error) {
      Differ(call, name.c_str(),
             fmt::format("errno: recorded {}, here {} (status {:#x}, syndrome {:#x})", call.error,
                         error, prm::Get(out.data(), kStatus), prm::Get(out.data(), kSyndrome)));
      return;
    }
    if (error == 0 && call.method == MLX5_IB_METHOD_DEVX_OBJ_CREATE && facts != nullptr) {
      file.handles[call.handle] = handle;
      file.numbers[{facts->creator, prm::Get(expected.data(), kNumber)}] =
          prm::Get(out.data(), kNumber);
    }
    if (facts != nullptr && error == 0) ExchangeAll(file, expected, *facts, true);
    Compare(call, name.c_str(), expected, out);
  }

  void Compare(const DevxCall& call, const char* name, const std::vector<uint8_t>& expected,
               const std::vector<uint8_t>& out) {
    for (size_t at = 0; at + 4 <= out.size(); at += 4) {
      if (at == kSyndrome.offset) continue;  // each firmware's own
      const uint32_t theirs = prm::Get(expected.data(), Dword(at));
      const uint32_t ours = prm::Get(out.data(), Dword(at));
      if (theirs == ours) continue;
      Differ(call, name, fmt::format("{:#x}: recorded {:#010x}, here {:#010x}", at, theirs, ours));
    }
  }

  void Destroy(const DevxCall& call) {
    OpenFile& file = FileOf(call);
    const auto known = file.handles.find(call.handle);
    const int error = known == file.handles.end() ? EINVAL : file.devx->Destroy(known->second);
    if (error == 0) file.handles.erase(known);
    if (error == call.error) return;
    Differ(call, "end of an object", fmt::format("errno: recorded {}, here {}", call.error, error));
  }

  Firmware& firmware_;
  void* const memory_;
  std::map<std::string, OpenFile> files_;
  Replayed result_;
};

}  // namespace

Replayed Replay(const std::vector<DevxCall>& calls, Firmware& firmware) {
  return Player(firmware).Play(calls);
}

}  // namespace ringpost::sim::uverbs::record
