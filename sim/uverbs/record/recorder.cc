#include "sim/uverbs/record/recorder.h"

#include <fmt/format.h>
#include <rdma/ib_user_verbs.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstring>
#include <span>

#include "sim/uverbs/line_file.h"

namespace ringpost::sim::uverbs::record {
namespace {

constexpr char kDevicePrefix[] = "/dev/infiniband/uverbs";
constexpr size_t kFiles = 1 << 16;
std::array<std::atomic<bool>, kFiles> g_followed{};

// Never destroyed: other libraries' destructors may still call.
const LineFile& File() {
  static const LineFile* const file = new LineFile(kFileVariable);
  return *file;
}

void Line(const std::string& text) { File().Append(fmt::format("{} {}\n", getpid(), text)); }

void Follow(int file, bool followed) {
  if (file >= 0 && static_cast<size_t>(file) < kFiles)
    g_followed[static_cast<size_t>(file)] = followed;
}

std::string Hex(std::span<const uint8_t> bytes) {
  std::string text;
  text.reserve(2 * bytes.size());
  for (const uint8_t byte : bytes) fmt::format_to(std::back_inserter(text), "{:02x}", byte);
  return text;
}

// Asks the system, which answers an error where a load would end the process.
std::optional<std::vector<uint8_t>> Memory(uint64_t address, uint64_t bytes) {
  std::vector<uint8_t> found(bytes);
  const iovec to{found.data(), bytes}, from{reinterpret_cast<void*>(address), bytes};
  const ssize_t got = process_vm_readv(getpid(), &to, 1, &from, 1, 0);
  if (got < 0 || static_cast<uint64_t>(got) != bytes) return std::nullopt;
  return found;
}

// Where a command of write() wants its answer.
std::optional<std::vector<uint8_t>> AnswerOf(std::span<const uint8_t> bytes) {
  ib_uverbs_cmd_hdr header;
  uint64_t address = 0, size = 0;
  if (bytes.size() < sizeof(header) + sizeof(address)) return std::nullopt;
  std::memcpy(&header, bytes.data(), sizeof(header));
  // In both forms it stands behind the header.
  std::memcpy(&address, bytes.data() + sizeof(header), sizeof(address));
  size = header.out_words * 4u;
  if ((header.command & IB_USER_VERBS_CMD_FLAG_EXTENDED) != 0) {
    ib_uverbs_ex_cmd_hdr more;
    if (bytes.size() < sizeof(header) + sizeof(more)) return std::nullopt;
    std::memcpy(&more, bytes.data() + sizeof(header), sizeof(more));
    size = (header.out_words + uint64_t{more.provider_out_words}) * 8;
  }
  return size == 0 ? std::nullopt : Memory(address, size);
}

}  // namespace

void Opened(const char* path, int file) {
  if (file < 0 || path == nullptr || !File().On()) return;
  if (std::strncmp(path, kDevicePrefix, sizeof(kDevicePrefix) - 1) != 0) return;
  Follow(file, true);
  Line(fmt::format("open {} {}", file, path));
}

void Closed(int file) {
  if (!IsFollowed(file)) return;
  Follow(file, false);
  Line(fmt::format("close {}", file));
}

void Duplicated(int file, int copy) {
  if (copy < 0 || !IsFollowed(file)) return;
  Follow(copy, true);
  Line(fmt::format("dup {} {}", file, copy));
}

bool IsFollowed(int file) {
  return file >= 0 && static_cast<size_t>(file) < kFiles && g_followed[static_cast<size_t>(file)];
}

void Mapped(int file, uint64_t offset, size_t bytes, int error) {
  Line(fmt::format("mmap {} {} {:#x} {:#x}", file, error, offset, bytes));
}

void Written(int file, const void* bytes, size_t size, int error) {
  const std::span<const uint8_t> command(static_cast<const uint8_t*>(bytes), size);
  const auto answer = AnswerOf(command);
  Line(fmt::format("write {} {} {} {}", file, error, Hex(command), answer ? Hex(*answer) : "-"));
}

Ioctl::Ioctl(const ib_uverbs_ioctl_hdr& header) : before_(Look(header)) {}

std::vector<Ioctl::Seen> Ioctl::Look(const ib_uverbs_ioctl_hdr& header) {
  std::vector<Seen> seen;
  for (const ib_uverbs_attr& attribute : std::span(header.attrs, header.num_attrs)) {
    Seen one{attribute.data, std::nullopt};
    if (attribute.len != 0) one.memory = Memory(attribute.data, attribute.len);
    seen.push_back(std::move(one));
  }
  return seen;
}

void Ioctl::Done(int file, const ib_uverbs_ioctl_hdr& header, int error) const {
  std::string text =
      fmt::format("ioctl {} {} {:#x} {:#x}", file, error, header.object_id, header.method_id);
  const std::vector<Seen> after = Look(header);
  for (size_t i = 0; i < after.size() && i < before_.size(); ++i) {
    text += fmt::format(" {:#x}:{}:{:#x}:{:#x}", header.attrs[i].attr_id, header.attrs[i].len,
                        before_[i].data, after[i].data);
    if (!before_[i].memory || !after[i].memory) continue;
    text += ":" + Hex(*before_[i].memory);
    if (*before_[i].memory != *after[i].memory) text += ":" + Hex(*after[i].memory);
  }
  Line(text);
}

}  // namespace ringpost::sim::uverbs::record
