#include "transport/bootstrap/other_rank.h"

#include <boost/asio/connect.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/system/error_code.hpp>
#include <utility>

namespace ringpost::bootstrap {

using boost::system::error_code;

namespace {

constexpr std::chrono::milliseconds kBetweenAttempts{50};

}  // namespace

Result<std::unique_ptr<Bootstrap>> OtherRank::Join(const BootstrapSpec& spec,
                                                   const Rendezvous& rendezvous) {
  std::unique_ptr<OtherRank> rank(new OtherRank(spec));
  const auto end = Clock::now() + rank->Patience();
  if (rank->Connect(rendezvous, end)) rank->AwaitWelcome(rendezvous, end);
  if (rank->HasFailed()) return rank->GiveUp();
  return std::unique_ptr<Bootstrap>(std::move(rank));
}

OtherRank::~OtherRank() {
  if (connection_ == nullptr) return;
  if (!HasFailed()) SayGoodbye();
  connection_->Close();
}

// Rank 0 may start later than this one.
bool OtherRank::Connect(const Rendezvous& rendezvous, Clock::time_point end) {
  error_code why;
  Tcp::resolver resolver(context_);
  for (;;) {
    const auto found = resolver.resolve(rendezvous.host, std::to_string(rendezvous.port), why);
    if (!why) {
      Tcp::socket socket(context_);
      std::optional<error_code> result;
      boost::asio::async_connect(
          socket, found, [&](const error_code& error, const Tcp::endpoint&) { result = error; });
      if (!RunUntil(end, [&] { return result.has_value(); })) {
        socket.close(why);
        RunUntil(Clock::time_point::max(), [&] { return result.has_value(); });
      }
      why = *result;
      if (!why) connection_ = std::make_shared<Connection>(std::move(socket));
    }
    if (connection_) return true;
    bool is_over = false;
    boost::asio::steady_timer timer(context_, kBetweenAttempts);
    timer.async_wait([&](const error_code&) { is_over = true; });
    RunUntil(Clock::time_point::max(), [&] { return is_over; });
    if (Clock::now() >= end) break;
  }
  FailSilently(Waited(Patience(), NameOf(0)) + ", at " + rendezvous.Text() + ": " + why.message());
  return false;
}

void OtherRank::AwaitWelcome(const Rendezvous& rendezvous, Clock::time_point end) {
  connection_->Trust();
  connection_->Start([this](Message message) { Hear(std::move(message)); },
                     [this](const std::string& why) { OnEnd(why); });
  Message hello = Say(MessageKind::kHello, spec_.nic);
  hello.number = spec_.ranks;
  connection_->Send(hello);
  if (RunUntil(end, [&] { return HasFailed() || is_welcome_; })) return;
  Fail(Waited(Patience(), NameOf(0)) + ", connected to " + rendezvous.Text());
}

void OtherRank::Hear(Message message) {
  switch (message.kind) {
    case MessageKind::kWelcome: {
      auto nics = UnpackStrings(message.body);
      if (!nics || nics->size() != spec_.ranks) return Fail(Lost(0, "its welcome is malformed"));
      nics_ = std::move(*nics);
      is_welcome_ = true;
      return;
    }
    case MessageKind::kReject:
      return FailSilently(NameOf(spec_.rank) + " was refused by rank 0 at " +
                          connection_->Remote() + ": " + message.body);
    case MessageKind::kExchange:
    case MessageKind::kBarrier:
      answer_ = std::move(message);
      return;
    case MessageKind::kAbort:
      return FailSilently(message.body);
    case MessageKind::kLeave:
      has_first_left_ = true;
      return;
    default:
      Fail(Lost(0, "it sent what does not belong here"));
  }
}

void OtherRank::OnEnd(const std::string& why) {
  if (!has_first_left_) FailSilently(Lost(0, why));
}

std::optional<OtherRank::Parts> OtherRank::RunStep(const std::string& blob) {
  if (blob.size() > Connection::kMaxBodyBytes) {
    Fail(NameOf(spec_.rank) + ": " + StepName(kind_, step_) + ": more than 256 MiB");
    return std::nullopt;
  }
  answer_.reset();
  connection_->Send(Say(kind_, blob));
  const bool answered = RunUntil(Clock::now() + Patience(), [&] {
    if (!answer_ && has_first_left_) FailSilently(Lost(0, "it has left"));
    return HasFailed() || answer_.has_value();
  });
  if (!answered) Fail(Waited(Patience(), NameOf(0)));
  if (!HasFailed() && (answer_->kind != kind_ || answer_->number != step_)) {
    Fail(NameOf(0) + " is in " + StepName(answer_->kind, answer_->number) + " while " +
         NameOf(spec_.rank) + " is in " + StepName(kind_, step_));
  }
  if (HasFailed()) return std::nullopt;
  std::optional<Parts> parts = UnpackStrings(answer_->body);
  if (!parts || parts->size() != spec_.ranks) {
    Fail(Lost(0, "its answer is malformed"));
    return std::nullopt;
  }
  return parts;
}

void OtherRank::Tell(const Message& message) {
  if (connection_) connection_->Send(message);
}

}  // namespace ringpost::bootstrap
