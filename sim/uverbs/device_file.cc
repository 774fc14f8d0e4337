#include "sim/uverbs/device_file.h"

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_verbs.h>
#include <sys/mman.h>

#include <array>
#include <cerrno>
#include <set>
#include <string>

#include "sim/uverbs/call_log.h"
#include "sim/uverbs/commands/tables.h"
#include "sim/uverbs/fail_once.h"
#include "sim/uverbs/gpu/cuda_driver.h"
#include "sim/uverbs/prm/commands.h"

namespace ringpost::sim::uverbs {
namespace {

std::array<CommandRows, 7> AllCommands() {
  return {DeviceCommands(), PdCommands(), MrCommands(), CqCommands(),
          SrqCommands(),    QpCommands(), AhCommands()};
}

std::array<MethodRows, 9> AllMethods() {
  return {DeviceMethods(), PdMethods(), MrMethods(),  CqMethods(),  SrqMethods(),
          QpMethods(),     AhMethods(), UarMethods(), DevxMethods()};
}

// As the call log has them.
std::set<std::string> CommandNames() {
  std::set<std::string> names;
  for (const CommandRows rows : AllCommands()) {
    for (const CommandRow& row : rows) names.insert(row.name);
  }
  for (const MethodRows rows : AllMethods()) {
    for (const MethodRow& row : rows) names.insert(row.name);
  }
  for (const prm::CommandFacts& command : prm::Commands()) names.insert(command.name);
  return names;
}

const CommandRow* FindCommand(uint32_t number, bool extended) {
  for (const CommandRows rows : AllCommands()) {
    for (const CommandRow& row : rows) {
      if (row.number == number && row.extended == extended) return &row;
    }
  }
  return nullptr;
}

const MethodRow* FindMethod(uint16_t object, uint16_t method) {
  for (const MethodRows rows : AllMethods()) {
    for (const MethodRow& row : rows) {
      if (row.object == object && row.method == method) return &row;
    }
  }
  return nullptr;
}

// Splits what write() was given. Counts are of 4 bytes, of the extended form of 8.
bool Split(const uint8_t* bytes, size_t size, Command& command) {
  if (size < sizeof(ib_uverbs_cmd_hdr)) return false;
  const auto header = Read<ib_uverbs_cmd_hdr>({bytes, size});
  command.number = header.command & IB_USER_VERBS_CMD_COMMAND_MASK;
  command.extended = (header.command & IB_USER_VERBS_CMD_FLAG_EXTENDED) != 0;
  const CommandRow* row = FindCommand(command.number, command.extended);
  bytes += sizeof(header);
  if (command.extended) {
    if (size < sizeof(header) + sizeof(ib_uverbs_ex_cmd_hdr)) return false;
    const auto more = Read<ib_uverbs_ex_cmd_hdr>({bytes, size - sizeof(header)});
    bytes += sizeof(more);
    const size_t in = header.in_words * 8u, driver = more.provider_in_words * 8u;
    if (sizeof(header) + sizeof(more) + in + driver != size) return false;
    auto* out = reinterpret_cast<uint8_t*>(more.response);
    const size_t out_bytes = out == nullptr ? 0 : header.out_words * 8u;
    command.in = {bytes, in};
    command.driver_in = {bytes + in, driver};
    command.out = {out, out_bytes};
    command.driver_out = {out + out_bytes, out == nullptr ? 0 : more.provider_out_words * 8u};
    return true;
  }
  if (header.in_words * 4u != size || row == nullptr) return row == nullptr;
  const size_t in = size - sizeof(header), out_bytes = header.out_words * 4u;
  if (in < row->in || out_bytes < row->out) return false;
  command.in = {bytes, row->in};
  command.driver_in = {bytes + row->in, in - row->in};
  // Commands with an answer start with where it goes.
  if (out_bytes == 0) return true;
  auto* out = reinterpret_cast<uint8_t*>(Read<uint64_t>(command.in));
  if (out == nullptr) return false;
  command.out = {out, row->out};
  command.driver_out = {out + row->out, out_bytes - row->out};
  return true;
}

}  // namespace

// The context is made by GET_CONTEXT, and by nothing else; only once.
Context* DeviceFile::Current(bool make, int* error) {
  const std::lock_guard<std::mutex> lock(mutex_);
  *error = EINVAL;
  if (make == (context_ != nullptr)) return nullptr;
  if (!make) return context_.get();
  std::shared_ptr<NicHost> nic = attach_();
  *error = ENODEV;
  if (nic == nullptr) return nullptr;
  context_ = std::make_unique<Context>(std::move(nic));
  return context_.get();
}

int DeviceFile::Run(const Command& command) {
  const CommandRow* row = FindCommand(command.number, command.extended);
  int error = EOPNOTSUPP;
  if (row != nullptr) {
    const bool make = command.number == IB_USER_VERBS_CMD_GET_CONTEXT && !command.extended;
    Context* context = nullptr;
    const int planned = FailOnce::OfProcess(CommandNames).Next(row->name);
    if (planned != 0) {
      error = planned;
    } else if ((context = Current(make, &error)) != nullptr) {
      gpu::LookForDriver();
      const std::lock_guard<std::mutex> lock(context->Mutex());
      error = row->handler(*context, command);
    }
  }
  call_log::WriteCommand(command, row == nullptr ? nullptr : row->name, error);
  return error;
}

int DeviceFile::Write(const void* bytes, size_t size) {
  Command command;
  if (!Split(static_cast<const uint8_t*>(bytes), size, command)) {
    call_log::WriteCommand(command, "malformed", EINVAL);
    return EINVAL;
  }
  return Run(command);
}

int DeviceFile::InvokeWrite(const Attributes& attributes) {
  Command command;
  const auto number = attributes.Value<uint64_t>(UVERBS_ATTR_WRITE_CMD);
  command.number = static_cast<uint32_t>(number) & IB_USER_VERBS_CMD_COMMAND_MASK;
  command.extended = (number & IB_USER_VERBS_CMD_FLAG_EXTENDED) != 0;
  command.in = attributes.In(UVERBS_ATTR_CORE_IN);
  command.out = attributes.Out(UVERBS_ATTR_CORE_OUT);
  command.driver_in = attributes.In(UVERBS_ATTR_UHW_IN);
  command.driver_out = attributes.Out(UVERBS_ATTR_UHW_OUT);
  const CommandRow* row = FindCommand(command.number, command.extended);
  // rdma-core tells by this answer that commands may be carried.
  if (row != nullptr && !row->extended && command.in.size() < row->in) return ENOSPC;
  return Run(command);
}

int DeviceFile::Ioctl(ib_uverbs_ioctl_hdr* header) {
  const Attributes attributes(*header);
  const bool core = (header->object_id & UVERBS_ID_NS_MASK) == 0;
  if (header->object_id == UVERBS_OBJECT_DEVICE &&
      header->method_id == UVERBS_METHOD_INVOKE_WRITE) {
    return methods_ ? InvokeWrite(attributes) : ENOTTY;
  }
  const MethodRow* row = FindMethod(header->object_id, header->method_id);
  int error = EPROTONOSUPPORT;
  if (core && !methods_) {
    error = ENOTTY;
  } else if (row != nullptr) {
    const bool make =
        row->object == UVERBS_OBJECT_DEVICE && row->method == UVERBS_METHOD_GET_CONTEXT;
    const char* carried = CarriedCommand(attributes);
    Context* context = nullptr;
    const int planned =
        FailOnce::OfProcess(CommandNames).Next(carried == nullptr ? row->name : carried);
    if (planned != 0) {
      error = planned;
    } else if ((context = Current(make, &error)) != nullptr) {
      gpu::LookForDriver();
      const std::lock_guard<std::mutex> lock(context->Mutex());
      error = row->handler(*context, attributes);
    }
  }
  call_log::Method(attributes, row == nullptr ? nullptr : row->name, error);
  return error;
}

void* DeviceFile::Map(void* address, size_t size, int protection, int flags, off_t offset) {
  int error = 0;
  Context* context = Current(false, &error);
  if (context == nullptr) {
    errno = error;
    return MAP_FAILED;
  }
  return context->Nic().Uars().Map(address, size, protection, flags, offset);
}

void DeviceFile::Closed(int file) {
  int error = 0;
  Context* context = Current(false, &error);
  if (context == nullptr) return;
  const std::lock_guard<std::mutex> lock(context->Mutex());
  context->Closed(file);
}

}  // namespace ringpost::sim::uverbs
