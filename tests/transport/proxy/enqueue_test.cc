// What an enqueue stores, and with which order, as a port sees it.
#include <boost/test/unit_test.hpp>

#include "tests/transport/recording_port.h"
#include "transport/proxy/endpoint.h"

namespace ringpost::proxy {
namespace {

template <class Handoff, class Ordering = OrderSystemRelease>
struct Enqueued {
  RecordingPort<> port;
  QpTable table;
  Endpoint<RecordingPort<>, Proxied<Handoff>, Ordering> endpoint;

  Enqueued() : table{&port.view, 1, 0, 1, 0}, endpoint(port, table) {
    endpoint.PutValue({64, 3}, uint64_t{1});  // names the key
    port.events.clear();
  }
  std::vector<Event> Pairs() const { return port.Of(EventKind::kPair); }
};

BOOST_AUTO_TEST_CASE(ATunedValueIsOneRelaxedStoreOf16BytesAndNoFence) {
  Enqueued<Tuned> e;
  e.endpoint.PutValue({72, 3}, uint64_t{5});
  BOOST_REQUIRE(e.Pairs().size() == 1u);
  BOOST_TEST((e.Pairs()[0].order == Order::kRelaxed));
  BOOST_TEST((e.Pairs()[0].scope == Scope::kSystem));
  BOOST_TEST(e.port.Of(EventKind::kFence).empty());
  // Beside it a word of the thread's own, for a Quiet through another Endpoint.
  const std::vector<Event> words = e.port.Of(EventKind::kWord);
  BOOST_REQUIRE(words.size() == 1u);
  BOOST_TEST(words[0].index == e.port.view.ready.address);
  BOOST_TEST((words[0].scope == Scope::kThread));
}

BOOST_AUTO_TEST_CASE(ATunedPutOfMemoryReleasesAtSystemScope) {
  Enqueued<Tuned> e;
  e.endpoint.Put({72, 3}, {80, 8, 0});
  BOOST_REQUIRE(e.Pairs().size() == 1u);
  BOOST_TEST((e.Pairs()[0].order == Order::kRelease));
  BOOST_TEST((e.Pairs()[0].scope == Scope::kSystem));
}

BOOST_AUTO_TEST_CASE(AnOrderingOfNoneReleasesNothing) {
  Enqueued<Tuned, OrderNone> e;
  e.endpoint.Put({72, 3}, {80, 8, 0});
  BOOST_REQUIRE(e.Pairs().size() == 1u);
  BOOST_TEST((e.Pairs()[0].order == Order::kRelaxed));
}

BOOST_AUTO_TEST_CASE(ANewKeyIsNamedOnceByASlotBefore) {
  Enqueued<Tuned> e;
  for (int i = 0; i < 3; ++i) e.endpoint.PutValue({72, 4}, uint64_t{5});
  BOOST_TEST(e.Pairs().size() == 4u);
  for (int i = 0; i < 2; ++i) e.endpoint.Put({72, 4}, {80, 8, 9});
  BOOST_TEST(e.Pairs().size() == 7u);
}

BOOST_AUTO_TEST_CASE(ABaselineEnqueueReservesAndReleasesItsFirstSlotLast) {
  Enqueued<Baseline> e;
  const Posted posted = e.endpoint.PutValue({72, 3}, uint64_t{5});
  BOOST_TEST(posted.confirmed == 4u);
  BOOST_TEST(e.port.Get<uint64_t>(e.port.view.reserved.address) == 4u);
  BOOST_REQUIRE(e.Pairs().size() == 2u);
  BOOST_TEST((e.Pairs()[0].order == Order::kRelaxed));
  BOOST_TEST((e.Pairs()[1].order == Order::kRelease));
  BOOST_TEST((e.Pairs()[1].scope == Scope::kSystem));
  BOOST_TEST(e.Pairs()[1].index < e.Pairs()[0].index);
}

BOOST_AUTO_TEST_CASE(WhatCannotWorkIsRefusedBeforeItIsEnqueued) {
  Enqueued<Tuned> e;
  uint8_t payload[221] = {};
  const auto refused = [](const Posted& posted) {
    return posted.status.status == Status::kInvalidArgument;
  };
  BOOST_TEST(refused(e.endpoint.PutInline({72, 3}, payload, 221)));
  BOOST_TEST(refused(e.endpoint.FetchAdd({80, 4, 0}, {72, 3}, 1)));
  BOOST_TEST(refused(e.endpoint.FetchAdd({80, 8, 0}, {73, 3}, 1)));
  BOOST_TEST(refused(e.endpoint.Send({80, 1ull << 31, 0})));
  BOOST_TEST(e.Pairs().empty());
}

}  // namespace
}  // namespace ringpost::proxy
