// rendezvous.h: HOST:PORT, where rank 0 listens and the other ranks connect to.
#pragma once

#include <cstdint>
#include <string>

#include "transport/result.h"

namespace ringpost::bootstrap {

struct Rendezvous {
  std::string host;  // a name or an address
  uint16_t port = 0;

  std::string Text() const;
};

// "node0:7000", "10.0.0.1:7000", "[fd00::1]:7000".
Result<Rendezvous> ParseRendezvous(const std::string& text);

}  // namespace ringpost::bootstrap
