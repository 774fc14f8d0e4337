// dc_target.h: a DCT and its shared receive queue. They are made by verbs in host memory, as the
// driver alone makes DCTs on every firmware; receives are rare where there is DC.
#pragma once

#include <cstdint>
#include <memory>

#include "backends/mlx5/memory_access.h"
#include "backends/qp_spec.h"

namespace ringpost::mlx5 {

class DcTarget {
 public:
  // Ready to receive. `receive` gets ring, record, CQ and depth; its words are the caller's.
  static Result<std::unique_ptr<DcTarget>> Make(const Device& device, MemoryAccess& memory,
                                                ReceiveView* receive);
  uint32_t Number() const { return number_; }

 private:
  DcTarget() = default;
  std::string Create(const Device& device, uint32_t depth);
  std::string BringUp(const Device& device);
  std::string Describe(const Device& device, MemoryAccess& memory, ReceiveView* receive);

  Cq cq_;
  Srq srq_;
  Qp dct_;
  uint32_t number_ = 0;
};

// A CQ by verbs that has exactly so many entries (a power of two from 2), and never an overrun.
Result<Cq> MakeVerbsCq(const Device& device, uint32_t entries);

// Its place in host memory.
Result<mlx5dv_cq> Look(const Device& device, const Cq& cq);

}  // namespace ringpost::mlx5
