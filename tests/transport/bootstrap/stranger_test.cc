// What else may connect to rank 0, and what happens when a rank's connection ends.
#include <atomic>
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <boost/test/unit_test.hpp>
#include <random>
#include <string>
#include <vector>

#include "tests/seed.h"
#include "tests/transport/bootstrap/run_of_ranks.h"
#include "transport/bootstrap/bootstrap.h"
#include "transport/bootstrap/message.h"

namespace ringpost {
namespace {

using boost::asio::ip::tcp;
using bootstrap::Bootstrap;
using bootstrap::Message;
using bootstrap::MessageKind;

bool Has(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return text.find('\n') == std::string::npos;
  BOOST_TEST_MESSAGE("'" << text << "' has no '" << part << "'");
  return false;
}

// A connection to rank 0 that says what it likes.
class Stranger {
 public:
  explicit Stranger(uint16_t port) {
    socket_.connect({boost::asio::ip::make_address("127.0.0.1"), port});
  }
  void Say(const std::string& text) {
    boost::system::error_code ignored;
    boost::asio::write(socket_, boost::asio::buffer(text), ignored);
  }
  void Say(const Message& message) { Say(Encode(message)); }
  // Everything until rank 0 closes the connection.
  void AwaitEnd() {
    boost::system::error_code error;
    std::vector<char> bytes(100);
    while (!error) socket_.read_some(boost::asio::buffer(bytes), error);
  }
  Message Hear() {
    bootstrap::Header header;
    boost::asio::read(socket_, boost::asio::buffer(header));
    auto decoded = bootstrap::DecodeHeader(header);
    if (!decoded) return {};
    decoded->message.body.resize(decoded->body_bytes);
    boost::asio::read(socket_, boost::asio::buffer(decoded->message.body));
    return decoded->message;
  }

 private:
  boost::asio::io_context context_;
  tcp::socket socket_{context_};
};

std::string Pass(uint32_t, Bootstrap& bootstrap) { return MessageOf(bootstrap.Barrier("start")); }

BOOST_AUTO_TEST_SUITE(StrangerTest)

BOOST_AUTO_TEST_CASE(GarbageIsIgnoredWithANote) {
  std::mt19937_64 random(TestSeed());
  RunOfRanks run(2);
  run.Start(0, Pass);
  constexpr size_t kStrangers = 20;
  for (size_t i = 0; i < kStrangers; ++i) {
    Stranger stranger(run.Port());
    std::string bytes(20 + random() % 200, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    stranger.Say(bytes);
    stranger.AwaitEnd();
  }
  run.Start(1, Pass);
  BOOST_TEST(run.Wait() == std::vector<std::string>(2), boost::test_tools::per_element());
  const auto notes = run.Notes();
  BOOST_REQUIRE(notes.size() == kStrangers);
  BOOST_TEST(Has(notes[0], "ignored 127.0.0.1:"));
  BOOST_TEST(Has(notes[0], "it is no rank of a run"));
}

BOOST_AUTO_TEST_CASE(StrangersThatSayNothingBlockNobody) {
  RunOfRanks run(2);
  run.Start(0, Pass);
  std::vector<std::unique_ptr<Stranger>> strangers;
  for (int i = 0; i < 100; ++i) strangers.push_back(std::make_unique<Stranger>(run.Port()));
  run.Start(1, Pass);
  BOOST_TEST(run.Wait() == std::vector<std::string>(2), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(HelloThatIsTooLongIsIgnored) {
  RunOfRanks run(2);
  run.Start(0, Pass);
  Stranger stranger(run.Port());
  stranger.Say(Message{MessageKind::kHello, 1, 2, std::string(1 << 20, 'x')});
  stranger.AwaitEnd();
  run.Start(1, Pass);
  BOOST_TEST(run.Wait() == std::vector<std::string>(2), boost::test_tools::per_element());
  BOOST_TEST(Has(run.Notes().at(0), "sends 1048576 bytes at once"));
}

BOOST_AUTO_TEST_CASE(RanksOfAnotherRunAreRefusedWithAReason) {
  RunOfRanks run(2);
  run.Start(0, Pass);
  const std::pair<Message, const char*> cases[] = {
      {{MessageKind::kHello, 1, 2, "nic", 9}, "it speaks version 9, rank 0 version 1"},
      {{MessageKind::kHello, 1, 4, "nic"}, "it is of a run of 4 ranks, rank 0 of one of 2"},
      {{MessageKind::kHello, 2, 2, "nic"}, "there is no such rank to join"},
      {{MessageKind::kHello, 0, 2, "nic"}, "there is no such rank to join"},
      {{MessageKind::kBarrier, 1, 2, ""}, "it did not say who it is"}};
  for (const auto& [hello, why] : cases) {
    Stranger stranger(run.Port());
    stranger.Say(hello);
    const Message answer = stranger.Hear();
    BOOST_TEST((answer.kind == MessageKind::kReject));
    BOOST_TEST(answer.body == why);
  }
  run.Start(1, Pass);
  BOOST_TEST(run.Wait() == std::vector<std::string>(2), boost::test_tools::per_element());
  BOOST_TEST(run.Notes().size() == std::size(cases));
}

BOOST_AUTO_TEST_CASE(SecondProcessOfTheSameRankIsRefusedInOneLine) {
  RunOfRanks run(3);
  run.Start(0, Pass);
  // Whichever of the two is read first has joined once the other is refused.
  Stranger first(run.Port());
  Stranger second(run.Port());
  for (Stranger* stranger : {&first, &second}) {
    stranger->Say(Message{MessageKind::kHello, 1, 3, "mlx5_7"});
  }
  while (run.Notes().empty()) std::this_thread::yield();
  const std::string error = MessageOf(Bootstrap::Join(run.SpecOf(1)));
  BOOST_TEST(Has(error, "rank 1 (nic1) was refused by rank 0 at 127.0.0.1:"));
  BOOST_TEST(Has(error, "rank 1 (mlx5_7) has joined already, from 127.0.0.1:"));
  for (Stranger* stranger : {&first, &second}) {
    stranger->Say(Message{MessageKind::kAbort, 1, 0, "the test is over"});
  }
  BOOST_TEST(run.Wait()[0] == "join: the test is over");
}

// A rank that joins, takes part in one barrier, and whose process then dies.
void JoinAndDie(uint16_t port, uint32_t rank, uint32_t ranks) {
  Stranger dying(port);
  dying.Say(Message{MessageKind::kHello, rank, ranks, "dying"});
  BOOST_TEST((dying.Hear().kind == MessageKind::kWelcome));
  dying.Say(Message{MessageKind::kBarrier, rank, 1, ""});
  BOOST_TEST((dying.Hear().kind == MessageKind::kBarrier));
}

BOOST_AUTO_TEST_CASE(DeadRankIsNoticedAtOnceAndNamedToAll) {
  RunOfRanks run(3);
  const auto two_steps = [](uint32_t, Bootstrap& bootstrap) -> std::string {
    if (!bootstrap.Barrier("start").Ok()) return "the first barrier";
    return MessageOf(bootstrap.Exchange("", "keys"));
  };
  run.Start(0, two_steps);
  run.Start(2, two_steps);
  JoinAndDie(run.Port(), 1, 3);
  const auto errors = run.Wait();  // long before the deadline of 30 s
  for (const uint32_t rank : {0, 2}) {
    BOOST_TEST(Has(errors[rank], "rank 0 (nic0) lost rank 1 (dying) after "));
    BOOST_TEST(Has(errors[rank], " ms, connection closed: exchange 2, keys"));
  }
}

BOOST_AUTO_TEST_CASE(DeadRankIsNoticedByACheck) {
  RunOfRanks run(2);
  run.Start(0, [](uint32_t, Bootstrap& bootstrap) -> std::string {
    if (!bootstrap.Barrier("start").Ok()) return "the first barrier";
    for (;;) {
      const auto check = bootstrap.Check();
      if (!check.Ok()) return check.Message();
      std::this_thread::yield();
    }
  });
  JoinAndDie(run.Port(), 1, 2);
  BOOST_TEST(Has(run.Wait()[0], "rank 0 (nic0) lost rank 1 (dying) after "));
}

BOOST_AUTO_TEST_CASE(ListenerThatIsNoRankIsNamed) {
  boost::asio::io_context context;
  tcp::acceptor acceptor(context, {boost::asio::ip::make_address("127.0.0.1"), 0});
  std::thread server([&] {
    tcp::socket socket = acceptor.accept();
    boost::asio::write(socket, boost::asio::buffer("SSH-2.0-OpenSSH_9.2p1 Debian\r\n", 30));
    std::vector<char> bytes(100);
    boost::system::error_code error;
    while (!error) socket.read_some(boost::asio::buffer(bytes), error);
  });
  bootstrap::BootstrapSpec spec;
  spec.rendezvous = "127.0.0.1:" + std::to_string(acceptor.local_endpoint().port());
  spec.rank = 1;
  spec.ranks = 2;
  spec.nic = "mlx5_1";
  const std::string error = MessageOf(Bootstrap::Join(spec));
  server.join();
  BOOST_TEST(Has(error, "rank 1 (mlx5_1) lost rank 0 after "));
  BOOST_TEST(Has(error, "it is no rank of a run: all ranks to join"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace ringpost
