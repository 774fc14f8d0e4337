// connection.h: messages over one TCP connection, without waiting.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "transport/bootstrap/message.h"

namespace ringpost::bootstrap {

// Its handlers keep it alive; whoever owns the io_context and runs it is told what comes.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  using Tcp = boost::asio::ip::tcp;
  using OnMessage = std::function<void(Message message)>;
  // Once, and then nothing more: the other side is gone, or has sent what no rank sends.
  using OnEnd = std::function<void(const std::string& why)>;

  // A body is read in full before anybody sees it, so that it needs a bound.
  static constexpr uint32_t kMaxHelloBytes = 4096;
  static constexpr uint32_t kMaxBodyBytes = 256 << 20;

  explicit Connection(Tcp::socket socket);

  void Start(OnMessage on_message, OnEnd on_end);
  // Others are told from here on. Also from within a handler.
  void Redirect(OnMessage on_message, OnEnd on_end);
  // Until then a body has kMaxHelloBytes at most.
  void Trust() { max_body_bytes_ = kMaxBodyBytes; }

  void Send(const Message& message);
  bool HasUnsent() const { return is_open_ && !outbox_.empty(); }
  bool IsOpen() const { return is_open_; }
  void Close();

  // The other side's address and port.
  const std::string& Remote() const { return remote_; }

 private:
  void ReadHeader();
  void ReadBody(uint32_t bytes);
  void Write();
  void End(const std::string& why);

  Tcp::socket socket_;
  std::string remote_;
  OnMessage on_message_;
  OnEnd on_end_;
  bool is_open_ = true;
  uint32_t max_body_bytes_ = kMaxHelloBytes;
  Header header_{};
  Message incoming_;
  std::deque<std::string> outbox_;
};

}  // namespace ringpost::bootstrap
