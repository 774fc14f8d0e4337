// step.h: what the NIC's function announces to whoever gives it time: facts, not events.
#pragma once

#include <cstdint>

namespace ringpost::sim {

enum class Stage : uint8_t {
  kDoorbell,
  kFetch,
  kContext,
  kSerial,
  kPayload,
  kTransmit,
  kLink,
  kPort,
  kReceive,
  kRespond,
  kCqe,
  kEngine,
};

inline constexpr int kStages = 12;

constexpr const char* NameOf(Stage stage) {
  constexpr const char* kNames[kStages] = {"doorbell", "fetch",    "context", "serial",
                                           "payload",  "transmit", "link",    "port",
                                           "receive",  "respond",  "cqe",     "packet engine"};
  return kNames[static_cast<int>(stage)];
}

}  // namespace ringpost::sim
