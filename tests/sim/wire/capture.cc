#include "tests/sim/wire/capture.h"

#include <pcap/pcap.h>

namespace ringpost {

Capture ReadCapture(const std::string& path) {
  Capture capture;
  char why[PCAP_ERRBUF_SIZE] = {};
  pcap_t* const file =
      pcap_open_offline_with_tstamp_precision(path.c_str(), PCAP_TSTAMP_PRECISION_NANO, why);
  if (file == nullptr) {
    capture.error = why;
    return capture;
  }
  capture.link_type = pcap_datalink(file);
  pcap_pkthdr* header = nullptr;
  const u_char* bytes = nullptr;
  int status = 0;
  while ((status = pcap_next_ex(file, &header, &bytes)) == 1) {
    capture.frames.push_back({header->ts.tv_sec * int64_t{1'000'000'000} + header->ts.tv_usec,
                              {bytes, bytes + header->caplen}});
  }
  if (status != PCAP_ERROR_BREAK) capture.error = pcap_geterr(file);
  pcap_close(file);
  return capture;
}

}  // namespace ringpost
