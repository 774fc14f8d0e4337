#include "sim/wire/pcap_writer.h"

#include <pcap/pcap.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <vector>

#include "sim/engine/check.h"
#include "sim/wire/byte_order.h"

namespace ringpost::sim::wire {
namespace {

constexpr int kSnapshotBytes = 65535;
constexpr int64_t kPsPerNs = 1'000;
constexpr int64_t kNsPerSecond = 1'000'000'000;

// Endace's record header, with the time a second time: seconds as a fixed-point number, 32.32 bits.
constexpr size_t kErfBytes = 16;
constexpr uint8_t kErfInfiniband = 21;
constexpr uint8_t kErfVaryingLength = 4;

std::vector<uint8_t> InErfRecord(int64_t ns, std::span<const uint8_t> frame) {
  const uint64_t seconds = static_cast<uint64_t>(ns / kNsPerSecond);
  const uint64_t rest = static_cast<uint64_t>(ns % kNsPerSecond);
  ByteWriter writer;
  // Rounded up, so that a reader who rounds down has the same nanosecond again.
  writer.PutLowFirst(8, seconds << 32 | ((rest << 32) + kNsPerSecond - 1) / kNsPerSecond);
  writer.Put(1, kErfInfiniband);
  writer.Put(1, kErfVaryingLength);
  writer.Put(2, kErfBytes + frame.size());
  writer.Put(2, 0);  // none was lost before this one
  writer.Put(2, frame.size());
  writer.PutBytes(frame);
  return writer.Release();
}

}  // namespace

void PcapWriter::Close::operator()(pcap* handle) const { pcap_close(handle); }
void PcapWriter::Close::operator()(pcap_dumper* dumper) const { pcap_dump_close(dumper); }

PcapWriter::PcapWriter(const std::string& path, Link link) : link_(link) {
  const int type = link == Link::kEthernet ? DLT_EN10MB : DLT_ERF;
  handle_.reset(
      pcap_open_dead_with_tstamp_precision(type, kSnapshotBytes, PCAP_TSTAMP_PRECISION_NANO));
  if (!handle_) {
    error_ = "out of memory";
    return;
  }
  dumper_.reset(pcap_dump_open(handle_.get(), path.c_str()));
  if (!dumper_) error_ = pcap_geterr(handle_.get());
}

PcapWriter::~PcapWriter() = default;

void PcapWriter::Write(Time time, const Packet& packet, const Addressing& addressing) {
  if (!Ok()) return;
  const bool is_roce = std::holds_alternative<RoceAddressing>(addressing);
  RINGPOST_CHECK(is_roce == (link_ == Link::kEthernet), "a packet of another link");
  const int64_t ns = time.ps / kPsPerNs;
  std::vector<uint8_t> bytes = Encode(packet, addressing);
  if (!is_roce) bytes = InErfRecord(ns, bytes);
  pcap_pkthdr header{};
  header.ts.tv_sec = ns / kNsPerSecond;
  header.ts.tv_usec = ns % kNsPerSecond;  // nanoseconds, by the precision asked for above
  header.caplen = header.len = static_cast<bpf_u_int32>(bytes.size());
  pcap_dump(reinterpret_cast<u_char*>(dumper_.get()), &header, bytes.data());
  // pcap_dump() reports nothing.
  if (std::ferror(pcap_dump_file(dumper_.get())) != 0) error_ = std::strerror(errno);
}

void PcapWriter::Flush() {
  if (Ok() && pcap_dump_flush(dumper_.get()) != 0) error_ = std::strerror(errno);
}

}  // namespace ringpost::sim::wire
