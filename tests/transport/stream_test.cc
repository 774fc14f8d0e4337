// Many values in one call: the same WQEs, fences, records and doorbells as one call for each.

#include <boost/test/unit_test.hpp>
#include <cstring>
#include <string>
#include <vector>

#include "tests/transport/recording_port.h"
#include "transport/endpoint.h"
#include "transport/publication/pairs.h"

namespace ringpost {
namespace {

constexpr RemoteSpan kTarget{0x1000, 1};

// Keeps the bytes of each WQE. Its NIC completes what is rung when somebody waits.
class KeepingPort : public RecordingPort<> {
 public:
  KeepingPort() {
    turns = 10'000;
    on_relax = [this] {
      const auto rung = Of(EventKind::kDoorbell);
      if (rung.empty()) return;
      const uint32_t producer = abi::DecodeDoorbell(rung.back().value).producer;
      Complete(static_cast<uint16_t>(producer - 1));
    };
  }
  void StoreWqe(const QpView& qp, uint64_t index, const abi::Segment* segments, uint32_t count) {
    RecordingPort::StoreWqe(qp, index, segments, count);
    wqes.insert(wqes.end(), segments, segments + count);
  }
  std::vector<abi::Segment> wqes;
};

// What the NIC can see of the events, and the fences between.
std::string Seen(const KeepingPort& port) {
  std::string seen;
  for (const Event& event : port.events) {
    if (event.kind == EventKind::kWord) continue;
    seen += std::to_string(static_cast<int>(event.kind)) + "," +
            std::to_string(static_cast<int>(event.order)) + "," +
            std::to_string(static_cast<int>(event.scope)) + "," + std::to_string(event.index) +
            "," + std::to_string(event.value) + "," + std::to_string(event.count) + "\n";
  }
  return seen;
}

bool SameWqes(const KeepingPort& one, const KeepingPort& other) {
  const auto bytes = one.wqes.size() * sizeof(abi::Segment);
  return one.wqes.size() == other.wqes.size() &&
         std::memcmp(one.wqes.data(), other.wqes.data(), bytes) == 0;
}

struct Way {
  uint32_t batch;
  uint32_t before;  // values put one by one before
  uint32_t count;
  bool fenced;
};

ValuePut<uint64_t> NthPut(uint32_t i) {
  return {{kTarget.address + 8 * i, kTarget.rkey}, 0x1111111111111111u * (i % 13)};
}

template <class Publication, class Ordering>
void CompareOn(void (*change)(QpView&), const Way& way) {
  KeepingPort ports[2];
  uint64_t confirmed[2] = {};
  for (int in_one_call = 0; in_one_call < 2; ++in_one_call) {
    KeepingPort& port = ports[in_one_call];
    port.view.batch = way.batch;
    port.view.shared = Publication::kSharesQp ? 1 : 0;
    change(port.view);
    const QpTable table{&port.view, 1, 0, 1, 0};
    Endpoint<KeepingPort, Publication, Ordering> endpoint(port, table);
    for (uint32_t i = 0; i < way.before; ++i) endpoint.PutValue(kTarget, uint64_t{i});
    if (way.fenced) BOOST_TEST(endpoint.Fence().Ok());
    Posted last;
    if (in_one_call == 1) {
      last = endpoint.PutValues(way.count, NthPut);
    } else {
      for (uint32_t i = 0; i < way.count; ++i) {
        last = endpoint.PutValue(NthPut(i).target, NthPut(i).value);
      }
    }
    BOOST_TEST(last.status.Ok());
    confirmed[in_one_call] = last.confirmed;
    BOOST_TEST(endpoint.Quiet(CompletionScope::kSelectedQp).Ok());
    endpoint.PutValue(kTarget, uint64_t{7});
  }
  BOOST_TEST_INFO_SCOPE(Publication::kName << "/" << Ordering::kName << ", batch " << way.batch
                                           << ", " << way.count << " behind " << way.before);
  BOOST_TEST(confirmed[1] == confirmed[0]);
  BOOST_TEST(Seen(ports[1]) == Seen(ports[0]));
  BOOST_TEST(SameWqes(ports[1], ports[0]));
  BOOST_TEST(ports[1].Get<uint64_t>(ports[1].view.published.address) ==
             ports[0].Get<uint64_t>(ports[0].view.published.address));
}

void CompareAll(void (*change)(QpView&)) {
  for (const uint32_t batch : {1u, 3u, 4u}) {
    for (const uint32_t before : {0u, 1u, 5u}) {
      for (const uint32_t count : {0u, 1u, 2u, 4u, 7u, 16u, 61u}) {
        for (const bool fenced : {false, true}) {
          ForEachPair([&]<class Publication, class Ordering>() {
            CompareOn<Publication, Ordering>(change, {batch, before, count, fenced});
          });
        }
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE(StreamTest)

BOOST_AUTO_TEST_CASE(ValuesInOneCallArePostedLikeSoManyPuts) {
  CompareAll([](QpView&) {});
}

BOOST_AUTO_TEST_CASE(SoTheyAreOnAQueueThatKeepsItsIndicesInMemory) {
  CompareAll([](QpView& qp) { qp.indices = IndexHome::kMemory; });
}

BOOST_AUTO_TEST_CASE(SoTheyAreOnADci) {
  CompareAll([](QpView& qp) {
    qp.kind = TransportKind::kDc;
    qp.target = {abi::kDcAccessKey, 0x123, 7};
  });
}

BOOST_AUTO_TEST_CASE(SoTheyAreWithoutADoorbellRecord) {
  CompareAll([](QpView& qp) { qp.doorbell_mode = DoorbellMode::kRecordFree; });
}

BOOST_AUTO_TEST_CASE(AQueueThatTakesNoInlineValueRefusesAll) {
  ForEachPair([]<class Publication, class Ordering>() {
    KeepingPort port;
    port.view.shared = Publication::kSharesQp ? 1 : 0;
    port.view.max_inline = 4;
    const QpTable table{&port.view, 1, 0, 1, 0};
    Endpoint<KeepingPort, Publication, Ordering> endpoint(port, table);
    BOOST_TEST(!endpoint.PutValues(3, NthPut).status.Ok());
    BOOST_TEST(port.wqes.empty());
    const auto words = [](uint32_t i) { return ValuePut<uint32_t>{kTarget, i}; };
    BOOST_TEST(endpoint.PutValues(3, words).status.Ok());
  });
}

// Those before it are posted, and Quiet waits for them.
BOOST_AUTO_TEST_CASE(WhereSpaceNeverComesTheCallEndsWithATimeoutBehindWhatItPosted) {
  KeepingPort port;
  port.on_relax = {};
  port.turns = 5;
  const QpTable table{&port.view, 1, 0, 1, 0};
  Endpoint<KeepingPort, PerThread, OrderGpuFence> endpoint(port, table);
  const Posted posted = endpoint.PutValues(40, NthPut);
  BOOST_TEST((posted.status.status == Status::kTimeout));
  BOOST_TEST(port.Of(EventKind::kWqe).size() == 16u);
  port.turns = 5;
  BOOST_TEST((endpoint.Quiet(CompletionScope::kSelectedQp).status == Status::kTimeout));
  port.on_relax = [&] { port.Complete(15); };
  port.turns = 5;
  BOOST_TEST(endpoint.Quiet(CompletionScope::kSelectedQp).Ok());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace ringpost
