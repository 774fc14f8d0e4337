// doorbell_page.h: the UAR of a NIC, the register that all its DevX QPs ring.
#pragma once

#include <cstdint>
#include <memory>

#include "backends/mlx5/device.h"
#include "transport/result.h"

namespace ringpost::mlx5 {

class DoorbellPage {
 public:
  // A page that is not cached, else one that combines writes (BlueFlame).
  static Result<std::unique_ptr<DoorbellPage>> Open(const Device& device);

  uint32_t PageId() const { return uar_->page_id; }
  // Where a CPU rings.
  const void* Register() const { return uar_->reg_addr; }
  bool Combines() const { return combines_; }

 private:
  DoorbellPage() = default;
  Uar uar_;
  bool combines_ = false;
};

}  // namespace ringpost::mlx5
