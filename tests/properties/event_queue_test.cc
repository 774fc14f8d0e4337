// The order of events: WheelQueue against HeapQueue, and Channel against single events.
#include "sim/engine/event_queue.h"

#include <boost/test/unit_test.hpp>
#include <vector>

#include "sim/engine/engine.h"
#include "sim/engine/random.h"
#include "tests/seed.h"

namespace ringpost::sim {
namespace {

// How far ahead of the present events lie: equal times, one bucket, the wheel, and beyond it.
constexpr int64_t kReaches[] = {1,          3'000,      100'000,      16'000'000,
                                17'000'000, 40'000'000, 5'000'000'000};

struct Item {
  Item* next = nullptr;
  Time due;
  uint64_t sequence = 0;
  int id = 0;
};

// What fires, in order, with its time.
struct Fired {
  int id;
  Time time;
  bool operator==(const Fired&) const = default;
};

struct Recorder {
  Engine* engine = nullptr;
  std::vector<Fired> fired;
};

// A handler of its own for each event: how the order is defined.
struct Single {
  Recorder* recorder;
  int id;
};

void FireSingle(void* context) {
  const Single& single = *static_cast<Single*>(context);
  single.recorder->fired.push_back({single.id, single.recorder->engine->Now()});
}

struct Put {
  int64_t due_ps;
  size_t channel;
};

std::vector<Put> RandomPuts(Rng& random, size_t count, int64_t reach) {
  std::vector<Put> puts;
  int64_t last[2] = {0, 0};
  for (size_t i = 0; i < count; ++i) {
    const size_t channel = random.Below(2);
    // Mostly a FIFO, with equal times; now and then one overtakes.
    const int64_t step = static_cast<int64_t>(random.Below(static_cast<uint64_t>(reach)));
    const int64_t due = random.Below(5) == 0 ? step : last[channel] + step % 3;
    last[channel] = std::max(last[channel], due);
    puts.push_back({due, channel});
  }
  return puts;
}

void Record(void* context, Item& item) {
  Recorder& to = *static_cast<Recorder*>(context);
  to.fired.push_back({item.id, to.engine->Now()});
}

std::vector<Fired> ThroughChannels(const std::vector<Put>& puts) {
  Engine engine;
  Recorder recorder{&engine, {}};
  Channel<Item> channels[2];
  for (Channel<Item>& channel : channels) {
    channel.Attach<&Record>(engine, &recorder);
  }
  std::vector<Item> items(puts.size());
  for (size_t i = 0; i < puts.size(); ++i) {
    items[i].id = static_cast<int>(i);
    channels[puts[i].channel].Put(Time{puts[i].due_ps}, items[i]);
  }
  engine.Run();
  return recorder.fired;
}

std::vector<Fired> OneByOne(const std::vector<Put>& puts) {
  Engine engine;
  Recorder recorder{&engine, {}};
  std::vector<Single> singles(puts.size());
  for (size_t i = 0; i < puts.size(); ++i) {
    singles[i] = {&recorder, static_cast<int>(i)};
    engine.Schedule(Time{puts[i].due_ps}, engine.Register(&FireSingle, &singles[i]));
  }
  engine.Run();
  return recorder.fired;
}

}  // namespace

BOOST_AUTO_TEST_CASE(TheWheelPopsEventsInTheOrderOfTheHeap) {
  Rng random(TestSeed(), "wheel");
  for (int round = 0; round < 300; ++round) {
    WheelQueue wheel;
    HeapQueue heap;
    int64_t now = 0;
    uint64_t sequence = 0;
    const uint64_t push_weight = 1 + random.Below(9);
    for (int step = 0; step < 500; ++step) {
      BOOST_REQUIRE_EQUAL(wheel.Empty(), heap.Empty());
      if (heap.Empty() || random.Below(10) < push_weight) {
        const int64_t reach = kReaches[random.Below(std::size(kReaches))];
        const int64_t time = now + static_cast<int64_t>(random.Below(reach));
        const Event event{time, (sequence++ << Event::kNodeBits) | random.Below(7)};
        wheel.Push(event);
        heap.Push(event);
        continue;
      }
      const Event expected = heap.Top();
      BOOST_REQUIRE_MESSAGE(wheel.Top().sequence_node == expected.sequence_node,
                            "seed " << TestSeed() << ", round " << round << ", step " << step
                                    << ": the wheel's head is due at " << wheel.Top().time_ps
                                    << " ps, the heap's at " << expected.time_ps << " ps");
      const Event popped = wheel.Pop();
      BOOST_REQUIRE_EQUAL(popped.sequence_node, heap.Pop().sequence_node);
      BOOST_REQUIRE_EQUAL(popped.time_ps, expected.time_ps);
      now = popped.time_ps;
    }
  }
}

BOOST_AUTO_TEST_CASE(TheWheelKeepsEventsThatAreAWholeTurnApart) {
  WheelQueue wheel;
  constexpr int64_t kTurn = int64_t{4096} * 4096;
  for (int64_t i = 9; i >= 0; --i) wheel.Push({i * kTurn + 5, static_cast<uint64_t>(i)});
  for (int64_t i = 0; i < 10; ++i) BOOST_TEST(wheel.Pop().time_ps == i * kTurn + 5);
  BOOST_TEST(wheel.Empty());
}

BOOST_AUTO_TEST_CASE(AChannelDeliversInTheOrderInWhichSingleEventsWouldFire) {
  Rng random(TestSeed(), "channel");
  for (int round = 0; round < 500; ++round) {
    const int64_t reach = kReaches[random.Below(std::size(kReaches))];
    const std::vector<Put> puts = RandomPuts(random, 1 + random.Below(60), reach);
    const std::vector<Fired> expected = OneByOne(puts);
    const std::vector<Fired> actual = ThroughChannels(puts);
    BOOST_REQUIRE_MESSAGE(actual == expected,
                          "seed " << TestSeed() << ", round " << round << ", reach " << reach);
  }
}

BOOST_AUTO_TEST_CASE(EventsOfEqualTimeFireInTheOrderInWhichTheyWereScheduled) {
  const std::vector<Fired> fired = OneByOne({{500, 0}, {100, 0}, {500, 0}, {100, 0}, {500, 0}});
  const std::vector<Fired> expected = {
      {1, Time{100}}, {3, Time{100}}, {0, Time{500}}, {2, Time{500}}, {4, Time{500}}};
  BOOST_TEST((fired == expected));
}

BOOST_AUTO_TEST_CASE(TimeAdvancesOnlyWhereNothingHappensBefore) {
  Engine engine;
  Recorder recorder{&engine, {}};
  Single single{&recorder, 7};
  engine.Schedule(Time{100}, engine.Register(&FireSingle, &single));
  BOOST_TEST(engine.TryAdvance(Time{99}));
  BOOST_TEST(!engine.TryAdvance(Time{100}));
  BOOST_TEST(engine.Now().ps == 99);
  engine.Run(Time{99});
  BOOST_TEST(recorder.fired.empty());
  engine.Run();
  BOOST_TEST(recorder.fired.size() == 1u);
  BOOST_TEST(engine.Idle());
}

}  // namespace ringpost::sim
