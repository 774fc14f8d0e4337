// doorbell_pages.h: the UAR pages that a live NIC polls.
//
// A page in memory is a mailbox, not a FIFO: two doorbells between two looks are one. So a change
// of any of its registers says only that the page's QPs are to be looked at, each through its
// doorbell record, and its CQs through theirs. Records may trail the doorbell: they are looked at
// once more when the page has been quiet for kSecondLook. A register that was seen is exchanged for
// a value that no doorbell has, so that the same 8 bytes again are a change again.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

namespace ringpost::sim::service {

class DoorbellPages {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr std::chrono::microseconds kSecondLook{20};
  static constexpr uint64_t kNoDoorbell = ~uint64_t{0};  // QPN 0xffffff

  // Page addresses; a page is there from its first object to its last.
  void BindQp(uint64_t page, uint32_t qpn);
  void BindCq(uint64_t page, uint32_t cqn);
  void UnbindQp(uint32_t qpn);
  void UnbindCq(uint32_t cqn);

  // Looks at up to `most` pages, in turn. Calls on_qp(qpn, again) and on_cq(cqn) for what is on a
  // page that changed; `again`: it has not, and this is the second look. Returns how many pages
  // did.
  template <class OnQp, class OnCq>
  uint32_t Scan(uint32_t most, Time now, OnQp&& on_qp, OnCq&& on_cq) {
    uint32_t changed = 0;
    for (uint32_t i = 0; i < most && i < pages_.size(); ++i) {
      if (++next_ >= pages_.size()) next_ = 0;
      Page& page = *pages_[next_];
      const Change change = TakeChange(page);
      if (change.doorbell) {
        for (const uint32_t qpn : page.qps) on_qp(qpn, false);
        page.second_look = now + kSecondLook;
        ++changed;
      } else if (page.second_look <= now) {
        page.second_look = Time::max();
        for (const uint32_t qpn : page.qps) on_qp(qpn, true);
      }
      if (change.arm) {
        for (const uint32_t cqn : page.cqs) on_cq(cqn);
      }
    }
    return changed;
  }

  size_t Count() const { return pages_.size(); }

 private:
  struct Page {
    uint64_t address = 0;
    std::vector<uint32_t> qps;
    std::vector<uint32_t> cqs;
    Time second_look = Time::max();
  };
  struct Change {
    bool doorbell = false;
    bool arm = false;
  };
  static Change TakeChange(const Page& page);
  Page& PageAt(uint64_t address);
  void DropEmpty();

  std::vector<std::unique_ptr<Page>> pages_;
  size_t next_ = 0;
};

}  // namespace ringpost::sim::service
