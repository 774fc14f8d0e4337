#include "transport/bootstrap/first_rank.h"

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <boost/system/error_code.hpp>
#include <utility>

namespace ringpost::bootstrap {

using boost::system::error_code;

Result<std::unique_ptr<Bootstrap>> FirstRank::Join(const BootstrapSpec& spec,
                                                   const Rendezvous& rendezvous) {
  std::unique_ptr<FirstRank> first(new FirstRank(spec));
  if (const std::string error = first->Listen(rendezvous); !error.empty()) return Error{error};
  first->Gather(rendezvous);
  if (first->HasFailed()) return first->GiveUp();
  return std::unique_ptr<Bootstrap>(std::move(first));
}

FirstRank::~FirstRank() {
  if (!HasFailed()) SayGoodbye();
  for (Peer& peer : peers_) {
    if (peer.connection) peer.connection->Close();
  }
}

std::string FirstRank::Listen(const Rendezvous& rendezvous) {
  error_code error;
  Tcp::resolver resolver(context_);
  const auto found = resolver.resolve(rendezvous.host, std::to_string(rendezvous.port), error);
  if (!error) {
    const Tcp::endpoint endpoint = found.begin()->endpoint();
    acceptor_.open(endpoint.protocol(), error);
    if (!error) acceptor_.set_option(Tcp::acceptor::reuse_address(true), error);
    if (!error) acceptor_.bind(endpoint, error);
    if (!error) acceptor_.listen(Tcp::acceptor::max_listen_connections, error);
  }
  if (error) {
    return NameOf(0) + " cannot listen at " + rendezvous.Text() + ": " + error.message();
  }
  Accept();
  if (spec_.listening) spec_.listening(acceptor_.local_endpoint().port());
  return "";
}

void FirstRank::Gather(const Rendezvous& rendezvous) {
  const auto is_missing = [](const Peer& peer) { return peer.connection == nullptr; };
  const bool joined = RunUntil(Clock::now() + spec_.deadline, [&] {
    return HasFailed() || std::none_of(peers_.begin() + 1, peers_.end(), is_missing);
  });
  if (HasFailed()) return;
  if (joined) {
    Tell(Say(MessageKind::kWelcome, PackStrings(nics_)));
    WriteOut();
    return;
  }
  std::string reason = Waited(spec_.deadline, Missing(is_missing)) + " at " + rendezvous.Text();
  for (const std::string& note : notes_) reason += "; " + note;
  Fail(reason);
}

void FirstRank::Accept() {
  acceptor_.async_accept([this](const error_code& error, Tcp::socket socket) {
    if (error == boost::asio::error::operation_aborted) return;
    if (!error) {
      auto stranger = std::make_shared<Connection>(std::move(socket));
      strangers_.push_back(stranger);
      if (strangers_.size() > spec_.ranks + kSpareStrangers) {
        strangers_.front()->Close();
        strangers_.pop_front();
      }
      // The connection calls these only while it lives; a plain pointer keeps it from owning
      // itself.
      Connection* connection = stranger.get();
      stranger->Start(
          [this, connection](Message hello) {
            Admit(connection->shared_from_this(), std::move(hello));
          },
          [this, connection](const std::string& why) {
            Note("ignored " + connection->Remote() + ": " + why);
            Forget(connection->shared_from_this());
          });
    }
    Accept();
  });
}

void FirstRank::Forget(const std::shared_ptr<Connection>& stranger) {
  std::erase(strangers_, stranger);
}

void FirstRank::Note(const std::string& note) {
  notes_.push_back(note);
  if (notes_.size() > kMaxNotes) notes_.pop_front();
  if (spec_.note) spec_.note(note);
}

std::string FirstRank::WhyNot(const Message& hello) const {
  if (hello.version != kVersion) {
    return "it speaks version " + std::to_string(hello.version) + ", rank 0 version " +
           std::to_string(kVersion);
  }
  if (hello.kind != MessageKind::kHello) return "it did not say who it is";
  if (hello.number != spec_.ranks) {
    return "it is of a run of " + std::to_string(hello.number) + " ranks, rank 0 of one of " +
           std::to_string(spec_.ranks);
  }
  if (hello.rank == 0 || hello.rank >= spec_.ranks) return "there is no such rank to join";
  if (const auto& taken = peers_[hello.rank].connection) {
    return NameOf(hello.rank) + " has joined already, from " + taken->Remote();
  }
  return "";
}

void FirstRank::Admit(const std::shared_ptr<Connection>& stranger, Message hello) {
  Forget(stranger);
  if (const std::string why = WhyNot(hello); !why.empty()) return Reject(stranger, hello, why);
  const uint32_t rank = hello.rank;
  nics_[rank] = hello.body;
  peers_[rank].connection = stranger;
  stranger->Trust();
  stranger->Redirect([this, rank](Message message) { Hear(rank, std::move(message)); },
                     [this, rank](const std::string& why) { OnEnd(rank, why); });
}

void FirstRank::Reject(const std::shared_ptr<Connection>& stranger, const Message& hello,
                       const std::string& why) {
  Note("refused rank " + std::to_string(hello.rank) + " from " + stranger->Remote() + ": " + why);
  std::erase_if(rejected_, [](const auto& connection) { return !connection->IsOpen(); });
  rejected_.push_back(stranger);
  stranger->Redirect([](Message) {}, [](const std::string&) {});
  stranger->Send(Say(MessageKind::kReject, why));
}

void FirstRank::Hear(uint32_t rank, Message message) {
  Peer& peer = peers_[rank];
  switch (message.kind) {
    case MessageKind::kExchange:
    case MessageKind::kBarrier:
      peer.inbox.push_back(std::move(message));
      return;
    case MessageKind::kLeave:
      peer.has_left = true;
      return;
    case MessageKind::kAbort:
      Fail(message.body);
      return;
    default:
      Fail(Lost(rank, "it sent what does not belong here"));
  }
}

void FirstRank::OnEnd(uint32_t rank, const std::string& why) {
  if (!peers_[rank].has_left) Fail(Lost(rank, why));
}

template <class IsMissing>
std::string FirstRank::Missing(IsMissing&& is_missing) const {
  std::string names;
  for (uint32_t rank = 1; rank < spec_.ranks; ++rank) {
    if (is_missing(peers_[rank])) names += (names.empty() ? "" : ", ") + NameOf(rank);
  }
  return names;
}

// Fails where a rank has left, or is in another step than this one.
void FirstRank::CheckParts() {
  for (uint32_t rank = 1; rank < spec_.ranks && !HasFailed(); ++rank) {
    const Peer& peer = peers_[rank];
    if (peer.inbox.empty()) {
      if (peer.has_left) Fail(Lost(rank, "it has left"));
      continue;
    }
    const Message& part = peer.inbox.front();
    if (part.kind != kind_ || part.number != step_) {
      Fail(NameOf(rank) + " is in " + StepName(part.kind, part.number) + " while " + NameOf(0) +
           " is in " + StepName(kind_, step_));
    }
  }
}

std::optional<FirstRank::Parts> FirstRank::RunStep(const std::string& blob) {
  const auto is_missing = [](const Peer& peer) { return peer.inbox.empty(); };
  const auto end = Clock::now() + spec_.deadline;
  const bool gathered = RunUntil(end, [&] {
    CheckParts();
    return HasFailed() || std::none_of(peers_.begin() + 1, peers_.end(), is_missing);
  });
  if (!gathered) Fail(Waited(spec_.deadline, Missing(is_missing)));
  if (HasFailed()) return std::nullopt;
  Parts parts{blob};
  for (uint32_t rank = 1; rank < spec_.ranks; ++rank) {
    parts.push_back(std::move(peers_[rank].inbox.front().body));
    peers_[rank].inbox.pop_front();
  }
  std::string all = PackStrings(parts);
  if (all.size() > Connection::kMaxBodyBytes) {
    Fail(StepName(kind_, step_) + ": all ranks together sent more than 256 MiB");
    return std::nullopt;
  }
  Tell(Say(kind_, std::move(all)));
  const bool told = RunUntil(end, [&] { return HasFailed() || !HasUnsent(); });
  const auto is_slow = [](const Peer& peer) { return peer.connection->HasUnsent(); };
  if (!told) Fail(Waited(spec_.deadline, Missing(is_slow) + " to read"));
  if (HasFailed()) return std::nullopt;
  return parts;
}

void FirstRank::Tell(const Message& message) {
  for (const Peer& peer : peers_) {
    if (peer.connection && !peer.has_left) peer.connection->Send(message);
  }
}

bool FirstRank::HasUnsent() const {
  return std::any_of(peers_.begin(), peers_.end(), [](const Peer& peer) {
    return peer.connection && peer.connection->HasUnsent();
  });
}

}  // namespace ringpost::bootstrap
