#include "tests/interop/rxe_guest.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <sstream>
#include <stdexcept>
#include <vector>

#include "tests/interop/loopback.h"

namespace ringpost::interop {
namespace {

// An emulator on a busy machine boots slowly, so the guard of this one is longer than usual.
constexpr auto kBootGuard = std::chrono::seconds(100);
constexpr timeval kAnswerGuard{.tv_sec = 40, .tv_usec = 0};  // verbs_peer gives up before
constexpr timeval kLook{.tv_sec = 0, .tv_usec = 200'000};
// So that verbs may use packets of 4096 bytes.
constexpr int kGuestMtu = 4500;

[[noreturn]] void Refuse(const std::string& what) { throw std::runtime_error(what); }

std::string Setting(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr) Refuse(fmt::format("{} is not set: run tests/interop/run.sh", name));
  return value;
}

void SetGuard(int socket, const timeval& guard) {
  setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &guard, sizeof(guard));
}

}  // namespace

RxeGuest::RxeGuest() {
  listener_ = BoundSocket(SOCK_STREAM, &control_port_);
  if (listen(listener_, 1) != 0) Refuse("listen() failed");
  uint16_t guest_port = 0;
  frames_ = BoundSocket(SOCK_DGRAM, &guest_port);
  wire_ = std::make_unique<LossyWire>(guest_port);
  const sockaddr_in to = Loopback(wire_->Port());
  if (connect(frames_, Any(to), sizeof(to)) != 0) Refuse("connect() failed");
  Boot();
  AwaitProgram();
  std::istringstream memory(Ask("memory"));
  memory >> address_ >> rkey_;
}

RxeGuest::~RxeGuest() {
  machine_.reset();
  wire_.reset();
  for (const int socket : {control_, frames_, listener_}) {
    if (socket >= 0) close(socket);
  }
}

std::string RxeGuest::Meet(const std::string& nic) {
  uint16_t lid = 0, port = 0;
  std::istringstream(nic) >> lid >> port;
  wire_->SetNic(port);
  return fmt::format("{} {} 127.0.0.1", kRxeLid, wire_->Port());
}

void RxeGuest::Boot() {
  const std::string logs = Setting("RINGPOST_GUEST_LOGS");
  std::vector<std::string> words = {
      "qemu-system-x86_64", "-accel", "tcg", "-cpu", "max", "-smp", "1", "-m", "384"};
  const auto add = [&](const char* option, const std::string& value) {
    words.insert(words.end(), {option, value});
  };
  words.insert(words.end(), {"-nodefaults", "-no-reboot"});
  add("-display", "none");
  add("-serial", "file:" + logs + "/console.log");
  add("-kernel", Setting("RINGPOST_GUEST_KERNEL"));
  add("-initrd", Setting("RINGPOST_GUEST_INITRD"));
  add("-append",
      fmt::format("console=ttyS0 quiet panic=-1 address=10.0.0.{} mtu={} control=10.0.2.2:{}",
                  kRxeLid, kGuestMtu, control_port_));
  add("-netdev", fmt::format("dgram,id=wire,local.type=fd,local.str={}", frames_));
  // The MAC address that LiveNic expects of this LID.
  add("-device",
      fmt::format("virtio-net-pci,netdev=wire,romfile=,mac=02:00:00:00:00:{:02x}", kRxeLid));
  add("-object", "filter-dump,id=dump,netdev=wire,file=" + logs + "/frames.pcap");
  add("-netdev", "user,id=control");
  add("-device", "virtio-net-pci,netdev=control,romfile=");
  machine_ = std::make_unique<ChildProcess>([&] {
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // it never outlives the test
    fcntl(frames_, F_SETFD, 0);        // QEMU takes it over
    dup2(open((logs + "/qemu.log").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644), STDERR_FILENO);
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    execvp(arguments[0], arguments.data());
    _exit(127);
  });
}

void RxeGuest::AwaitProgram() {
  SetGuard(listener_, kLook);
  const auto guard = std::chrono::steady_clock::now() + kBootGuard;
  while ((control_ = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC)) < 0) {
    if (machine_->HasEnded()) Refuse("the guest ended before its program began");
    if (std::chrono::steady_clock::now() > guard) Refuse("the guest's program did not begin");
  }
  SetGuard(control_, kAnswerGuard);
}

std::string RxeGuest::Ask(const std::string& line) {
  const std::string sent = line + "\n";
  if (send(control_, sent.data(), sent.size(), MSG_NOSIGNAL) != ssize_t(sent.size())) {
    Refuse("the guest is gone at: " + line);
  }
  std::string answer;
  while (answer.empty() || answer.back() != '\n') {
    char text[256];
    const ssize_t bytes = recv(control_, text, sizeof(text), 0);
    if (bytes <= 0) Refuse("the guest does not answer: " + line);
    answer.append(text, static_cast<size_t>(bytes));
  }
  answer.pop_back();
  if (answer.rfind("ok ", 0) != 0) Refuse("rxe: " + answer);
  return answer.substr(3);
}

WorkCompletion RxeGuest::CompletionOf(const std::string& answer) {
  std::istringstream words(answer);
  WorkCompletion completion;
  words >> completion.status >> completion.opcode >> completion.bytes >> completion.immediate;
  return completion;
}

void RxeGuest::Connect(const RxeConnection& to) {
  Ask(fmt::format("connect 10.0.0.{} {} {} {} {} {} {}", kOurLid, to.our_qpn, to.mtu, to.their_psn,
                  to.our_psn, to.timeout, to.rnr_timer));
}

void RxeGuest::Post(const Work& work) {
  Ask(fmt::format("post {} {} {} {} {} {} {} {} {} {}", work.operation, work.offset, work.bytes,
                  work.remote, work.rkey, work.immediate, work.compare_add, work.swap, work.count,
                  work.stride));
}

void RxeGuest::Receive(uint64_t offset, uint64_t bytes) {
  Ask(fmt::format("receive {} {}", offset, bytes));
}

void RxeGuest::Fill(uint64_t offset, uint64_t bytes, uint32_t seed) {
  Ask(fmt::format("fill {} {} {}", offset, bytes, seed));
}

std::string RxeGuest::Check(uint64_t offset, uint64_t bytes, uint32_t seed) {
  return Ask(fmt::format("check {} {} {}", offset, bytes, seed));
}

void RxeGuest::Poke(uint64_t offset, uint64_t value) {
  Ask(fmt::format("poke {} {}", offset, value));
}

}  // namespace ringpost::interop
