// What the driver adds: methods and their commands, handles, umems.
#include <sys/mman.h>

#include <boost/test/unit_test.hpp>
#include <cerrno>

#include "tests/sim/uverbs/prm_bench.h"

namespace ringpost::sim::uverbs::prm {
namespace {

constexpr uint32_t kLocalWrite = 1, kRemoteWrite = 2;

struct DevxBench {
  PrmBench bench;
  Devx devx{bench.firmware, [this](int file, Devx::Memory* memory) {
              if (file != 77) return EBADF;
              *memory = std::make_shared<MemoryRange>(MemoryRange{bench.At(0x10000), 0x8000});
              return 0;
            }};
  std::vector<uint8_t> out = std::vector<uint8_t>(0x1010);

  int Create(Mailbox mailbox, uint32_t* handle) {
    return devx.Create(mailbox.Bytes(), out, handle);
  }
  uint32_t Number() const { return Get(out.data(), kNumber); }
  // A PD, a CQ and what they need, of this user.
  uint32_t MakeCq(uint32_t umem, uint32_t* handle) {
    Mailbox mailbox = bench.CqMailbox(0x2000, 0x140);
    mailbox.Put(cqc::kUmemValid, 0).Put(In(cqc::kAt, cqc::kDbrUmemValid), 0);
    mailbox.Put(cqc::kUmem, umem).Put(In(cqc::kAt, cqc::kDbrUmem), umem);
    // A page that the kernel gave, for everybody.
    mailbox.Put(In(cqc::kAt, cqc::kUar), 8);
    bench.page_used[7] = true;
    BOOST_TEST(Create(mailbox, handle) == 0);
    return Number();
  }
  uint32_t MakeUmem(uint32_t* handle) {
    uint32_t number = 0;
    const UmemRequest request{bench.At(0), PrmBench::kMemoryBytes, kLocalWrite};
    BOOST_TEST(devx.RegisterUmem(request, handle, &number) == 0);
    return number;
  }
};

BOOST_AUTO_TEST_SUITE(PrmDevx)

BOOST_AUTO_TEST_CASE(CommandsComeByTheirMethodAlone) {
  DevxBench b;
  uint32_t handle = 0;
  BOOST_TEST(b.devx.General(Mailbox(Opcode::kQueryHcaCap).Bytes(), b.out) == 0);
  BOOST_TEST(b.devx.General(Mailbox(Opcode::kAllocPd).Bytes(), b.out) == EINVAL);
  BOOST_TEST(b.devx.General(Mailbox(Opcode::kAllocUar).Bytes(), b.out) == EINVAL);
  BOOST_TEST(b.Create(Mailbox(Opcode::kAllocUar), &handle) == EINVAL);
  BOOST_TEST(b.Create(Mailbox(Opcode::kQueryHcaCap), &handle) == EINVAL);
  BOOST_TEST(b.Create(Mailbox(Opcode::kAllocPd), &handle) == 0);
  const uint32_t pd = b.Number();
  const Mailbox dealloc = Mailbox(Opcode::kDeallocPd).Put(kNumber, pd);
  BOOST_TEST(b.devx.Modify(handle, dealloc.Bytes(), b.out) == EINVAL);
  BOOST_TEST(b.devx.Destroy(handle) == 0);
  BOOST_TEST(b.devx.Destroy(handle) == EINVAL);
}

// A command that this firmware does not have is its to refuse, not the driver's.
BOOST_AUTO_TEST_CASE(ARefusalOfTheFirmwareIsEremoteioWithItsStatus) {
  DevxBench b;
  uint32_t handle = 0;
  constexpr auto kCreateTis = static_cast<Opcode>(0x912);
  BOOST_TEST(b.Create(Mailbox(kCreateTis), &handle) == EREMOTEIO);
  BOOST_TEST(Get(b.out.data(), kStatus) == static_cast<uint32_t>(Status::kBadOperation));
  BOOST_TEST(Get(b.out.data(), kSyndrome) == FactsOf(Refusal::kUnknownOpcode).syndrome);
  BOOST_TEST(b.Create(Mailbox(static_cast<Opcode>(0xfff)), &handle) == EINVAL);
}

BOOST_AUTO_TEST_CASE(QueuesOfAProgramAreInUmemsWhateverItSays) {
  DevxBench b;
  uint32_t umem_handle = 0, cq_handle = 0;
  const uint32_t umem = b.MakeUmem(&umem_handle);
  const uint32_t cqn = b.MakeCq(umem, &cq_handle);
  BOOST_TEST(b.bench.loop.Function().FindCq(cqn)->config.record == b.bench.At(0x140));
  BOOST_TEST(b.devx.DeregisterUmem(umem_handle) == EBUSY);
  BOOST_TEST(b.devx.Destroy(cq_handle) == 0);
  BOOST_TEST(b.devx.DeregisterUmem(umem_handle) == 0);
  BOOST_TEST(b.devx.DeregisterUmem(umem_handle) == EINVAL);
}

BOOST_AUTO_TEST_CASE(AHandleIsOfOneObject) {
  DevxBench b;
  uint32_t umem_handle = 0, first = 0, second = 0;
  const uint32_t umem = b.MakeUmem(&umem_handle);
  const uint32_t one = b.MakeCq(umem, &first);
  const uint32_t two = b.MakeCq(umem, &second);
  const auto query = [&](uint32_t handle, uint32_t number) {
    return b.devx.Query(handle, Mailbox(Opcode::kQueryCq).Put(kNumber, number).Bytes(), b.out);
  };
  BOOST_TEST(query(first, one) == 0);
  BOOST_TEST(query(first, two) == EINVAL);
  BOOST_TEST(query(77, one) == EINVAL);
  const Mailbox qp = Mailbox(Opcode::kQueryQp).Put(kNumber, one);
  BOOST_TEST(b.devx.Query(first, qp.Bytes(), b.out) == EINVAL);
}

BOOST_AUTO_TEST_CASE(UmemsAreCheckedAsTheDriverDoes) {
  DevxBench b;
  uint32_t handle = 0, number = 0;
  const auto reg = [&](const UmemRequest& request) {
    return b.devx.RegisterUmem(request, &handle, &number);
  };
  BOOST_TEST(reg({b.bench.At(0), 0, kLocalWrite}) == EINVAL);
  BOOST_TEST(reg({~uint64_t{0} - 10, 4096, kLocalWrite}) == EINVAL);
  BOOST_TEST(reg({0x1000, 4096, kLocalWrite}) == EFAULT);
  BOOST_TEST(reg({b.bench.At(0), 4096, kRemoteWrite}) == EINVAL);
  BOOST_TEST(reg({b.bench.At(0), 4096, 1u << 7}) == EINVAL);
  BOOST_TEST(reg({b.bench.At(0), 4096, kLocalWrite, 0x800}) == EINVAL);  // no page of 2 KiB
  BOOST_TEST(reg({b.bench.At(0), 4096, kLocalWrite, 0x1000}) == 0);
  void* page = mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const auto address = reinterpret_cast<uint64_t>(page);
  BOOST_TEST(reg({address, 4096, kLocalWrite}) == EFAULT);
  BOOST_TEST(reg({address, 4096, 0}) == 0);
  BOOST_TEST(b.devx.DeregisterUmem(handle) == 0);
  munmap(page, 4096);
  BOOST_TEST(reg({address, 4096, 0}) == EFAULT);
}

BOOST_AUTO_TEST_CASE(ADmaBufIsFoundByItsDescriptor) {
  DevxBench b;
  uint32_t handle = 0, number = 0;
  const auto reg = [&](uint64_t offset, uint64_t bytes, int file) {
    return b.devx.RegisterUmem({offset, bytes, kLocalWrite, {}, file}, &handle, &number);
  };
  BOOST_TEST(reg(0, 0x1000, 5) == EBADF);
  BOOST_TEST(reg(0, 0x1000, -1) == EBADF);
  BOOST_TEST(reg(0x1000, 0x8000, 77) == EINVAL);
  BOOST_TEST(reg(0x1000, 0x2000, 77) == 0);
  BOOST_TEST(b.bench.loop.Memory().Allows(b.bench.At(0x11000), 0x2000));
}

BOOST_AUTO_TEST_CASE(PagesAreAsLargeAsTheUmemAllows) {
  constexpr uint64_t kAll = ~uint64_t{0};
  BOOST_TEST(UmemPageSize({0x10000, 0x1000}, kAll) == 0x1000u);
  BOOST_TEST(UmemPageSize({0x10000, 0x10000}, kAll) == 0x10000u);
  BOOST_TEST(UmemPageSize({0x11000, 0x10000}, kAll) == 0x1000u);
  BOOST_TEST(UmemPageSize({0x10000, 0x10000}, 0x4000) == 0x4000u);
  BOOST_TEST(UmemPageSize({0x10008, 100}, kAll) == 0x1000u);
  BOOST_TEST(UmemPageSize({0x10000, 0x1000}, 0x200000) == 0u);
  BOOST_TEST(UmemPageSize({0x10000, 0x1000}, 0) == 0u);
}

BOOST_AUTO_TEST_CASE(EventQueuesAreTheCompletionVectors) {
  DevxBench b;
  uint32_t eqn = 0;
  BOOST_TEST(b.devx.QueryEqn(2, &eqn) == 0);
  BOOST_TEST(eqn == b.bench.firmware.EqnOf(2));
  BOOST_TEST(b.devx.QueryEqn(3, &eqn) == EINVAL);
}

BOOST_AUTO_TEST_CASE(ADctIsDrainedByItsDestruction) {
  PrmBench bench;
  Devx devx(bench.firmware, {});
  // What a DCT is of was made by the kernel: everybody may use it.
  for (uint32_t* number : {&bench.pd, &bench.uar}) {
    const Opcode opcode = number == &bench.pd ? Opcode::kAllocPd : Opcode::kAllocUar;
    *number = bench.RunAs(Mailbox(opcode), devx.Uid()).Number();
  }
  bench.umem =
      bench.firmware.CreateUmem({devx.Uid(), bench.At(0), PrmBench::kMemoryBytes, true, 0});
  bench.cq = bench.RunAs(bench.CqMailbox(), devx.Uid()).Number();
  bench.rmp = bench.RunAs(bench.RmpMailbox(), devx.Uid()).Number();
  std::vector<uint8_t> out(0x1010);
  uint32_t handle = 0;
  BOOST_TEST(devx.Create(bench.DctMailbox().Bytes(), out, &handle) == 0);
  BOOST_TEST(bench.firmware.Count().dcts == 1u);
  BOOST_TEST(devx.Destroy(handle) == 0);
  BOOST_TEST(bench.firmware.Count().dcts == 0u);
}

BOOST_AUTO_TEST_CASE(TheEndOfAFileDestroysItsObjects) {
  PrmBench bench;
  const ObjectCounts before = bench.firmware.Count();
  {
    Devx devx(bench.firmware, {});
    std::vector<uint8_t> out(0x1010);
    uint32_t handle = 0, number = 0;
    BOOST_TEST(devx.Create(Mailbox(Opcode::kAllocPd).Bytes(), out, &handle) == 0);
    BOOST_TEST(devx.RegisterUmem({bench.At(0), 4096, kLocalWrite}, &handle, &number) == 0);
    BOOST_TEST(bench.firmware.Count().Total() == before.Total() + 2);
  }
  BOOST_TEST((bench.firmware.Count() == before));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace ringpost::sim::uverbs::prm
