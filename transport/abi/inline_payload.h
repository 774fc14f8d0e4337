// inline_payload.h: payload that travels inside a WQE.
#pragma once

#include <cstring>

#include "transport/abi/wqe.h"

namespace ringpost::abi {

// The inline header takes 4 bytes, so payload is shifted by one word through the segments.
HOST_DEVICE void PackInline(Segment* out, const void* payload, uint32_t bytes) {
  if (bytes == 0) return;
  const unsigned char* from = static_cast<const unsigned char*>(payload);
  out[0].word[0] = Swap32(bytes | kInlineFlag);
  uint32_t word = 1;
  for (; 4 * word <= bytes; ++word) memcpy(&out[word / 4].word[word % 4], from + 4 * (word - 1), 4);
  uint32_t rest = 0;
  for (uint32_t at = 4 * (word - 1); at < bytes; ++at) rest |= uint32_t{from[at]} << (8 * (at % 4));
  for (; word < 4 * InlineSegments(bytes); ++word) {
    out[word / 4].word[word % 4] = rest;
    rest = 0;
  }
}

}  // namespace ringpost::abi
