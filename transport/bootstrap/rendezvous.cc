#include "transport/bootstrap/rendezvous.h"

#include <charconv>

namespace ringpost::bootstrap {
namespace {

Error Wrong(const std::string& text, const std::string& what) {
  return Error{"rendezvous '" + text + "': " + what +
               "; HOST:PORT is wanted, as in node0:7000 or [fd00::1]:7000"};
}

}  // namespace

std::string Rendezvous::Text() const {
  const bool is_ipv6 = host.find(':') != std::string::npos;
  return (is_ipv6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

Result<Rendezvous> ParseRendezvous(const std::string& text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string::npos) return Wrong(text, "there is no port");
  std::string host = text.substr(0, colon);
  if (host.starts_with('[')) {
    if (!host.ends_with(']')) return Wrong(text, "a bracket is not closed");
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string::npos) {
    return Wrong(text, "an IPv6 address stands in brackets");
  }
  if (host.empty()) return Wrong(text, "there is no host");
  const char* first = text.data() + colon + 1;
  const char* last = text.data() + text.size();
  uint16_t port = 0;
  const auto [end, error] = std::from_chars(first, last, port);
  if (error != std::errc() || end != last) {
    return Wrong(text, "the port is no number from 0 to 65535");
  }
  return Rendezvous{host, port};
}

}  // namespace ringpost::bootstrap
