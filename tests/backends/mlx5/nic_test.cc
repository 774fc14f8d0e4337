// A whole NIC over a stand-in for rdma-core: each of its calls fails once, and everything that was
// made is destroyed in order; how memory and doorbells fall back.
#include <fcntl.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <functional>

#include "backends/mlx5/mlx5_nic.h"
#include "tests/backends/mlx5/fake_verbs.h"
#include "transport/memory/host_memory.h"

namespace ringpost {
namespace {

using mlx5::Route;
namespace fake = mlx5::fake;

// "GPU memory": host memory that says it is not, with dma-bufs and mappings as it is told.
class GpuLike final : public MemoryProvider {
 public:
  bool exports = true;
  bool maps_registers = true;
  bool maps_memory = true;
  int open_exports = 0;
  int mapped = 0;

  // Where what was allocated in GPU memory begins.
  std::vector<Allocation> on_gpu;

  Result<Allocation> Allocate(Placement placement, uint64_t bytes) override {
    Result<Allocation> memory = host_.Allocate(Placement::kHost, bytes);
    if (memory.Ok()) memory.Value().placement = placement;
    if (memory.Ok() && placement == Placement::kGpu) on_gpu.push_back(memory.Value());
    return memory;
  }
  void Free(const Allocation& allocation) override { host_.Free(allocation); }
  Result<uint64_t> Map(void* pages, uint64_t, Mapping mapping) override {
    if (mapping == Mapping::kRegisters ? !maps_registers : !maps_memory) {
      return Error{"operation not permitted"};
    }
    ++mapped;
    return reinterpret_cast<uint64_t>(pages);
  }
  void Unmap(void*) override { --mapped; }
  Result<DmaBuf> ExportDmaBuf(const Allocation&) override {
    if (!exports) return Error{"this driver exports no dma-buf"};
    return DmaBuf{open("/dev/null", O_RDONLY | O_CLOEXEC), 0};
  }
  Result<bool> Copy(uint64_t to, uint64_t from, uint64_t bytes) override {
    return host_.Copy(to, from, bytes);
  }

 private:
  HostMemory host_;
};

struct Case {
  const char* name;
  Route route;
  QpSpec spec;
  bool ethernet = false;
};

QpSpec Spec(TransportKind kind, uint32_t receives, Placement placement, DoorbellMode doorbell) {
  QpSpec spec;
  spec.depth_wqebbs = 64;
  spec.kind = kind;
  spec.receive_depth = receives;
  spec.placement = placement;
  spec.doorbell = doorbell;
  return spec;
}

std::vector<Case> Cases() {
  const auto rc = TransportKind::kRc, dc = TransportKind::kDc;
  const auto gpu = Placement::kGpu, host = Placement::kHost;
  return {{"DevX RC", Route::kDevx, Spec(rc, 8, gpu, DoorbellMode::kGpu)},
          {"DevX RC rung by the host", Route::kDevx, Spec(rc, 8, gpu, DoorbellMode::kCpu)},
          {"DevX RC on Ethernet", Route::kDevx, Spec(rc, 0, host, DoorbellMode::kGpu), true},
          {"DevX DC", Route::kDevx, Spec(dc, 8, host, DoorbellMode::kAuto)},
          {"verbs RC", Route::kVerbs, Spec(rc, 8, host, DoorbellMode::kGpu)},
          {"verbs DC", Route::kVerbs, Spec(dc, 0, host, DoorbellMode::kCpu)}};
}

struct Outcome {
  std::string error;  // empty: all went well
  std::vector<std::string> notes;
};

Outcome BringUp(const Case& what, GpuLike& memory) {
  Outcome outcome;
  std::mutex mutex;
  Mlx5NicOptions options;
  options.memory = &memory;
  options.device.route = what.route;
  options.note = [&](const std::string& line) {
    const std::lock_guard<std::mutex> lock(mutex);
    outcome.notes.push_back(line);
  };
  const auto nic = Mlx5Nic::Open(options);
  const auto fail = [&](const std::string& line) {
    outcome.error = line;
    return outcome;
  };
  if (!nic.Ok()) return fail(nic.Message());
  const auto region = nic.Value()->Allocate(what.spec.placement, 10000);
  if (!region.Ok()) return fail(region.Message());
  const auto a = nic.Value()->CreateQp(what.spec);
  if (!a.Ok()) return fail(a.Message());
  const auto b = nic.Value()->CreateQp(what.spec);
  if (!b.Ok()) return fail(b.Message());
  const auto connected = nic.Value()->Connect(a.Value(), b.Value());
  if (!connected.Ok()) return fail(connected.Message());
  const auto destroyed = nic.Value()->DestroyQp(a.Value());
  if (!destroyed.Ok()) return fail(destroyed.Message());
  return outcome;
}

int OpenFiles() {
  int count = 0;
  for (int file = 0; file < 256; ++file) count += fcntl(file, F_GETFD) >= 0 ? 1 : 0;
  return count;
}

BOOST_AUTO_TEST_CASE(WhicheverCallFailsEverythingIsDestroyedInOrderAndOneLineSaysWhy) {
  for (const Case& what : Cases()) {
    GpuLike memory;
    fake::World& world = fake::Reset();
    world.ethernet = what.ethernet;
    BOOST_TEST(BringUp(what, memory).error == "", what.name);
    BOOST_TEST(world.alive.empty(), what.name);
    const int calls = world.calls;
    BOOST_TEST(calls > 15);
    const int files = OpenFiles();
    for (int failing = 0; failing < calls; ++failing) {
      fake::Reset();
      world.ethernet = what.ethernet;
      world.fail_at = failing;
      const Outcome outcome = BringUp(what, memory);
      const std::string place = std::string(what.name) + ", call " + std::to_string(failing) +
                                ", " + world.failed + ": " + outcome.error;
      // Some have another way: a UAR of the other kind, memory by its address.
      const bool spared = outcome.error.empty();
      BOOST_TEST((!spared || world.failed == "mlx5dv_devx_alloc_uar" || !outcome.notes.empty()),
                 place);
      if (!spared) {
        BOOST_TEST(outcome.error.find(world.failed == "ibv_query_pkey"
                                          ? "mlx5.pkey_index"
                                          : world.failed) != std::string::npos,
                   place);
        BOOST_TEST(outcome.error.find("; ") != std::string::npos, place);
        BOOST_TEST(outcome.error.find('\n') == std::string::npos, place);
      }
      BOOST_TEST(world.alive.empty(), place);
      for (const std::string& violation : world.violations) BOOST_ERROR(place + ": " + violation);
      BOOST_TEST(memory.mapped == 0, place);
      BOOST_TEST(OpenFiles() == files, place);
    }
  }
}

// What a machine offers for GPU memory, and what comes of it.
BOOST_AUTO_TEST_CASE(GpuMemoryGoesByDmaBufThenByPeerMemoryAndBothReasonsAreNamed) {
  struct Offer {
    bool exports, dma_buf, peer_memory;
    size_t notes;
    bool works;
  };
  const Case what{"", Route::kDevx,
                  Spec(TransportKind::kRc, 0, Placement::kGpu, DoorbellMode::kGpu)};
  for (const Offer& offer : {Offer{true, true, false, 0, true}, Offer{false, true, true, 1, true},
                             Offer{true, false, true, 1, true}, Offer{false, true, false, 0, false},
                             Offer{true, false, false, 0, false}}) {
    for (const uint64_t bytes : {uint64_t{4096}, uint64_t{900} << 20}) {
      GpuLike memory;
      memory.exports = offer.exports;
      fake::World& world = fake::Reset();
      std::vector<std::string> notes;
      Mlx5NicOptions options;
      options.memory = &memory;
      options.note = [&](const std::string& line) { notes.push_back(line); };
      const auto nic = Mlx5Nic::Open(options);
      BOOST_TEST_REQUIRE(nic.Ok());
      world.dma_buf = offer.dma_buf;
      world.peer_memory = offer.peer_memory;
      const auto region = nic.Value()->Allocate(Placement::kGpu, bytes);
      const auto qp = nic.Value()->CreateQp(what.spec);
      BOOST_TEST(region.Ok() == offer.works);
      BOOST_TEST(qp.Ok() == offer.works);
      BOOST_TEST(notes.size() == offer.notes);
      if (offer.works) continue;
      for (const std::string& line : {region.Message(), qp.Message()}) {
        BOOST_TEST(line.find("; and by its address: ") != std::string::npos, line);
        BOOST_TEST(line.find("nvidia-peermem") != std::string::npos, line);
        BOOST_TEST(line.find(offer.exports ? "dmabuf" : "this driver exports no dma-buf") !=
                       std::string::npos,
                   line);
      }
    }
  }
}

// Eight NICs with sixteen QPs each, whose register the GPU may not map.
BOOST_AUTO_TEST_CASE(ADoorbellThatTheGpuCannotMapIsAnErrorOrOneWarningForEachNic) {
  struct Expected {
    DoorbellMode doorbell;
    size_t notes;
    bool works;
  };
  for (const Expected& expected :
       {Expected{DoorbellMode::kGpu, 0, false}, Expected{DoorbellMode::kAuto, 8, true},
        Expected{DoorbellMode::kCpu, 0, true}}) {
    fake::Reset();
    GpuLike memory;
    memory.maps_registers = memory.maps_memory = false;
    std::vector<std::string> notes;
    std::vector<std::unique_ptr<Mlx5Nic>> nics;
    for (int i = 0; i < 8; ++i) {
      Mlx5NicOptions options;
      options.memory = &memory;
      options.note = [&](const std::string& line) { notes.push_back(line); };
      nics.push_back(std::move(Mlx5Nic::Open(options).Value()));
      for (int j = 0; j < 16; ++j) {
        const auto qp =
            nics.back()->CreateQp(Spec(TransportKind::kRc, 0, Placement::kGpu, expected.doorbell));
        BOOST_TEST(qp.Ok() == expected.works);
        if (qp.Ok()) {
          BOOST_TEST((nics.back()->View(qp.Value()).Value().doorbell_mode == DoorbellMode::kCpu));
          continue;
        }
        BOOST_TEST(qp.Message().find("PeerMappingOverride=1") != std::string::npos);
        BOOST_TEST(qp.Message().find("as ordinary memory: ") != std::string::npos);
      }
    }
    BOOST_TEST(notes.size() == expected.notes);
  }
}

BOOST_AUTO_TEST_CASE(ADoorbellPageThatIsNoRegisterIsMappedAsMemory) {
  fake::Reset();
  GpuLike memory;
  memory.maps_registers = false;
  Mlx5NicOptions options;
  options.memory = &memory;
  const auto nic = std::move(Mlx5Nic::Open(options).Value());
  const auto qp =
      nic->CreateQp(Spec(TransportKind::kRc, 0, Placement::kGpu, DoorbellMode::kGpu)).Value();
  BOOST_TEST((nic->View(qp).Value().doorbell_mode == DoorbellMode::kGpu));
  BOOST_TEST(memory.mapped == 1);
}

BOOST_AUTO_TEST_CASE(WordsOfKernelsOnAGpuLieInItsMemoryWhereverTheQueuesDo) {
  for (const bool kernels : {true, false}) {
    fake::Reset();
    GpuLike memory;
    Mlx5NicOptions options;
    options.memory = &memory;
    options.gpu_kernels = kernels;
    const auto nic = std::move(Mlx5Nic::Open(options).Value());
    const auto on_gpu = [&](uint64_t address) {
      return std::any_of(memory.on_gpu.begin(), memory.on_gpu.end(), [&](const Allocation& one) {
        return address >= one.address && address < one.address + one.bytes;
      });
    };
    for (const Placement placement : {Placement::kHost, Placement::kGpu}) {
      const auto qp = nic->CreateQp(Spec(TransportKind::kRc, 8, placement, DoorbellMode::kGpu));
      const QpView view = nic->View(qp.Value()).Value();
      const bool expected = kernels || placement == Placement::kGpu;
      BOOST_TEST(on_gpu(view.reserved.address) == expected);
      BOOST_TEST(on_gpu(view.completed.address) == expected);
      BOOST_TEST(on_gpu(view.sq) == (placement == Placement::kGpu));
      BOOST_TEST(on_gpu(view.record) == (placement == Placement::kGpu));
    }
  }
}

BOOST_AUTO_TEST_CASE(ARegistrationIsSplitAtTheDevicesMaximum) {
  fake::World& world = fake::Reset();
  world.max_registration = (64 << 10) + 100;  // no whole number of pages
  const auto nic = std::move(Mlx5Nic::Open({}).Value());
  world.registered.clear();
  alignas(4096) static uint8_t memory[200 << 10];
  const auto pieces =
      nic->Register({reinterpret_cast<uint64_t>(memory), sizeof(memory), Placement::kHost});
  BOOST_TEST_REQUIRE(pieces.Ok());
  BOOST_TEST(world.registered == (std::vector<uint64_t>{65536, 65536, 65536, 8192}),
             boost::test_tools::per_element());
  uint64_t next = reinterpret_cast<uint64_t>(memory);
  for (const RegisteredMemory& piece : pieces.Value()) {
    BOOST_TEST(piece.address == next);
    next += piece.bytes;
    BOOST_TEST(nic->Deregister(piece).Ok());
  }
  BOOST_TEST(nic->Allocate(Placement::kHost, 1 << 20).Message().find("max_mr_size") !=
             std::string::npos);
  // A piece that fails takes the others with it.
  const auto before = world.alive;
  world.fail_at = world.calls + 2;
  BOOST_TEST(
      !nic->Register({reinterpret_cast<uint64_t>(memory), sizeof(memory), Placement::kHost}).Ok());
  BOOST_TEST((world.alive == before));
}

BOOST_AUTO_TEST_CASE(AnEventIsALineAndFatalWhereTheNicCannotGoOn) {
  const auto text = [](ibv_event_type type, int port) {
    ibv_async_event event = {};
    event.event_type = type;
    event.element.port_num = port;
    return mlx5::Describe("mlx5_0", 1, event);
  };
  BOOST_TEST(text(IBV_EVENT_PORT_ERR, 1).line == "mlx5_0: port 1: the link went down");
  BOOST_TEST(text(IBV_EVENT_PORT_ERR, 1).fatal);
  BOOST_TEST(!text(IBV_EVENT_PORT_ERR, 2).fatal);  // not the port that is used
  BOOST_TEST(text(IBV_EVENT_DEVICE_FATAL, 0).fatal);
  BOOST_TEST(!text(IBV_EVENT_PORT_ACTIVE, 1).fatal);
  BOOST_TEST(text(IBV_EVENT_COMM_EST, 1).line == "");
  ibv_qp qp = {};
  qp.qp_num = 0x123;
  ibv_async_event event = {};
  event.event_type = IBV_EVENT_QP_ACCESS_ERR;
  event.element.qp = &qp;
  // Whoever waits for it gets its error CQE.
  BOOST_TEST(!mlx5::Describe("mlx5_0", 1, event).fatal);
  BOOST_TEST(mlx5::Describe("mlx5_0", 1, event).line.find("QP 0x123") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(WhatThisBackendCannotDoIsRefusedInOneLine) {
  fake::World& world = fake::Reset();
  world.ethernet = true;
  const auto nic = std::move(Mlx5Nic::Open({}).Value());
  const auto refusal = [&](const QpSpec& spec) { return nic->CreateQp(spec).Message(); };
  const auto host = Placement::kHost;
  const auto contains = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };
  BOOST_TEST(contains(refusal(Spec(TransportKind::kDc, 0, host, DoorbellMode::kGpu)),
                      "use transport.kind: rc"));
  BOOST_TEST(contains(refusal(Spec(TransportKind::kRc, 0, host, DoorbellMode::kBlueFlame)),
                      "use doorbell gpu, cpu or auto"));
  BOOST_TEST(contains(refusal(Spec(TransportKind::kRc, 0, host, DoorbellMode::kRecordFree)),
                      "record_free"));
  QpSpec spec = Spec(TransportKind::kRc, 0, host, DoorbellMode::kGpu);
  spec.max_inline = 1100;
  BOOST_TEST(contains(refusal(spec), "transport.inline_max"));
  spec.max_inline = 28;
  const QpAddress qp = nic->CreateQp(spec).Value();
  QpAddress peer = qp;
  peer.port = {};
  BOOST_TEST(contains(nic->Connect(qp, peer).Message(), "use one backend on all ranks"));
  BOOST_TEST(nic->Connect(qp, qp).Ok());
  BOOST_TEST(contains(nic->Connect(qp, qp).Message(), "is connected already"));
  peer.qpn = 0xffffff;
  BOOST_TEST(contains(nic->View(peer).Message(), "is not of this NIC"));
  Mlx5NicOptions verbs;
  GpuLike memory;
  verbs.memory = &memory;
  verbs.device.route = Route::kVerbs;
  const auto other = std::move(Mlx5Nic::Open(verbs).Value());
  const auto on_gpu = Spec(TransportKind::kRc, 0, Placement::kGpu, DoorbellMode::kGpu);
  BOOST_TEST(contains(other->CreateQp(on_gpu).Message(), "mlx5.route: devx"));
}

}  // namespace
}  // namespace ringpost
