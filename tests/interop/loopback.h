// loopback.h: sockets on 127.0.0.1, on ports that the system chooses.
#pragma once

#include <arpa/inet.h>
#include <sys/socket.h>

#include <cstdint>
#include <stdexcept>

namespace ringpost::interop {

inline sockaddr_in Loopback(uint16_t port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

inline const sockaddr* Any(const sockaddr_in& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}

// The caller closes it.
inline int BoundSocket(int type, uint16_t* port) {
  const int socket = ::socket(AF_INET, type | SOCK_CLOEXEC, 0);
  sockaddr_in address = Loopback(0);
  socklen_t size = sizeof(address);
  if (socket < 0 || bind(socket, Any(address), size) != 0 ||
      getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    throw std::runtime_error("no socket on 127.0.0.1");
  }
  *port = ntohs(address.sin_port);
  return socket;
}

}  // namespace ringpost::interop
