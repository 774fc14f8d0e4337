// first_rank.h: rank 0: it lets the others in, gathers their parts and hands them all out.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "transport/bootstrap/rank.h"
#include "transport/bootstrap/rendezvous.h"

namespace ringpost::bootstrap {

class FirstRank final : public Rank {
 public:
  static Result<std::unique_ptr<Bootstrap>> Join(const BootstrapSpec& spec,
                                                 const Rendezvous& rendezvous);
  ~FirstRank() override;

 private:
  using Tcp = boost::asio::ip::tcp;
  // Connections beyond one for each rank that have not said who they are: when there are more, the
  // oldest goes.
  static constexpr size_t kSpareStrangers = 64;
  static constexpr size_t kMaxNotes = 3;  // of the latest, in a message

  struct Peer {
    std::shared_ptr<Connection> connection;  // null: it has not joined
    bool has_left = false;
    std::deque<Message> inbox;
  };

  explicit FirstRank(const BootstrapSpec& spec) : Rank(spec), peers_(spec.ranks) {}

  std::string Listen(const Rendezvous& rendezvous);
  void Gather(const Rendezvous& rendezvous);
  void Accept();
  void Admit(const std::shared_ptr<Connection>& stranger, Message hello);
  std::string WhyNot(const Message& hello) const;
  void Reject(const std::shared_ptr<Connection>& stranger, const Message& hello,
              const std::string& why);
  void Note(const std::string& note);
  void Forget(const std::shared_ptr<Connection>& stranger);
  void Hear(uint32_t rank, Message message);
  void OnEnd(uint32_t rank, const std::string& why);
  void CheckParts();
  // "rank 2, rank 3": those for which `is_missing(peer)` holds.
  template <class IsMissing>
  std::string Missing(IsMissing&& is_missing) const;

  std::optional<Parts> RunStep(const std::string& blob) override;
  void Tell(const Message& message) override;
  bool HasUnsent() const override;

  std::vector<Peer> peers_;  // by rank; the first one is not used
  Tcp::acceptor acceptor_{context_};
  std::deque<std::shared_ptr<Connection>> strangers_;
  std::vector<std::shared_ptr<Connection>> rejected_;  // until they have been told
  std::deque<std::string> notes_;
};

}  // namespace ringpost::bootstrap
