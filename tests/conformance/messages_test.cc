// Sends, receives and puts with immediate: every backend, every policy pair, RC and DC.
#include <boost/test/unit_test.hpp>
#include <vector>

#include "tests/conformance/backends.h"
#include "tests/conformance/team.h"

namespace ringpost::conformance {
namespace {

constexpr CompletionScope kSelected = CompletionScope::kSelectedQp;
constexpr uint64_t kRounds = 9;
constexpr uint64_t kStride = 512;
constexpr uint32_t kReceives = 8;  // fewer than messages: each is posted again

// Of message i of a thread: what its immediate says, and its length; every third has none.
uint32_t TagOf(uint32_t thread, uint64_t i) {
  return 0x80000000u | (thread << 8) | static_cast<uint32_t>(i);
}
bool IsTagged(uint64_t i) { return i % 3 != 2; }
uint64_t SizeOf(uint64_t i) { return i == 0 ? 0 : 40 + i * 50; }

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(HasDevice))
BOOST_AUTO_TEST_CASE_TEMPLATE(SendsArriveInOrderWhereReceivesSay, Backend, Backends) {
  for (const auto& pair : Backend::Pairs()) {
    Team<Backend> team(pair, {.depth_wqebbs = 16, .receive_depth = kReceives});
    const uint64_t slots = team.Threads() * kRounds;
    const RegisteredMemory source = team.Allocate(0, slots * kStride);
    const RegisteredMemory inbox = team.Allocate(1, slots * kStride);
    for (uint64_t slot = 0; slot < slots; ++slot) {
      team.Fill(source.address + slot * kStride, kStride, slot);
    }
    team.Send([&](auto&, AnyEndpoint& endpoint, uint32_t thread) {
      for (uint64_t i = 0; i < kRounds; ++i) {
        const LocalSpan from = source.Local((thread * kRounds + i) * kStride, SizeOf(i));
        const Posted posted =
            IsTagged(i) ? endpoint.SendImmediate(from, TagOf(thread, i)) : endpoint.Send(from);
        team.ExpectOk(posted.status, "send");
      }
      team.ExpectOk(endpoint.Quiet(kSelected), "quiet");
    });
    team.Receive([&](auto& port, AnyEndpoint&, uint32_t thread) {
      if (!team.OwnsReceives(thread)) return;
      const auto receives = team.ReceivesOf(port, thread);
      const uint64_t messages = team.Senders() * kRounds;
      const auto buffer = [&](uint64_t i) {
        return inbox.Local((thread * messages + i) * kStride, kStride);
      };
      for (uint64_t i = 0; i < kReceives; ++i) team.ExpectOk(receives->Post(buffer(i)), "post");
      team.Expect(receives->Post(buffer(0)).status == Status::kInvalidArgument,
                  "a receive beyond the queue is accepted");
      std::vector<uint64_t> next(team.Threads());
      for (uint64_t i = 0; i < messages; ++i) {
        const Received message = receives->Wait();
        team.ExpectOk(message.status, "receive");
        team.Expect(message.index == i, "receives are not taken in order");
        uint8_t found[kStride] = {};
        port.LoadPayload(found, buffer(i).address, message.bytes);
        // A message without immediate says by its bytes whose it is.
        for (uint32_t from = 0; from < team.Threads(); ++from) {
          const uint64_t n = next[from];
          const uint64_t slot = from * kRounds + n;
          bool its = n < kRounds && message.bytes == SizeOf(n) &&
                     message.has_immediate == IsTagged(n) &&
                     (!IsTagged(n) || message.immediate == TagOf(from, n));
          for (uint64_t b = 0; its && b < SizeOf(n); ++b) its = found[b] == PatternByte(slot, b);
          if (!its) continue;
          ++next[from];
          break;
        }
        if (i + kReceives < messages) team.ExpectOk(receives->Post(buffer(i + kReceives)), "post");
      }
      uint64_t known = 0;
      for (const uint64_t count : next) known += count;
      team.Expect(known == messages, std::to_string(messages - known) + " messages are wrong");
    });
    team.Run();
  }
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(HasDevice))
BOOST_AUTO_TEST_CASE_TEMPLATE(APutWithImmediateTellsTheTargetWhenItIsPlaced, Backend, Backends) {
  for (const auto& pair : Backend::Pairs()) {
    // Longer ones travel in pieces, the last of which has the immediate.
    Team<Backend> team(pair, {.depth_wqebbs = 32, .receive_depth = kReceives, .max_message = 256});
    const uint64_t slots = team.Threads() * kRounds;
    const RegisteredMemory source = team.Allocate(0, slots * kStride);
    const RegisteredMemory target = team.Allocate(1, slots * kStride);
    for (uint64_t slot = 0; slot < slots; ++slot) {
      team.Fill(source.address + slot * kStride, kStride, slot);
    }
    team.Send([&](auto&, AnyEndpoint& endpoint, uint32_t thread) {
      for (uint64_t i = 0; i < kRounds; ++i) {
        const uint64_t at = (thread * kRounds + i) * kStride;
        const LocalSpan from = source.Local(at, SizeOf(i));
        const Posted put = endpoint.PutImmediate(target.Remote(at), from, TagOf(thread, i));
        team.ExpectOk(put.status, "put");
      }
      team.ExpectOk(endpoint.Quiet(kSelected), "quiet");
    });
    team.Receive([&](auto& port, AnyEndpoint&, uint32_t thread) {
      if (!team.OwnsReceives(thread)) return;
      const auto receives = team.ReceivesOf(port, thread);
      const uint64_t messages = team.Senders() * kRounds;
      for (uint64_t i = 0; i < kReceives; ++i) team.ExpectOk(receives->Post({}), "post");
      for (uint64_t i = 0; i < messages; ++i) {
        const Received message = receives->Wait();
        team.ExpectOk(message.status, "receive");
        const uint32_t from = (message.immediate >> 8) & 0xff;
        const uint64_t round = message.immediate & 0xff;
        const bool known = message.has_immediate && from < team.Threads() && round < kRounds;
        team.Expect(known, "an immediate that nobody sent");
        if (!known) return;
        const uint64_t slot = from * kRounds + round;
        uint8_t found[kStride] = {};
        port.LoadPayload(found, target.address + slot * kStride, SizeOf(round));
        uint64_t wrong = 0;
        for (uint64_t b = 0; b < SizeOf(round); ++b) wrong += found[b] != PatternByte(slot, b);
        team.Expect(wrong == 0, "the immediate came before the payload");
        if (i + kReceives < messages) team.ExpectOk(receives->Post({}), "post");
      }
    });
    team.Run();
  }
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(HasDevice))
BOOST_AUTO_TEST_CASE_TEMPLATE(ASendLongerThanItsReceiveFailsOnBothSides, Backend, Backends) {
  for (const auto& pair : Backend::Pairs()) {
    // A DCT outlives what one of its DCIs did: only the sender learns of it there.
    const bool both = pair.kind == TransportKind::kRc;
    const bool record_ordered = pair.ordering != "gpu_fence";
    Team<Backend> team(pair, {.depth_wqebbs = 16, .receive_depth = kReceives},
                       {.ordered = record_ordered});
    const RegisteredMemory source = team.Allocate(0, 64);
    const RegisteredMemory inbox = team.Allocate(1, 64);
    team.Send([&](auto&, AnyEndpoint& endpoint, uint32_t) {
      Completion done = endpoint.Send(source.Local(0, 64)).status;
      if (done.Ok()) done = endpoint.Quiet(kSelected);
      team.Expect(done.status == Status::kErrorCompletion, "the send did not fail");
      const auto syndrome = static_cast<abi::Syndrome>(done.syndrome);
      team.Expect(
          syndrome == abi::Syndrome::kRemoteInvalidRequest || syndrome == abi::Syndrome::kFlushed,
          "syndrome " + std::to_string(int{done.syndrome}));
    });
    team.Receive([&](auto& port, AnyEndpoint&, uint32_t thread) {
      if (!team.OwnsReceives(thread)) return;
      const auto receives = team.ReceivesOf(port, thread);
      team.ExpectOk(receives->Post(inbox.Local(0, 63)), "post");
      const Received message = receives->Wait();
      team.Expect(message.status.status == Status::kErrorCompletion, "the receive did not fail");
      team.Expect(
          !both || message.status.syndrome == static_cast<uint8_t>(abi::Syndrome::kLocalLength),
          "syndrome " + std::to_string(int{message.status.syndrome}));
    });
    team.Run();
  }
}

}  // namespace
}  // namespace ringpost::conformance
