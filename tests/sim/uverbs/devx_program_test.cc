// A program of DevX, over rdma-core's own libibverbs and libmlx5 and the virtual device: what
// libraries of GPU-initiated RDMA do on the host, call by call.
#include <fcntl.h>
#include <infiniband/mlx5dv.h>
#include <infiniband/verbs.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>

#include "sim/uverbs/prm/layout/command.h"
#include "sim/uverbs/prm/layout/cqc.h"
#include "sim/uverbs/prm/layout/dctc.h"
#include "sim/uverbs/prm/layout/hca_cap.h"
#include "sim/uverbs/prm/layout/qpc.h"
#include "sim/uverbs/prm/layout/rmpc.h"
#include "sim/uverbs/sysfs.h"
#include "tests/sim/nic/wqe_bytes.h"
#include "transport/abi/cqe.h"
#include "transport/abi/doorbell.h"

namespace ringpost::sim::uverbs::prm {
namespace {

// The device is there from a process's first call on: so this program starts again, in its place.
__attribute__((constructor)) void StartOver(int, char** arguments, char**) {
  if (std::getenv("RINGPOST_UVERBS_ROOT") != nullptr) return;
  const char* place = std::getenv("TEST_TMPDIR");
  std::string root = std::string(place == nullptr ? "/tmp" : place) + "/devxXXXXXX";
  if (mkdtemp(root.data()) == nullptr) std::_Exit(1);
  Settings settings = DefaultSettings(1);
  settings.fabric = "devx" + std::to_string(getpid());
  if (!WriteTree(root, settings).Ok()) std::_Exit(1);
  setenv("RINGPOST_UVERBS_ROOT", root.c_str(), 1);
  execv("/proc/self/exe", arguments);
  std::_Exit(1);
}

struct RemoveTree {
  ~RemoveTree() { std::filesystem::remove_all(std::getenv("RINGPOST_UVERBS_ROOT")); }
};
BOOST_TEST_GLOBAL_FIXTURE(RemoveTree);

constexpr std::chrono::seconds kHang{30};
constexpr size_t kMailbox = 0x110;

struct Mail {
  uint8_t in[kMailbox] = {};
  uint8_t out[kMailbox] = {};
  explicit Mail(Opcode opcode) { Set(in, kOpcode, static_cast<uint32_t>(opcode)); }
  template <class F, class V>
  Mail& Put(F field, V value) {
    Set(in, field,
        static_cast<std::conditional_t<std::is_same_v<F, Wide>, uint64_t, uint32_t>>(value));
    return *this;
  }
  uint32_t Number() const { return Get(out, kNumber); }
};

// One open device with its queues' memory.
struct Program {
  ibv_context* context = nullptr;
  ibv_pd* pd = nullptr;
  ibv_mr* mr = nullptr;
  uint32_t pdn = 0, eqn = 0, cqn = 0;
  mlx5dv_devx_umem* umem = nullptr;
  mlx5dv_devx_uar* uar = nullptr;
  mlx5dv_devx_obj* cq = nullptr;
  static constexpr size_t kBytes = 1 << 16;
  uint8_t* memory = static_cast<uint8_t*>(std::aligned_alloc(4096, kBytes));

  Program() {
    std::memset(memory, 0, kBytes);
    int devices = 0;
    ibv_device** list = ibv_get_device_list(&devices);
    BOOST_TEST_REQUIRE(devices == 1);
    BOOST_TEST_REQUIRE(mlx5dv_is_supported(list[0]));
    context = ibv_open_device(list[0]);
    ibv_free_device_list(list);
    BOOST_TEST_REQUIRE(context != nullptr);
    pd = ibv_alloc_pd(context);
    mlx5dv_pd pd_out{};
    mlx5dv_obj object{};
    object.pd = {pd, &pd_out};
    BOOST_TEST_REQUIRE(mlx5dv_init_obj(&object, MLX5DV_OBJ_PD) == 0);
    pdn = pd_out.pdn;
    constexpr int kAll = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
                         IBV_ACCESS_REMOTE_ATOMIC;
    const int access = kAll;
    mr = ibv_reg_mr(pd, memory, kBytes, access);
    uar = mlx5dv_devx_alloc_uar(context, MLX5DV_UAR_ALLOC_TYPE_NC);
    umem = mlx5dv_devx_umem_reg(context, memory, kBytes, IBV_ACCESS_LOCAL_WRITE);
    BOOST_TEST_REQUIRE((pd != nullptr && mr != nullptr && uar != nullptr && umem != nullptr));
    BOOST_TEST(mlx5dv_devx_query_eqn(context, 0, &eqn) == 0);
    cq = MakeCq(0x1000, 0x100, &cqn);
  }
  ~Program() {
    BOOST_TEST(mlx5dv_devx_obj_destroy(cq) == 0);
    BOOST_TEST(mlx5dv_devx_umem_dereg(umem) == 0);
    mlx5dv_devx_free_uar(uar);
    BOOST_TEST(ibv_dereg_mr(mr) == 0);
    BOOST_TEST(ibv_dealloc_pd(pd) == 0);
    BOOST_TEST(ibv_close_device(context) == 0);
    std::free(memory);
  }

  mlx5dv_devx_obj* Make(Mail& mail) {
    return mlx5dv_devx_obj_create(context, mail.in, kMailbox, mail.out, kMailbox);
  }
  mlx5dv_devx_obj* MakeCq(uint64_t ring, uint64_t record, uint32_t* number) {
    std::memset(memory + ring, 0xff, 32 * abi::kCqeBytes);
    Mail mail(Opcode::kCreateCq);
    mail.Put(In(cqc::kAt, cqc::kLogSize), 5).Put(In(cqc::kAt, cqc::kUar), uar->page_id);
    mail.Put(In(cqc::kAt, cqc::kEqn), eqn).Put(In(cqc::kAt, cqc::kOverrunIgnore), 1);
    mail.Put(In(cqc::kAt, cqc::kDbrUmem), umem->umem_id).Put(In(cqc::kAt, cqc::kDbr), record);
    mail.Put(cqc::kUmem, umem->umem_id).Put(cqc::kUmemOffset, ring);
    mlx5dv_devx_obj* made = Make(mail);
    BOOST_TEST_REQUIRE(made != nullptr);
    *number = mail.Number();
    return made;
  }
  mlx5dv_devx_obj* MakeQp(uint32_t service, uint64_t ring, uint64_t record, uint32_t* number) {
    Mail mail(Opcode::kCreateQp);
    const auto put = [&](Field field, uint32_t value) { mail.Put(In(qpc::kAt, field), value); };
    put(qpc::kServiceType, service);
    put(qpc::kPathMigration, 3);
    put(qpc::kPd, pdn);
    put(qpc::kUar, uar->page_id);
    put(qpc::kRqType, qpc::kNoRq);
    put(qpc::kLogSqSize, 4);
    put(qpc::kSendCq, cqn);
    put(qpc::kReceiveCq, cqn);
    put(qpc::kDbrUmem, umem->umem_id);
    mail.Put(In(qpc::kAt, qpc::kDbr), record);
    mail.Put(qpc::kUmem, umem->umem_id).Put(qpc::kUmemOffset, ring);
    mlx5dv_devx_obj* made = Make(mail);
    BOOST_TEST_REQUIRE(made != nullptr);
    *number = mail.Number();
    return made;
  }
  void BringUp(mlx5dv_devx_obj* qp, uint32_t qpn, uint32_t peer) {
    ibv_port_attr port{};
    BOOST_TEST(ibv_query_port(context, 1, &port) == 0);
    for (const Opcode step : {Opcode::kRst2Init, Opcode::kInit2Rtr, Opcode::kRtr2Rts}) {
      Mail mail(step);
      mail.Put(kNumber, qpn);
      const auto put = [&](Field field, uint32_t value) { mail.Put(In(qpc::kAt, field), value); };
      put(qpc::kPathMigration, 3);
      put(qpc::kRemoteRead, 1);
      put(qpc::kRemoteWrite, 1);
      put(qpc::kRemoteAtomic, 1);
      put(qpc::kAtomicMode, 3);
      put(qpc::kMtu, port.active_mtu);
      put(qpc::kLogMessageMax, 30);
      put(qpc::kRemoteQpn, peer);
      put(qpc::kMinRnrNak, 12);
      put(qpc::kRetryCount, 7);
      put(qpc::kRnrRetry, 7);
      put(In(qpc::kPrimaryPath, ads::kPort), 1);
      put(In(qpc::kPrimaryPath, ads::kLid), port.lid);
      put(In(qpc::kPrimaryPath, ads::kAckTimeout), 20);
      const int error = mlx5dv_devx_obj_modify(qp, mail.in, kMailbox, mail.out, kMailbox);
      BOOST_TEST_REQUIRE(error == 0, "syndrome " << Get(mail.out, kSyndrome));
    }
  }
  uint32_t StateOf(mlx5dv_devx_obj* qp, uint32_t qpn) {
    Mail mail(Opcode::kQueryQp);
    mail.Put(kNumber, qpn);
    BOOST_TEST(mlx5dv_devx_obj_query(qp, mail.in, kMailbox, mail.out, kMailbox) == 0);
    return Get(mail.out, In(qpc::kAt, qpc::kState));
  }
  // The first WQE of a queue, its record, its doorbell; then the tail of its CQE.
  uint64_t PostFirst(const WqeBytes& wqe, uint32_t qpn, uint64_t ring, uint64_t record,
                     uint32_t cqe) {
    const std::vector<uint8_t> bytes = wqe.Finish(0, qpn);
    std::memcpy(memory + ring, bytes.data(), bytes.size());
    // Release: orders the WQE before its record and this before the doorbell, for the NIC's thread.
    std::atomic_ref<uint32_t>(*reinterpret_cast<uint32_t*>(memory + record + 4))
        .store(abi::Swap32(wqe.Blocks()), std::memory_order_release);
    std::atomic_ref<uint64_t>(*static_cast<uint64_t*>(uar->reg_addr))
        .store(abi::ProducerDoorbell(wqe.Blocks(), qpn), std::memory_order_release);
    std::atomic_ref<uint64_t> tail(
        *reinterpret_cast<uint64_t*>(memory + 0x1000 + cqe * 64 + abi::kCqeTailOffset));
    const auto deadline = std::chrono::steady_clock::now() + kHang;
    // Acquire: what the CQE tells of is there.
    while (abi::TailOpcode(tail.load(std::memory_order_acquire)) == abi::CqeOpcode::kInvalid) {
      BOOST_TEST_REQUIRE((std::chrono::steady_clock::now() < deadline));
      usleep(100);
    }
    BOOST_TEST(abi::TailQpn(tail.load()) == qpn);
    return tail.load();
  }
  uint64_t At(uint64_t offset) const { return reinterpret_cast<uint64_t>(memory) + offset; }
  void Fill() {
    for (int i = 0; i < 4096; ++i) memory[0x8000 + i] = static_cast<uint8_t>(i * 7 + 3);
    std::memset(memory + 0x9000, 0, 4096);
  }
  WqeBytes Write(WqeBytes wqe, uint32_t bytes) const {
    return wqe.Remote(At(0x9000), mr->rkey).Data(bytes, mr->lkey, At(0x8000));
  }
};

BOOST_AUTO_TEST_SUITE(DevxProgram)

BOOST_AUTO_TEST_CASE(CapabilitiesComeThroughLibmlx5) {
  Program program;
  std::vector<uint8_t> out(0x1010);
  Mail mail(Opcode::kQueryHcaCap);
  mail.Put(kOpMod, 1);
  BOOST_TEST(mlx5dv_devx_general_cmd(program.context, mail.in, 16, out.data(), out.size()) == 0);
  BOOST_TEST(Get(out.data(), In(kCapAt, cap::kCqeVersion)) == 1u);
  BOOST_TEST(Get(out.data(), In(kCapAt, cap::kDct)) == 1u);
  ibv_device_attr attributes{};
  BOOST_TEST(ibv_query_device(program.context, &attributes) == 0);
  BOOST_TEST(1u << Get(out.data(), In(kCapAt, cap::kLogMaxRaRequester)) ==
             static_cast<uint32_t>(attributes.max_qp_rd_atom));
}

BOOST_AUTO_TEST_CASE(AWriteOverRcQpsOfDevxArrivesAndCompletes) {
  Program program;
  program.Fill();
  uint32_t a = 0, b = 0;
  mlx5dv_devx_obj* first = program.MakeQp(qpc::kRc, 0x4000, 0x200, &a);
  mlx5dv_devx_obj* second = program.MakeQp(qpc::kRc, 0x5000, 0x240, &b);
  program.BringUp(first, a, b);
  program.BringUp(second, b, a);
  BOOST_TEST(program.StateOf(first, a) == 3u);
  const WqeBytes write(abi::Opcode::kRdmaWrite, abi::kCqeAlways);
  const uint64_t tail = program.PostFirst(program.Write(write, 3000), a, 0x4000, 0x200, 0);
  BOOST_TEST((abi::TailOpcode(tail) == abi::CqeOpcode::kRequester));
  BOOST_TEST(std::memcmp(program.memory + 0x8000, program.memory + 0x9000, 3000) == 0);
  BOOST_TEST(mlx5dv_devx_umem_dereg(program.umem) == EBUSY);
  BOOST_TEST(mlx5dv_devx_obj_destroy(first) == 0);
  BOOST_TEST(mlx5dv_devx_obj_destroy(second) == 0);
}

BOOST_AUTO_TEST_CASE(AWriteOverDcOfDevxArrivesAndCompletes) {
  Program program;
  program.Fill();
  Mail pool(Opcode::kCreateRmp);
  const auto in_pool = [&](auto field, uint64_t value) { pool.Put(In(rmpc::kAt, field), value); };
  in_pool(rmpc::kState, rmpc::kReady);
  in_pool(rmpc::kPd, program.pdn);
  in_pool(rmpc::kLogStride, 5);
  in_pool(rmpc::kLogSize, 4);
  in_pool(rmpc::kDbrUmem, program.umem->umem_id);
  in_pool(rmpc::kUmem, program.umem->umem_id);
  in_pool(rmpc::kDbr, 0x300);
  in_pool(rmpc::kUmemOffset, 0x3000);
  mlx5dv_devx_obj* rmp = program.Make(pool);
  BOOST_TEST_REQUIRE(rmp != nullptr);
  Mail target(Opcode::kCreateDct);
  const auto in_target = [&](auto field, uint64_t value) {
    target.Put(In(dctc::kAt, field), value);
  };
  in_target(dctc::kPd, program.pdn);
  in_target(dctc::kCq, program.cqn);
  in_target(dctc::kSrq, pool.Number());
  in_target(dctc::kMtu, 5);
  in_target(dctc::kPort, 1);
  in_target(dctc::kRemoteWrite, 1);
  in_target(dctc::kDcKey, abi::kDcAccessKey);
  mlx5dv_devx_obj* dct = program.Make(target);
  BOOST_TEST_REQUIRE(dct != nullptr);
  uint32_t dci_number = 0;
  mlx5dv_devx_obj* dci = program.MakeQp(qpc::kDci, 0x4000, 0x200, &dci_number);
  program.BringUp(dci, dci_number, 0);
  ibv_port_attr port{};
  BOOST_TEST(ibv_query_port(program.context, 1, &port) == 0);
  WqeBytes write(abi::Opcode::kRdmaWrite, abi::kCqeAlways);
  write.Target(abi::kDcAccessKey, target.Number(), port.lid, false);
  const uint64_t tail = program.PostFirst(program.Write(write, 3000), dci_number, 0x4000, 0x200, 0);
  BOOST_TEST((abi::TailOpcode(tail) == abi::CqeOpcode::kRequester));
  BOOST_TEST(std::memcmp(program.memory + 0x8000, program.memory + 0x9000, 3000) == 0);
  for (mlx5dv_devx_obj* object : {dci, dct, rmp}) BOOST_TEST(mlx5dv_devx_obj_destroy(object) == 0);
}

// The source or the target of a WRITE, or the target of a READ, is unmapped between registration
// and use.
BOOST_AUTO_TEST_CASE(MemoryThatTheProgramHasUnmappedEndsInAnErrorCqe) {
  enum class Gone { kSource, kTarget, kTargetOfRead };
  for (const Gone gone_is : {Gone::kSource, Gone::kTarget, Gone::kTargetOfRead}) {
    const bool source = gone_is == Gone::kSource, read = gone_is == Gone::kTargetOfRead;
    Program program;
    program.Fill();
    constexpr size_t kPage = 4096;
    void* gone = mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ibv_mr* key =
        ibv_reg_mr(program.pd, gone, kPage,
                   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
    BOOST_TEST_REQUIRE(key != nullptr);
    munmap(gone, kPage);
    uint32_t a = 0, b = 0;
    mlx5dv_devx_obj* first = program.MakeQp(qpc::kRc, 0x4000, 0x200, &a);
    mlx5dv_devx_obj* second = program.MakeQp(qpc::kRc, 0x5000, 0x240, &b);
    program.BringUp(first, a, b);
    program.BringUp(second, b, a);
    WqeBytes wqe(read ? abi::Opcode::kRdmaRead : abi::Opcode::kRdmaWrite, abi::kCqeAlways);
    const auto address = reinterpret_cast<uint64_t>(gone);
    if (source) {
      wqe.Remote(program.At(0x9000), program.mr->rkey).Data(64, key->lkey, address);
    } else {
      wqe.Remote(address, key->rkey).Data(64, program.mr->lkey, program.At(0x8000));
    }
    const uint64_t tail = program.PostFirst(wqe, a, 0x4000, 0x200, 0);
    BOOST_TEST((abi::TailOpcode(tail) == abi::CqeOpcode::kRequesterError));
    const int syndrome = program.memory[0x1000 + abi::kErrorSyndromeOffset];
    BOOST_TEST(syndrome == static_cast<int>(source ? abi::Syndrome::kLocalProtection
                                                   : abi::Syndrome::kRemoteAccess));
    BOOST_TEST(mlx5dv_devx_obj_destroy(first) == 0);
    BOOST_TEST(mlx5dv_devx_obj_destroy(second) == 0);
    BOOST_TEST(ibv_dereg_mr(key) == 0);
  }
}

BOOST_AUTO_TEST_CASE(RefusalsReachTheProgram) {
  Program program;
  Mail mail(Opcode::kCreateQp);
  BOOST_TEST(program.Make(mail) == nullptr);
  BOOST_TEST(errno == EREMOTEIO);
  BOOST_TEST(Get(mail.out, kStatus) == 5u);  // no such PD
  BOOST_TEST(Get(mail.out, kSyndrome) != 0u);
  BOOST_TEST(mlx5dv_devx_umem_reg(program.context, reinterpret_cast<void*>(0x1000), 4096,
                                  IBV_ACCESS_LOCAL_WRITE) == nullptr);
  BOOST_TEST(errno == EFAULT);
  mlx5dv_devx_umem_in umem{};
  umem.addr = program.memory;
  umem.size = 8192;
  umem.access = IBV_ACCESS_LOCAL_WRITE;
  umem.pgsz_bitmap = 0x800;
  BOOST_TEST(mlx5dv_devx_umem_reg_ex(program.context, &umem) == nullptr);
  BOOST_TEST(errno == EINVAL);
  umem.pgsz_bitmap = 0x1000;
  mlx5dv_devx_umem* registered = mlx5dv_devx_umem_reg_ex(program.context, &umem);
  BOOST_TEST_REQUIRE(registered != nullptr);
  BOOST_TEST(mlx5dv_devx_umem_dereg(registered) == 0);
  uint32_t eqn = 0;
  BOOST_TEST(mlx5dv_devx_query_eqn(program.context, 1000, &eqn) != 0);
}

// UCX replaces mmap by one that asks the system itself.
BOOST_AUTO_TEST_CASE(AMappingThatGoesPastTheLibraryIsOfTheSamePage) {
  Program program;
  mlx5dv_devx_uar* uar = mlx5dv_devx_alloc_uar(program.context, MLX5DV_UAR_ALLOC_TYPE_NC);
  BOOST_TEST_REQUIRE(uar != nullptr);
  const long past = syscall(SYS_mmap, nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED,
                            program.context->cmd_fd, uar->mmap_off);
  BOOST_TEST_REQUIRE(past != -1);
  auto* word = reinterpret_cast<volatile uint64_t*>(past);
  auto* same = reinterpret_cast<volatile uint64_t*>(uar->base_addr);
  BOOST_TEST(word[1] == same[1]);
  word[1] = 0x1234;
  BOOST_TEST(same[1] == 0x1234u);
  munmap(reinterpret_cast<void*>(past), 4096);
  mlx5dv_devx_free_uar(uar);
}

BOOST_AUTO_TEST_CASE(ADescriptorIsTheCharacterDevicesThatItsPathIs) {
  const Program program;
  const int file = program.context->cmd_fd;
  struct stat path, found;
  BOOST_TEST_REQUIRE(stat("/dev/infiniband/uverbs0", &path) == 0);
  BOOST_TEST_REQUIRE(fstat(file, &found) == 0);
  BOOST_TEST(S_ISCHR(found.st_mode));
  BOOST_TEST(found.st_rdev == path.st_rdev);
  BOOST_TEST_REQUIRE(fstatat(file, "", &found, AT_EMPTY_PATH) == 0);
  BOOST_TEST(found.st_rdev == path.st_rdev);
  struct statx more;
  BOOST_TEST_REQUIRE(statx(file, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &more) == 0);
  BOOST_TEST(makedev(more.stx_rdev_major, more.stx_rdev_minor) == path.st_rdev);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace ringpost::sim::uverbs::prm
