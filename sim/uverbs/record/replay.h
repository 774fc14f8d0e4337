// replay.h: gives the firmware of the virtual ConnectX the commands of DevX that a record has
// (recorder.h), and says where its answers are others than those recorded.
//
// Numbers of objects differ from device to device: each is exchanged for that of the object which
// stands for it here, in commands and in answers. Memory, pages and domains are made at their first
// use, as large as any queue needs; nothing rings, and no packet is sent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "sim/uverbs/prm/firmware.h"
#include "transport/result.h"

namespace ringpost::sim::uverbs::record {

// One call of a method of DevX that carries a mailbox, or that ends an object.
struct DevxCall {
  size_t line = 0;   // of the record, from 1
  std::string file;  // "process descriptor": handles are an open file's
  uint16_t object = 0, method = 0;
  int error = 0;        // errno, or 0
  uint64_t handle = 0;  // of the object that it is about, or that it made
  std::vector<uint8_t> in, out;
};
// Or "line N: ..." of what is no record.
Result<std::vector<DevxCall>> ReadRecord(std::istream& text);

struct Difference {
  size_t line = 0;
  std::string text;  // "QUERY_HCA_CAP: 0x24: recorded 0x00100000, here 0x00000000"
};
struct Replayed {
  size_t calls = 0;
  std::vector<Difference> differences;
};
// On the NIC's thread, as all of the firmware's.
Replayed Replay(const std::vector<DevxCall>& calls, prm::Firmware& firmware);

}  // namespace ringpost::sim::uverbs::record
