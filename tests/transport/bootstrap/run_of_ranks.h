// run_of_ranks.h: the ranks of a run as threads of one process.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "transport/bootstrap/bootstrap.h"
#include "transport/result.h"

namespace ringpost {

// Long enough to be a hang, and short enough to be waited for.
inline constexpr std::chrono::milliseconds kHangDeadline{30'000};
inline constexpr std::chrono::milliseconds kShortDeadline{50};

// What a rank does once it has joined; its answer is what went wrong.
using RankBody = std::function<std::string(uint32_t rank, bootstrap::Bootstrap& bootstrap)>;

class RunOfRanks {
 public:
  explicit RunOfRanks(uint32_t ranks, std::chrono::milliseconds deadline = kHangDeadline)
      : ranks_(ranks), deadline_(deadline), port_(promise_.get_future().share()) {}
  ~RunOfRanks() { Wait(); }

  bootstrap::BootstrapSpec SpecOf(uint32_t rank) {
    bootstrap::BootstrapSpec spec;
    spec.rank = rank;
    spec.ranks = ranks_;
    spec.nic = "nic" + std::to_string(rank);
    spec.deadline = deadline_;
    spec.rendezvous = "127.0.0.1:" + std::to_string(rank == 0 ? 0 : Port());
    if (rank == 0) {
      spec.listening = [this](uint16_t port) { promise_.set_value(port); };
      spec.note = [this](const std::string& note) {
        const std::lock_guard lock(mutex_);
        notes_.push_back(note);
      };
    }
    return spec;
  }

  // Starts one rank.
  void Start(uint32_t rank, const RankBody& body) {
    errors_.resize(ranks_);
    threads_.emplace_back([this, rank, body] {
      auto bootstrap = bootstrap::Bootstrap::Join(SpecOf(rank));
      errors_[rank] =
          bootstrap.Ok() ? body(rank, *bootstrap.Value()) : "join: " + bootstrap.Message();
    });
  }

  // Starts all of them, and returns what each one says in the end.
  std::vector<std::string> Run(const RankBody& body) {
    errors_.resize(ranks_);
    for (uint32_t rank = 0; rank < ranks_; ++rank) Start(rank, body);
    return Wait();
  }

  std::vector<std::string> Wait() {
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
    return errors_;
  }

  // Once rank 0 listens.
  uint16_t Port() { return port_.get(); }

  std::vector<std::string> Notes() {
    const std::lock_guard lock(mutex_);
    return notes_;
  }

 private:
  uint32_t ranks_;
  std::chrono::milliseconds deadline_;
  std::promise<uint16_t> promise_;
  std::shared_future<uint16_t> port_;
  std::mutex mutex_;
  std::vector<std::string> notes_;
  std::vector<std::string> errors_;
  std::vector<std::thread> threads_;
};

template <class T>
std::string MessageOf(const Result<T>& result) {
  return result.Ok() ? "" : result.Message();
}

}  // namespace ringpost
