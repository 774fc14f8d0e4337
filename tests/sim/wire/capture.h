// capture.h: the frames of a capture file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ringpost {

struct CapturedFrame {
  int64_t time_ns = 0;
  std::vector<uint8_t> bytes;
};

struct Capture {
  int link_type = 0;  // as libpcap names them: DLT_...
  std::vector<CapturedFrame> frames;
  std::string error;  // empty: the file was read to its end
};

Capture ReadCapture(const std::string& path);

}  // namespace ringpost
