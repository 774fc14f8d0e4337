// Captures: read back by libpcap, and by tshark where it is installed.
#include "sim/wire/pcap_writer.h"

#include <pcap/pcap.h>

#include <boost/test/unit_test.hpp>
#include <cstdio>
#include <cstdlib>
#include <span>

#include "tests/seed.h"
#include "tests/sim/wire/capture.h"
#include "tests/sim/wire/random_packet.h"

namespace ringpost {
namespace {

using sim::Duration;
using sim::Time;
using sim::wire::Frame;
using sim::wire::Link;
using sim::wire::PcapWriter;
using Bytes = std::vector<uint8_t>;

constexpr size_t kErfBytes = 16;

std::string PathOf(const std::string& name) {
  const char* folder = std::getenv("TEST_TMPDIR");
  return std::string(folder == nullptr ? "/tmp" : folder) + "/" + name;
}

// One packet of each opcode.
std::vector<Frame> RandomFrames(Carrier carrier, uint64_t seed = TestSeed()) {
  std::mt19937_64 random(seed);
  std::vector<Frame> frames;
  for (const sim::wire::Opcode opcode : AllOpcodes()) {
    frames.push_back({RandomPacket(random, opcode, 64), RandomAddressing(random, carrier)});
  }
  return frames;
}

// Frame i at kBegin + i * kStep.
constexpr Time kBegin = Time{5'000'000'123'456'789};
constexpr Duration kStep = Duration{1'234'567};

std::string WriteCapture(Carrier carrier, const std::vector<Frame>& frames) {
  const std::string path = PathOf("carrier_" + std::to_string(static_cast<int>(carrier)) + ".pcap");
  PcapWriter writer(path, LinkOf(carrier));
  Time time = kBegin;
  for (const Frame& frame : frames) {
    writer.Write(time, frame.packet, frame.addressing);
    time += kStep;
  }
  writer.Flush();
  BOOST_TEST(writer.Error() == "");
  return path;
}

BOOST_AUTO_TEST_CASE(ACaptureHoldsEveryFrameAndItsNanosecond) {
  for (const Carrier carrier : kCarriers) {
    const std::vector<Frame> frames = RandomFrames(carrier);
    const Capture capture = ReadCapture(WriteCapture(carrier, frames));
    const bool is_ethernet = LinkOf(carrier) == Link::kEthernet;
    BOOST_TEST(capture.error == "");
    BOOST_TEST(capture.link_type == (is_ethernet ? DLT_EN10MB : DLT_ERF));
    BOOST_REQUIRE_EQUAL(capture.frames.size(), frames.size());
    for (size_t i = 0; i < frames.size(); ++i) {
      const Time time = kBegin + kStep * static_cast<int64_t>(i);
      BOOST_TEST(capture.frames[i].time_ns == time.ps / 1000);
      const std::span<const uint8_t> record = capture.frames[i].bytes;
      const auto bytes = record.subspan(is_ethernet ? 0 : kErfBytes);
      const sim::wire::Decoded decoded = Decode(LinkOf(carrier), bytes);
      BOOST_CHECK(std::holds_alternative<Frame>(decoded) && std::get<Frame>(decoded) == frames[i]);
    }
  }
}

BOOST_AUTO_TEST_CASE(AFolderThatIsNotThereIsAnError) {
  PcapWriter writer(PathOf("nowhere/capture.pcap"), Link::kEthernet);
  BOOST_TEST(!writer.Ok());
  const std::vector<Frame> frames = RandomFrames(Carrier::kIpv4);
  writer.Write(kBegin, frames[0].packet, frames[0].addressing);
  writer.Flush();
  BOOST_TEST(writer.Error().find("nowhere/capture.pcap") != std::string::npos, writer.Error());
}

BOOST_AUTO_TEST_CASE(AFullDiskIsAnError) {
  PcapWriter writer("/dev/full", Link::kEthernet);
  const std::vector<Frame> frames = RandomFrames(Carrier::kIpv4);
  writer.Write(kBegin, frames[0].packet, frames[0].addressing);
  writer.Flush();
  BOOST_TEST(writer.Error() == "No space left on device");
}

// The lines that the command prints.
std::vector<std::string> LinesOf(const std::string& command) {
  std::vector<std::string> lines;
  std::FILE* const pipe = popen((command + " 2>/dev/null").c_str(), "r");
  char line[1024];
  while (pipe != nullptr && std::fgets(line, sizeof line, pipe) != nullptr) lines.push_back(line);
  BOOST_TEST((pipe != nullptr && pclose(pipe) == 0), command);
  return lines;
}

boost::test_tools::assertion_result HasTshark(boost::unit_test::test_unit_id) {
  boost::test_tools::assertion_result result(std::system("command -v tshark >/dev/null 2>&1") == 0);
  result.message() << "tshark is not installed";
  return result;
}

// What tshark is to say of frame i: its time, its opcode, and that it is not malformed.
std::string ExpectedLine(const std::vector<Frame>& frames, size_t i) {
  const int64_t ns = (kBegin + kStep * static_cast<int64_t>(i)).ps / 1000;
  char line[64];
  std::snprintf(line, sizeof line, "%ld.%09ld\t%d\t\n", ns / 1'000'000'000, ns % 1'000'000'000,
                static_cast<int>(frames[i].packet.opcode));
  return line;
}

BOOST_AUTO_TEST_CASE(TsharkDissectsEveryFrame, *boost::unit_test::precondition(HasTshark)) {
  for (const Carrier carrier : kCarriers) {
    // The same ones in each run, without one protocol: it guesses what random bytes may mean.
    const std::vector<Frame> frames = RandomFrames(carrier, 1);
    const std::vector<std::string> lines = LinesOf(
        "HOME=/nowhere tshark --disable-protocol rpcordma -n -r " + WriteCapture(carrier, frames) +
        " -T fields -e frame.time_epoch -e infiniband.bth.opcode -e _ws.malformed");
    BOOST_REQUIRE_EQUAL(lines.size(), frames.size());
    for (size_t i = 0; i < lines.size(); ++i) BOOST_TEST(lines[i] == ExpectedLine(frames, i));
  }
}

}  // namespace
}  // namespace ringpost
