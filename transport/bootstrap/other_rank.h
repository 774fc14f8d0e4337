// other_rank.h: a rank but the first: all it hears and says goes through rank 0.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "transport/bootstrap/rank.h"
#include "transport/bootstrap/rendezvous.h"

namespace ringpost::bootstrap {

class OtherRank final : public Rank {
 public:
  static Result<std::unique_ptr<Bootstrap>> Join(const BootstrapSpec& spec,
                                                 const Rendezvous& rendezvous);
  ~OtherRank() override;

 private:
  using Tcp = boost::asio::ip::tcp;

  explicit OtherRank(const BootstrapSpec& spec) : Rank(spec) {}

  std::chrono::milliseconds Patience() const {
    return spec_.deadline + spec_.deadline / 2 + std::chrono::milliseconds(500);
  }
  bool Connect(const Rendezvous& rendezvous, Clock::time_point end);
  void AwaitWelcome(const Rendezvous& rendezvous, Clock::time_point end);
  void Hear(Message message);
  void OnEnd(const std::string& why);

  std::optional<Parts> RunStep(const std::string& blob) override;
  void Tell(const Message& message) override;
  bool HasUnsent() const override { return connection_ && connection_->HasUnsent(); }

  std::shared_ptr<Connection> connection_;
  bool is_welcome_ = false;
  bool has_first_left_ = false;
  std::optional<Message> answer_;
};

}  // namespace ringpost::bootstrap
