#include "transport/bootstrap/rendezvous.h"

#include <boost/test/unit_test.hpp>
#include <random>

#include "tests/seed.h"
#include "transport/bootstrap/message.h"

namespace ringpost::bootstrap {
namespace {

BOOST_AUTO_TEST_SUITE(RendezvousTest)

BOOST_AUTO_TEST_CASE(HostAndPortAreRead) {
  for (const char* text : {"node0:7000", "10.0.0.1:0", "[fd00::1]:65535"}) {
    const auto rendezvous = ParseRendezvous(text);
    BOOST_REQUIRE(rendezvous.Ok());
    BOOST_TEST(rendezvous.Value().Text() == text);
  }
  BOOST_TEST(ParseRendezvous("[fd00::1]:7").Value().host == "fd00::1");
}

BOOST_AUTO_TEST_CASE(EachMistakeIsNamedInOneLine) {
  const std::pair<const char*, const char*> mistakes[] = {
      {"node0", "there is no port"},        {"", "there is no port"},
      {":7000", "there is no host"},        {"node0:", "the port is no number"},
      {"node0:65536", "the port is no"},    {"node0:7a", "the port is no number"},
      {"node0:-1", "the port is no"},       {"fd00::1:7000", "an IPv6 address stands in brackets"},
      {"[fd00::1:7000", "a bracket is not"}};
  for (const auto& [text, what] : mistakes) {
    const auto rendezvous = ParseRendezvous(text);
    BOOST_REQUIRE(!rendezvous.Ok());
    BOOST_TEST(rendezvous.Message().find(what) != std::string::npos, rendezvous.Message());
    BOOST_TEST(rendezvous.Message().find("HOST:PORT is wanted") != std::string::npos);
  }
}

BOOST_AUTO_TEST_CASE(MessagesAreReadAsTheyWereWritten) {
  const Message message{MessageKind::kBarrier, 0x01020304, 0xfffefdfc, "body", 7};
  const std::string text = Encode(message);
  BOOST_REQUIRE(text.size() == kHeaderBytes + 4);
  Header header;
  std::copy_n(text.begin(), kHeaderBytes, header.begin());
  const auto decoded = DecodeHeader(header);
  BOOST_REQUIRE(decoded.has_value());
  BOOST_TEST((decoded->message.kind == message.kind));
  BOOST_TEST(decoded->message.rank == message.rank);
  BOOST_TEST(decoded->message.number == message.number);
  BOOST_TEST(decoded->message.version == 7);
  BOOST_TEST(decoded->body_bytes == 4u);
}

BOOST_AUTO_TEST_CASE(ListsAreReadAsTheyWereWrittenAndNothingElseIsAList) {
  const std::vector<std::string> list{"", std::string(1000, '\0'), "x"};
  const std::string body = PackStrings(list);
  BOOST_TEST((UnpackStrings(body) == list));
  BOOST_TEST(!UnpackStrings(body.substr(0, body.size() - 1)));
  std::mt19937_64 random(TestSeed());
  for (int i = 0; i < 20'000; ++i) {
    std::string text(random() % 40, '\0');
    for (char& c : text) c = static_cast<char>(random() % 4 == 0 ? random() : 0);
    const auto found = UnpackStrings(text);
    if (found) BOOST_REQUIRE(PackStrings(*found) == text);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace ringpost::bootstrap
