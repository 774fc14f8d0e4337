// call_log.h: a line for each call that a program makes of a virtual device, in the file that
// RINGPOST_UVERBS_LOG names: what was asked, and what was answered. Off without it.
#pragma once

#include <cstdint>
#include <string>

#include "sim/uverbs/call.h"

namespace ringpost::sim::uverbs::call_log {

bool On();
// Why no line can be written, in one line; empty where one can be.
std::string WhyNot();
void Open(const char* path, int file);
void Close(int file);
void Map(int file, uint64_t offset, const void* address);
void Redirect(const char* call, const char* from, const char* to);
// `name`: of the table; null: there is no such command. `error`: 0 or an errno.
void WriteCommand(const Command& command, const char* name, int error);
void Method(const Attributes& attributes, const char* name, int error);

}  // namespace ringpost::sim::uverbs::call_log
