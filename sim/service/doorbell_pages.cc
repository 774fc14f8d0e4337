#include "sim/service/doorbell_pages.h"

#include <algorithm>
#include <atomic>

namespace ringpost::sim::service {
namespace {

// Two BlueFlame registers of two halves each; any of them takes a doorbell.
constexpr uint64_t kDoorbells[] = {0x800, 0x900, 0xa00, 0xb00};
constexpr uint64_t kArm = 0x20;

bool Take(uint64_t address) {
  std::atomic_ref<uint64_t> word(*reinterpret_cast<uint64_t*>(address));
  if (word.load(std::memory_order_relaxed) == DoorbellPages::kNoDoorbell) return false;
  // Acquire: orders the doorbell before the record read next, where software ordered them so.
  word.exchange(DoorbellPages::kNoDoorbell, std::memory_order_acq_rel);
  return true;
}

}  // namespace

DoorbellPages::Change DoorbellPages::TakeChange(const Page& page) {
  Change change;
  for (const uint64_t offset : kDoorbells) change.doorbell |= Take(page.address + offset);
  change.arm = Take(page.address + kArm);
  return change;
}

DoorbellPages::Page& DoorbellPages::PageAt(uint64_t address) {
  for (const auto& page : pages_) {
    if (page->address == address) return *page;
  }
  pages_.push_back(std::make_unique<Page>());
  pages_.back()->address = address;
  return *pages_.back();
}

void DoorbellPages::BindQp(uint64_t page, uint32_t qpn) { PageAt(page).qps.push_back(qpn); }
void DoorbellPages::BindCq(uint64_t page, uint32_t cqn) { PageAt(page).cqs.push_back(cqn); }

void DoorbellPages::UnbindQp(uint32_t qpn) {
  for (const auto& page : pages_) std::erase(page->qps, qpn);
  DropEmpty();
}

void DoorbellPages::UnbindCq(uint32_t cqn) {
  for (const auto& page : pages_) std::erase(page->cqs, cqn);
  DropEmpty();
}

void DoorbellPages::DropEmpty() {
  std::erase_if(pages_, [](const auto& page) { return page->qps.empty() && page->cqs.empty(); });
}

}  // namespace ringpost::sim::service
