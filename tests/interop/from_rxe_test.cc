// Linux rxe is the requester, and our NIC the responder.
#include <boost/test/unit_test.hpp>
#include <cstring>
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
constexpr uint8_t kUntouched = 0xee;

// None, some, and around each edge of packets.
Sizes SizesFor(uint32_t mtu) {
  return {0, 1, 3, 4, 13, mtu - 1, mtu, mtu + 1, 2 * mtu, 3 * mtu + 5, 20 * mtu + 1};
}

void ExpectSent(RxePair& pair, int status = kWcSuccess) {
  BOOST_TEST(pair.Rxe().Sent().status == status);
}

// The pattern, and nothing else, at the target.
void ExpectOurs(RxePair& pair, uint64_t offset, uint64_t bytes, uint32_t seed) {
  BOOST_TEST(FindDifference(pair.Bytes(offset), bytes, seed) == -1);
  BOOST_TEST(int{*pair.Bytes(offset - 1)} == int{kUntouched});
  BOOST_TEST(int{*pair.Bytes(offset + bytes)} == int{kUntouched});
}

void WipeOurs(RxePair& pair) { std::memset(pair.Bytes(0), kUntouched, RxePair::kMemoryBytes); }

void WriteEverySize(RxePair& pair, const Sizes& sizes) {
  uint32_t seed = 0;
  for (const uint64_t bytes : sizes) {
    BOOST_TEST_CONTEXT(bytes << " bytes") {
      WipeOurs(pair);
      pair.Rxe().Fill(100, bytes, ++seed);
      pair.Rxe().Post(pair.Theirs("write", 100, bytes, kTarget + seed));
      ExpectSent(pair);
      ExpectOurs(pair, kTarget + seed, bytes, seed);
    }
  }
}

void ReadEverySize(RxePair& pair, const Sizes& sizes) {
  uint32_t seed = 100;
  for (const uint64_t bytes : sizes) {
    BOOST_TEST_CONTEXT(bytes << " bytes") {
      FillPattern(pair.Bytes(kTarget), bytes, ++seed);
      pair.Rxe().Post(pair.Theirs("read", 200, bytes, kTarget));
      ExpectSent(pair);
      BOOST_TEST(pair.Rxe().Check(200, bytes, seed) == "same");
    }
  }
}

void SendEverySize(RxePair& pair, const Sizes& sizes) {
  uint32_t seed = 50;
  for (const uint64_t bytes : sizes) {
    const bool tagged = ++seed % 2 == 0;
    BOOST_TEST_CONTEXT(bytes << " bytes") {
      WipeOurs(pair);
      pair.PostReceive(kTarget, bytes + 8);
      pair.Rxe().Fill(100, bytes, seed);
      Work work = pair.Theirs(tagged ? "send_imm" : "send", 100, bytes, 0);
      work.immediate = 0xcafe0000 + seed;
      pair.Rxe().Post(work);
      const Received message = pair.AwaitReceived();
      BOOST_TEST(message.status.Ok());
      BOOST_TEST(message.bytes == bytes);
      BOOST_TEST(message.has_immediate == tagged);
      if (tagged) BOOST_TEST(message.immediate == work.immediate);
      ExpectOurs(pair, kTarget, bytes, seed);
      ExpectSent(pair);
    }
  }
}

BOOST_AUTO_TEST_SUITE(FromRxe)

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
  pair.Word(kTarget) = 0xfffffffffffffff0;
  Work work = pair.Theirs("fetch_add", 64, 8, kTarget);
  work.compare_add = 0x123456789abcdef0;
  pair.Rxe().Post(work);
  ExpectSent(pair);
  BOOST_TEST(pair.Rxe().Peek(64) == 0xfffffffffffffff0);
  BOOST_TEST(pair.Word(kTarget) == 0x123456789abcdee0);

  work.operation = "cas";
  work.compare_add = 0x123456789abcdee0;
  work.swap = 7;
  pair.Rxe().Post(work);
  ExpectSent(pair);
  BOOST_TEST(pair.Rxe().Peek(64) == 0x123456789abcdee0);
  BOOST_TEST(pair.Word(kTarget) == 7u);

  work.compare_add = 8;  // and not 7
  work.swap = 9;
  pair.Rxe().Post(work);
  ExpectSent(pair);
  BOOST_TEST(pair.Rxe().Peek(64) == 7u);
  BOOST_TEST(pair.Word(kTarget) == 7u);
}

BOOST_AUTO_TEST_CASE(AWriteWithImmediateTellsOfItself) {
  RxePair pair;
  for (const uint64_t bytes : {0u, 5u, 1024u, 2500u}) {
    WipeOurs(pair);
    pair.PostReceive(0, 0);
    pair.Rxe().Fill(0, bytes, 9);
    Work work = pair.Theirs("write_imm", 0, bytes, kTarget);
    work.immediate = 0x01020304;
    pair.Rxe().Post(work);
    const Received message = pair.AwaitReceived();
    BOOST_TEST(message.status.Ok());
    BOOST_TEST(message.has_immediate);
    BOOST_TEST(message.immediate == 0x01020304u);
    BOOST_TEST(message.bytes == bytes);
    ExpectOurs(pair, kTarget, bytes, 9);
    ExpectSent(pair);
  }
}

BOOST_AUTO_TEST_CASE(ASendBeforeItsReceiveIsRepeatedUntilThatIsPosted) {
  RxePair pair;
  WipeOurs(pair);
  pair.Rxe().Fill(0, 3000, 5);
  pair.Rxe().Post(pair.Theirs("send", 0, 3000, 0));
  while (pair.Nic().Counters().Value().nic.rnr_naks_sent == 0) std::this_thread::yield();
  pair.PostReceive(kTarget, 3000);
  BOOST_TEST(pair.AwaitReceived().status.Ok());
  ExpectOurs(pair, kTarget, 3000, 5);
  ExpectSent(pair);
}

BOOST_AUTO_TEST_CASE(PsnsWrapWithinAndBetweenMessages) {
  RxePair pair({.their_psn = 0xfffffd});
  WipeOurs(pair);
  pair.PostReceive(kTarget, 0x8000);
  pair.Rxe().Fill(0, 5 * 1024 + 1, 3);
  pair.Rxe().Post(pair.Theirs("send", 0, 5 * 1024 + 1, 0));
  BOOST_TEST(pair.AwaitReceived().bytes == 5 * 1024 + 1u);
  ExpectSent(pair);
  ExpectOurs(pair, kTarget, 5 * 1024 + 1, 3);
  WriteEverySize(pair, SizesFor(1024));
}

BOOST_AUTO_TEST_CASE(PsnsOfAReadsResponsesWrap) {
  RxePair pair({.their_psn = 0xfffffe});
  ReadEverySize(pair, SizesFor(1024));
}

BOOST_AUTO_TEST_CASE(AWrongRkeyIsARemoteAccessErrorAndTouchesNothing) {
  for (const char* operation : {"write", "read", "fetch_add", "cas"}) {
    BOOST_TEST_CONTEXT(operation) {
      RxePair pair;
      WipeOurs(pair);
      Work work = pair.Theirs(operation, 0, 8, kTarget);
      work.rkey ^= 0x5500;
      pair.Rxe().Post(work);
      ExpectSent(pair, kWcRemoteAccessError);
      BOOST_TEST(pair.Word(kTarget) == 0xeeeeeeeeeeeeeeee);
    }
  }
}

BOOST_AUTO_TEST_CASE(AnAccessBeyondTheMemoryIsARemoteAccessError) {
  RxePair pair;
  pair.Rxe().Post(pair.Theirs("write", 0, 9, RxePair::kMemoryBytes - 8));
  ExpectSent(pair, kWcRemoteAccessError);
}

BOOST_AUTO_TEST_CASE(ASendLongerThanItsReceiveFailsOnBothSides) {
  RxePair pair;
  pair.PostReceive(kTarget, 1500);
  pair.Rxe().Post(pair.Theirs("send", 0, 1501, 0));
  const Received message = pair.AwaitReceived();
  BOOST_TEST((message.status.status == Status::kErrorCompletion));
  BOOST_TEST(int{message.status.syndrome} == static_cast<int>(abi::Syndrome::kLocalLength));
  ExpectSent(pair, kWcRemoteInvalidRequest);
}

// More than the NIC may have open: READs and atomics wait for each other on both sides.
BOOST_AUTO_TEST_CASE(ManyOperationsAtOnceAreExecutedInOrder) {
  constexpr uint32_t kEach = 30;
  RxePair pair;
  WipeOurs(pair);
  pair.Word(0) = 0;
  pair.Rxe().Fill(0x1000, kEach * 2000, 77);
  Work write = pair.Theirs("write", 0x1000, 2000, kTarget);
  Work read = pair.Theirs("read", 0x40000, 2000, kTarget);
  Work add = pair.Theirs("fetch_add", 0x80000, 8, 0);
  write.count = read.count = kEach;
  write.stride = read.stride = 2000;
  add.compare_add = 3;
  pair.Rxe().Post(write);
  pair.Rxe().Post(read);
  for (uint32_t i = 0; i < kEach; ++i) pair.Rxe().Post(add);
  for (uint32_t i = 0; i < 3 * kEach; ++i) ExpectSent(pair);
  ExpectOurs(pair, kTarget, kEach * 2000, 77);
  BOOST_TEST(pair.Rxe().Check(0x40000, kEach * 2000, 77) == "same");
  BOOST_TEST(pair.Word(0) == 3 * kEach);
  BOOST_TEST(pair.Rxe().Peek(0x80000) == 3 * (kEach - 1));
}

// With both kinds of loss a request is repeated, or answered twice: each counts once.
void SurviveLoss(const PairOptions& options) {
  RxePair pair(options);
  WriteEverySize(pair, SizesFor(1024));
  ReadEverySize(pair, SizesFor(1024));
  SendEverySize(pair, SizesFor(1024));
  pair.Word(0) = 0;
  for (uint32_t i = 0; i < 40; ++i) {
    Work add = pair.Theirs("fetch_add", 0x80000, 8, 0);
    add.compare_add = 1;
    pair.Rxe().Post(add);
    ExpectSent(pair);
    BOOST_TEST(pair.Rxe().Peek(0x80000) == i);
  }
  BOOST_TEST(pair.Word(0) == 40u);
  BOOST_TEST(pair.Nic().Counters().Value().faults.dropped + pair.Rxe().Wire().Lost() > 0u);
}

BOOST_AUTO_TEST_CASE(LostResponsesAreAskedForAgain) {
  SurviveLoss({.timeout = 15, .our_loss = 0.05});
}

BOOST_AUTO_TEST_CASE(LostRequestsAreSentAgain) { SurviveLoss({.timeout = 15, .their_loss = 0.05}); }

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace ringpost::interop
