// Ranks by MPI. Errors of MPI end all ranks with its own message, as is its default.
#include <mpi.h>

#include <list>

#include "tools/ringpost/sweep/ranks.h"

namespace ringpost::tools {
namespace {

class MpiRanks final : public Ranks {
 public:
  MpiRanks() {
    MPI_Init(nullptr, nullptr);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &count_);
  }

  ~MpiRanks() override {
    for (Sent& sent : sent_) MPI_Wait(&sent.request, MPI_STATUS_IGNORE);
    MPI_Finalize();
  }

  int Rank() const override { return rank_; }
  int Count() const override { return count_; }

  // Not MPI_Send: two ranks that send to each other would wait for each other.
  void Send(int rank, const std::string& text) override {
    Sent& sent = sent_.emplace_back(Sent{text, {}});
    MPI_Isend(sent.text.data(), static_cast<int>(sent.text.size()), MPI_BYTE, rank, kTag,
              MPI_COMM_WORLD, &sent.request);
  }

  std::optional<Message> Poll() override {
    sent_.remove_if([](Sent& sent) {
      int arrived = 0;
      MPI_Test(&sent.request, &arrived, MPI_STATUS_IGNORE);
      return arrived != 0;
    });
    int there = 0;
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, kTag, MPI_COMM_WORLD, &there, &status);
    if (there == 0) return std::nullopt;
    int bytes = 0;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    Message message{status.MPI_SOURCE, std::string(static_cast<size_t>(bytes), '\0')};
    MPI_Recv(message.text.data(), bytes, MPI_BYTE, message.from, kTag, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    return message;
  }

 private:
  static constexpr int kTag = 0;
  struct Sent {
    std::string text;  // stays in place until it has arrived
    MPI_Request request;
  };

  int rank_ = 0;
  int count_ = 1;
  std::list<Sent> sent_;
};

}  // namespace
}  // namespace ringpost::tools

extern "C" ringpost::tools::Ranks* ringpost_make_ranks() { return new ringpost::tools::MpiRanks; }
