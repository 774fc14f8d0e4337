#include "transport/bootstrap/rank.h"

#include <algorithm>

namespace ringpost::bootstrap {

Result<std::vector<std::string>> Rank::Exchange(const std::string& blob, const std::string& what) {
  if (HasFailed()) return Error{Failure()};
  BeginStep(MessageKind::kExchange, what);
  std::optional<Parts> parts = RunStep(blob);
  if (!parts) return GiveUp();
  return std::move(*parts);
}

Result<bool> Rank::Barrier(const std::string& what) {
  if (HasFailed()) return Error{Failure()};
  BeginStep(MessageKind::kBarrier, what);
  if (!RunStep("")) return GiveUp();
  return true;
}

void Rank::Abort(const std::string& reason) {
  if (HasFailed()) return;
  Fail(NameOf(spec_.rank) + " aborted: " + reason);
  WriteOut();
}

Result<bool> Rank::Check() {
  if (HasFailed()) return Error{Failure()};
  context_.poll();
  if (HasFailed()) return GiveUp();
  return true;
}

void Rank::Fail(const std::string& reason) {
  if (HasFailed()) return;
  failure_ = reason;
  Tell(Say(MessageKind::kAbort, reason));
}

void Rank::FailSilently(const std::string& reason) {
  if (!HasFailed()) failure_ = reason;
}

Error Rank::GiveUp() {
  WriteOut();
  return Error{Failure()};
}

void Rank::WriteOut() {
  const auto time = std::min<std::chrono::milliseconds>(kFarewell, spec_.deadline);
  RunUntil(Clock::now() + time, [&] { return !HasUnsent(); });
}

void Rank::SayGoodbye() {
  Tell(Say(MessageKind::kLeave));
  WriteOut();
}

void Rank::BeginStep(MessageKind kind, const std::string& what) {
  kind_ = kind;
  what_ = what;
  begun_ = Clock::now();
  ++step_;
}

Message Rank::Say(MessageKind kind, std::string body) const {
  return {kind, spec_.rank, step_, std::move(body)};
}

std::string Rank::NameOf(uint32_t rank) const {
  const std::string name = "rank " + std::to_string(rank);
  return nics_[rank].empty() ? name : name + " (" + nics_[rank] + ")";
}

std::string Rank::StepName(MessageKind kind, uint32_t number) const {
  if (kind == MessageKind::kHello) return what_;
  const bool is_exchange = kind == MessageKind::kExchange;
  const std::string name = (is_exchange ? "exchange " : "barrier ") + std::to_string(number);
  return number == step_ && kind == kind_ ? name + ", " + what_ : name;
}

std::string Rank::Waited(std::chrono::milliseconds deadline, const std::string& whom) const {
  return NameOf(spec_.rank) + " waited " + std::to_string(deadline.count()) + " ms for " + whom +
         ": " + StepName(kind_, step_);
}

std::string Rank::Lost(uint32_t rank, const std::string& why) const {
  const auto time = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begun_);
  return NameOf(spec_.rank) + " lost " + NameOf(rank) + " after " + std::to_string(time.count()) +
         " ms, " + why + ": " + StepName(kind_, step_);
}

}  // namespace ringpost::bootstrap
