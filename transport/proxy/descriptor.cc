#include "transport/proxy/descriptor.h"

namespace ringpost::proxy {
namespace {

Request ShortRequest(const Slot& slot, uint32_t rkey, uint32_t lkey) {
  Request request;
  request.target = {slot.low & kShortAddress, rkey};
  if (FormOf(slot.low) == Form::kPutValue) {
    request.operation = Operation::kPutInline;
    request.inline_bytes = static_cast<uint32_t>((slot.low >> 55) & 0xf);
    request.a = slot.high | (slot.low >> 54 & 1) << 63;
    return request;
  }
  request.operation = FormOf(slot.low) == Form::kGet ? Operation::kGet : Operation::kPut;
  const uint64_t bytes = (slot.low >> 48 & 0x7ff) | slot.high >> 48 << 11;
  request.local = {slot.high & kShortAddress, bytes, lkey};
  return request;
}

}  // namespace

Head ReadHead(const Slot& slot, uint32_t rkey, uint32_t lkey) {
  if (FormOf(slot.low) != Form::kOperation) return {ShortRequest(slot, rkey, lkey), 1};
  Head head;
  Request& request = head.request;
  request.operation = static_cast<Operation>(slot.low >> 51 & 0xff);
  request.a = (slot.low >> 50 & 1) << 63;
  request.b = (slot.low >> 49 & 1) << 63;
  request.inline_bytes = static_cast<uint32_t>(slot.low >> 41 & 0xff);
  request.fence = (slot.low >> 40 & 1) != 0;
  request.target = {slot.high, static_cast<uint32_t>(slot.low)};
  head.slots = SlotsOf(request.operation, request.inline_bytes);
  return head;
}

void ReadTail(Request& request, const Slot& slot, uint32_t i, unsigned char* payload) {
  if (request.operation == Operation::kPutInline) {
    for (uint32_t byte = 0; byte < 2 * kInlineBytesPerWord; ++byte) {
      const uint32_t at = (i - 1) * 2 * kInlineBytesPerWord + byte;
      if (at >= request.inline_bytes) return;
      const bool second = byte >= kInlineBytesPerWord;
      const uint32_t shift = 8 * (second ? byte - kInlineBytesPerWord : byte);
      payload[at] = static_cast<unsigned char>((second ? slot.high : slot.low) >> shift);
    }
    return;
  }
  if (i == 1 && HasLocal(request.operation)) {
    request.local = {slot.high, slot.low >> 32, static_cast<uint32_t>(slot.low)};
  } else {
    request.a |= slot.low;
    request.b |= slot.high;
  }
}

}  // namespace ringpost::proxy
