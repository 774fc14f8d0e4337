// Our NIC is the requester, and Linux rxe the responder.
#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "tests/interop/pattern.h"
#include "tests/interop/rxe_pair.h"

namespace ringpost::interop {
namespace {

using Sizes = std::vector<uint64_t>;

constexpr uint64_t kTarget = 0x80000;
// Several windows of what may be under way without an acknowledgement.
constexpr uint64_t kManyPackets = 400'001;

Sizes SizesFor(uint32_t mtu) {
  return {0, 1, 3, 4, 13, mtu - 1, mtu, mtu + 1, 2 * mtu, 3 * mtu + 5, 20 * mtu + 1};
}

void ExpectDone(RxePair& pair, const Posted& posted) {
  const Completion done = pair.Ours().Wait(posted);
  BOOST_TEST(done.Ok());
  BOOST_TEST(int{done.syndrome} == 0);
}

void ExpectError(RxePair& pair, const Posted& posted, abi::Syndrome syndrome) {
  const Completion done = pair.Ours().Wait(posted);
  BOOST_TEST((done.status == Status::kErrorCompletion));
  BOOST_TEST(int{done.syndrome} == static_cast<int>(syndrome));
}

// The last byte before the target and the first one behind it stay as they are.
void ExpectTheirs(RxePair& pair, uint64_t offset, uint64_t bytes, uint32_t seed) {
  BOOST_TEST(pair.Rxe().Check(offset, bytes, seed) == "same");
  BOOST_TEST(pair.Rxe().Check(offset - 8, 8, 200) == "same");
  BOOST_TEST(pair.Rxe().Check(offset + bytes, 8, 201) == "same");
}

void PrepareTheirs(RxePair& pair, uint64_t offset, uint64_t bytes) {
  pair.Rxe().Fill(offset - 8, 8, 200);
  pair.Rxe().Fill(offset, bytes, 202);
  pair.Rxe().Fill(offset + bytes, 8, 201);
}

void WriteEverySize(RxePair& pair, const Sizes& sizes) {
  uint32_t seed = 0;
  for (const uint64_t bytes : sizes) {
    BOOST_TEST_CONTEXT(bytes << " bytes") {
      PrepareTheirs(pair, kTarget + 3, bytes);
      FillPattern(pair.Bytes(100), bytes, ++seed);
      ExpectDone(pair, pair.Ours().Put(pair.Remote(kTarget + 3), pair.Local(100, bytes)));
      ExpectTheirs(pair, kTarget + 3, bytes, seed);
    }
  }
}

void ReadEverySize(RxePair& pair, const Sizes& sizes) {
  uint32_t seed = 100;
  for (const uint64_t bytes : sizes) {
    BOOST_TEST_CONTEXT(bytes << " bytes") {
      pair.Rxe().Fill(kTarget, bytes, ++seed);
      ExpectDone(pair, pair.Ours().Get(pair.Local(200, bytes), pair.Remote(kTarget)));
      BOOST_TEST(FindDifference(pair.Bytes(200), bytes, seed) == -1);
    }
  }
}

void SendEverySize(RxePair& pair, const Sizes& sizes) {
  uint32_t seed = 50;
  for (const uint64_t bytes : sizes) {
    const bool tagged = ++seed % 2 == 0;
    BOOST_TEST_CONTEXT(bytes << " bytes") {
      PrepareTheirs(pair, kTarget, bytes);
      pair.Rxe().Receive(kTarget, bytes + 8);
      FillPattern(pair.Bytes(0), bytes, seed);
      const LocalSpan source = pair.Local(0, bytes);
      ExpectDone(pair, tagged ? pair.Ours().SendImmediate(source, 0xcafe0000 + seed)
                              : pair.Ours().Send(source));
      const WorkCompletion message = pair.Rxe().Received();
      BOOST_TEST(message.status == kWcSuccess);
      BOOST_TEST(message.bytes == bytes);
      BOOST_TEST(message.immediate == (tagged ? 0xcafe0000 + seed : 0));
      ExpectTheirs(pair, kTarget, bytes, seed);
    }
  }
}

BOOST_AUTO_TEST_SUITE(ToRxe)

BOOST_AUTO_TEST_CASE(WritesOfEverySizeArrive) {
  RxePair pair;
  WriteEverySize(pair, SizesFor(1024));
}

BOOST_AUTO_TEST_CASE(ReadsOfEverySizeAreAnswered) {
  RxePair pair;
  ReadEverySize(pair, SizesFor(1024));
}

BOOST_AUTO_TEST_CASE(SendsOfEverySizeArriveWithTheirImmediate) {
  RxePair pair;
  SendEverySize(pair, SizesFor(1024));
}

BOOST_AUTO_TEST_CASE(EveryMtuOfVerbsServes) {
  for (const uint32_t mtu : {256u, 512u, 2048u, 4096u}) {
    const Sizes sizes = SizesFor(mtu);
    RxePair pair({.mtu = mtu});
    WriteEverySize(pair, sizes);
    ReadEverySize(pair, sizes);
    SendEverySize(pair, sizes);
  }
}

BOOST_AUTO_TEST_CASE(MessagesOfHundredsOfPacketsArrive) {
  RxePair pair;
  WriteEverySize(pair, {kManyPackets});
  ReadEverySize(pair, {kManyPackets});
  SendEverySize(pair, {kManyPackets});
}

BOOST_AUTO_TEST_CASE(AtomicsReturnWhatWasThereAndChangeIt) {
  RxePair pair;
  const LocalSpan result = pair.Local(64, 8);
  pair.Rxe().Poke(kTarget, 0xfffffffffffffff0);
  ExpectDone(pair, pair.Ours().FetchAdd(result, pair.Remote(kTarget), 0x123456789abcdef0));
  BOOST_TEST(pair.Word(64) == 0xfffffffffffffff0);
  BOOST_TEST(pair.Rxe().Peek(kTarget) == 0x123456789abcdee0);
  ExpectDone(pair, pair.Ours().CompareSwap(result, pair.Remote(kTarget), 0x123456789abcdee0, 7));
  BOOST_TEST(pair.Word(64) == 0x123456789abcdee0);
  BOOST_TEST(pair.Rxe().Peek(kTarget) == 7u);
  ExpectDone(pair, pair.Ours().CompareSwap(result, pair.Remote(kTarget), 8, 9));  // it is 7
  BOOST_TEST(pair.Word(64) == 7u);
  BOOST_TEST(pair.Rxe().Peek(kTarget) == 7u);
}

BOOST_AUTO_TEST_CASE(AnInlinePutAndASignalArriveInThatOrder) {
  RxePair pair;
  const uint64_t value = 0x1122334455667788;
  pair.Rxe().Poke(kTarget, 0);
  pair.Rxe().Poke(kTarget + 8, 0);
  pair.Ours().PutInline(pair.Remote(kTarget), &value, sizeof(value));
  pair.Ours().Signal(pair.Remote(kTarget + 8), 5);
  BOOST_TEST(pair.Ours().Quiet(CompletionScope::kSelectedQp).Ok());
  BOOST_TEST(pair.Rxe().Peek(kTarget) == value);
  BOOST_TEST(pair.Rxe().Peek(kTarget + 8) == 5u);
}

BOOST_AUTO_TEST_CASE(APutWithImmediateTellsOfItself) {
  RxePair pair;
  for (const uint64_t bytes : {0u, 5u, 1024u, 2500u}) {
    PrepareTheirs(pair, kTarget, bytes);
    FillPattern(pair.Bytes(0), bytes, 9);
    pair.Rxe().Receive(0, 0);
    ExpectDone(pair,
               pair.Ours().PutImmediate(pair.Remote(kTarget), pair.Local(0, bytes), 0x01020304));
    const WorkCompletion message = pair.Rxe().Received();
    BOOST_TEST(message.status == kWcSuccess);
    BOOST_TEST(message.immediate == 0x01020304u);
    BOOST_TEST(message.bytes == bytes);
    ExpectTheirs(pair, kTarget, bytes, 9);
  }
}

BOOST_AUTO_TEST_CASE(ASendBeforeItsReceiveIsRepeatedUntilThatIsPosted) {
  RxePair pair;
  PrepareTheirs(pair, kTarget, 3000);
  FillPattern(pair.Bytes(0), 3000, 5);
  const Posted posted = pair.Ours().Send(pair.Local(0, 3000));
  while (pair.Nic().Counters().Value().nic.rnr_naks_received == 0) std::this_thread::yield();
  pair.Rxe().Receive(kTarget, 3000);
  BOOST_TEST(pair.Rxe().Received().bytes == 3000u);
  ExpectDone(pair, posted);
  ExpectTheirs(pair, kTarget, 3000, 5);
}

BOOST_AUTO_TEST_CASE(PsnsWrapWithinAndBetweenMessages) {
  RxePair pair({.our_psn = 0xfffffd});
  pair.Rxe().Receive(kTarget, 0x8000);
  FillPattern(pair.Bytes(0), 5 * 1024 + 1, 3);
  ExpectDone(pair, pair.Ours().Send(pair.Local(0, 5 * 1024 + 1)));
  BOOST_TEST(pair.Rxe().Received().bytes == 5 * 1024 + 1u);
  BOOST_TEST(pair.Rxe().Check(kTarget, 5 * 1024 + 1, 3) == "same");
  WriteEverySize(pair, SizesFor(1024));
}

BOOST_AUTO_TEST_CASE(PsnsOfAReadsResponsesWrap) {
  RxePair pair({.our_psn = 0xfffffe});
  ReadEverySize(pair, SizesFor(1024));
}

BOOST_AUTO_TEST_CASE(AWrongRkeyIsARemoteAccessError) {
  for (const int operation : {0, 1, 2}) {
    BOOST_TEST_CONTEXT("operation " << operation) {
      RxePair pair;
      RemoteSpan wrong = pair.Remote(kTarget);
      wrong.rkey ^= 0x5500;
      const LocalSpan local = pair.Local(0, 8);
      ExpectError(pair,
                  operation == 0   ? pair.Ours().Put(wrong, local)
                  : operation == 1 ? pair.Ours().Get(local, wrong)
                                   : pair.Ours().FetchAdd(local, wrong, 1),
                  abi::Syndrome::kRemoteAccess);
    }
  }
}

// Linux takes the receive for malformed where others answer that the request is invalid.
BOOST_AUTO_TEST_CASE(ASendLongerThanItsReceiveFailsOnBothSides) {
  RxePair pair;
  pair.Rxe().Receive(kTarget, 1500);
  const Posted posted = pair.Ours().Send(pair.Local(0, 1501));
  BOOST_TEST(pair.Rxe().Received().status != kWcSuccess);
  const Completion done = pair.Ours().Wait(posted);
  BOOST_TEST((done.status == Status::kErrorCompletion));
  const auto syndrome = static_cast<abi::Syndrome>(done.syndrome);
  BOOST_TEST((syndrome == abi::Syndrome::kRemoteOperation ||
              syndrome == abi::Syndrome::kRemoteInvalidRequest));
}

BOOST_AUTO_TEST_CASE(ManyOperationsAtOnceAreExecutedInOrder) {
  constexpr uint32_t kEach = 40;
  RxePair pair;
  pair.Rxe().Poke(0, 0);
  FillPattern(pair.Bytes(0x1000), kEach * 2000, 77);
  for (uint64_t i = 0; i < kEach; ++i) {
    pair.Ours().Put(pair.Remote(kTarget + i * 2000), pair.Local(0x1000 + i * 2000, 2000));
  }
  for (uint64_t i = 0; i < kEach; ++i) {
    pair.Ours().Get(pair.Local(0x40000 + i * 2000, 2000), pair.Remote(kTarget + i * 2000));
    pair.Ours().FetchAdd(pair.Local(0x80000 + 8 * i, 8), pair.Remote(0), 3);
  }
  BOOST_TEST(pair.Ours().Quiet(CompletionScope::kSelectedQp).Ok());
  BOOST_TEST(pair.Rxe().Check(kTarget, kEach * 2000, 77) == "same");
  BOOST_TEST(FindDifference(pair.Bytes(0x40000), kEach * 2000, 77) == -1);
  BOOST_TEST(pair.Rxe().Peek(0) == 3 * kEach);
  for (uint64_t i = 0; i < kEach; ++i) BOOST_TEST(pair.Word(0x80000 + 8 * i) == 3 * i);
}

// With both kinds of loss a request is repeated, or answered twice: each counts once.
void SurviveLoss(const PairOptions& options) {
  RxePair pair(options);
  WriteEverySize(pair, SizesFor(1024));
  ReadEverySize(pair, SizesFor(1024));
  SendEverySize(pair, SizesFor(1024));
  pair.Rxe().Poke(0, 0);
  for (uint64_t i = 0; i < 40; ++i) {
    ExpectDone(pair, pair.Ours().FetchAdd(pair.Local(0, 8), pair.Remote(0), 1));
    BOOST_TEST(pair.Word(0) == i);
  }
  BOOST_TEST(pair.Rxe().Peek(0) == 40u);
  BOOST_TEST(pair.Nic().Counters().Value().faults.dropped + pair.Rxe().Wire().Lost() > 0u);
}

BOOST_AUTO_TEST_CASE(LostRequestsAreSentAgain) { SurviveLoss({.timeout = 15, .our_loss = 0.05}); }

BOOST_AUTO_TEST_CASE(LostResponsesAreAskedForAgain) {
  SurviveLoss({.timeout = 15, .their_loss = 0.05});
}

BOOST_AUTO_TEST_CASE(APeerWhoseQpIsGoneIsRetriedAndThenGivenUp) {
  RxePair pair({.timeout = 1});
  pair.Rxe().DestroyQp();
  ExpectError(pair, pair.Ours().Put(pair.Remote(kTarget), pair.Local(0, 8)),
              abi::Syndrome::kTransportRetryExceeded);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace ringpost::interop
