// ranks.h: the processes that mpirun has started, and messages between them.
//
// The program knows MPI by this interface alone: libringpost_mpi.so, which implements it, is
// loaded where mpirun has started the program (join_ranks.h). One thread uses a Ranks.
#pragma once

#include <optional>
#include <string>

namespace ringpost::tools {

class Ranks {
 public:
  struct Message {
    int from;
    std::string text;
  };

  // Waits until the other ranks have come so far too, and all that was sent has arrived.
  virtual ~Ranks() = default;

  virtual int Rank() const = 0;
  virtual int Count() const = 0;
  // Returns at once. Messages between two ranks keep their order.
  virtual void Send(int rank, const std::string& text) = 0;
  // The next message that is there.
  virtual std::optional<Message> Poll() = 0;
};

// What the library exports: joins the other ranks, once in a process; the caller owns it.
constexpr char kMakeRanks[] = "ringpost_make_ranks";
using MakeRanks = Ranks* (*)();

}  // namespace ringpost::tools
