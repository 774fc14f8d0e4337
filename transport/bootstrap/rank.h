// rank.h: what rank 0 and the others have in common: the steps, their names, their one failure.
#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "transport/bootstrap/bootstrap.h"
#include "transport/bootstrap/connection.h"
#include "transport/bootstrap/message.h"

namespace ringpost::bootstrap {

class Rank : public Bootstrap {
 public:
  Result<std::vector<std::string>> Exchange(const std::string& blob, const std::string& what) final;
  Result<bool> Barrier(const std::string& what) final;
  void Abort(const std::string& reason) final;
  Result<bool> Check() final;
  void SetDeadline(std::chrono::milliseconds deadline) final { spec_.deadline = deadline; }

 protected:
  using Clock = std::chrono::steady_clock;
  using Parts = std::vector<std::string>;

  explicit Rank(const BootstrapSpec& spec) : spec_(spec), nics_(spec.ranks) {
    nics_[spec.rank] = spec.nic;
  }

  // One step, begun by BeginStep(): everybody's part, or nothing after a Fail().
  virtual std::optional<Parts> RunStep(const std::string& blob) = 0;
  // Says it to the others, as far as they can be reached.
  virtual void Tell(const Message& message) = 0;
  // Whether Tell() has more to write.
  virtual bool HasUnsent() const = 0;

  // Handles what comes until `done()` holds. False: the time is over before.
  template <class Done>
  bool RunUntil(Clock::time_point end, Done&& done) {
    while (!done()) {
      if (context_.run_one_until(end) == 0 && Clock::now() >= end) return done();
    }
    return true;
  }

  // Keeps the first reason, and tells the others: WriteOut() has to follow, though not in a
  // handler, as the io_context runs there.
  void Fail(const std::string& reason);
  // The same for a reason that they know already.
  void FailSilently(const std::string& reason);
  bool HasFailed() const { return failure_.has_value(); }
  const std::string& Failure() const { return *failure_; }

  void BeginStep(MessageKind kind, const std::string& what);
  Message Say(MessageKind kind, std::string body = "") const;
  // "rank 3 (mlx5_0)"
  std::string NameOf(uint32_t rank) const;
  // "rank 1 (mlx5_1) waited 50 ms for rank 3 (mlx5_0): exchange 2, QP addresses"
  std::string Waited(std::chrono::milliseconds deadline, const std::string& whom) const;
  // "rank 1 (mlx5_1) lost rank 3 (mlx5_0) after 7 ms, connection closed: exchange 2, QP addresses"
  std::string Lost(uint32_t rank, const std::string& why) const;
  std::string StepName(MessageKind kind, uint32_t number) const;
  void WriteOut();
  Error GiveUp();
  void SayGoodbye();

  BootstrapSpec spec_;
  std::vector<std::string> nics_;
  MessageKind kind_ = MessageKind::kHello;
  uint32_t step_ = 0;
  boost::asio::io_context context_{1};

 private:
  // How long what was said last may take to leave this process.
  static constexpr std::chrono::milliseconds kFarewell{1'000};

  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{
      context_.get_executor()};
  std::string what_ = "all ranks to join";
  Clock::time_point begun_ = Clock::now();
  std::optional<std::string> failure_;
};

}  // namespace ringpost::bootstrap
