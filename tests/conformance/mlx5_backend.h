// mlx5_backend.h: the conformance suite on two openings of the machine's ConnectX, by either route.
#pragma once

#include <memory>

#include "backends/mlx5/mlx5_nic.h"
#include "tests/conformance/threads_backend.h"

namespace ringpost::conformance {

template <mlx5::Route route>
class Mlx5BackendOf final : public ThreadsBackend {
 public:
  // An error is had by a wrong key.
  static constexpr bool kInjectsErrors = false;
  static constexpr bool Rings(DoorbellMode mode) {
    return mode != DoorbellMode::kRecordFree && mode != DoorbellMode::kBlueFlame;
  }

  explicit Mlx5BackendOf(const Conditions& conditions);
  RealTimeNic& nic(uint32_t node) override { return *nics_[node]; }

 private:
  std::unique_ptr<Mlx5Nic> nics_[2];
};
using Mlx5DevxBackend = Mlx5BackendOf<mlx5::Route::kDevx>;
using Mlx5VerbsBackend = Mlx5BackendOf<mlx5::Route::kVerbs>;

}  // namespace ringpost::conformance
