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
  for (uint32_t word = 1; word < 4 * InlineSegments(bytes); ++word) {
    uint32_t value = 0;
    const uint32_t at = 4 * (word - 1);
    if (at + 4 <= bytes) {
      memcpy(&value, from + at, 4);
    } else {
      for (uint32_t i = 0; at + i < bytes; ++i) value |= uint32_t{from[at + i]} << (8 * i);
    }
    out[word / 4].word[word % 4] = value;
  }
}

}  // namespace ringpost::abi
