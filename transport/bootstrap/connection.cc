#include "transport/bootstrap/connection.h"

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/socket_base.hpp>
#include <boost/asio/write.hpp>
#include <boost/system/error_code.hpp>
#include <utility>

namespace ringpost::bootstrap {

namespace asio = boost::asio;
using boost::system::error_code;

namespace {

std::string WhyEnded(const error_code& error) {
  const bool is_end = error == asio::error::eof || error == asio::error::connection_reset;
  return is_end ? "connection closed" : error.message();
}

}  // namespace

Connection::Connection(Tcp::socket socket) : socket_(std::move(socket)) {
  error_code error;
  const Tcp::endpoint remote = socket_.remote_endpoint(error);
  remote_ = error ? "a connection that was closed"
                  : remote.address().to_string() + ":" + std::to_string(remote.port());
  socket_.set_option(Tcp::no_delay(true), error);
  // For a machine that is gone without a word, long after the deadlines of a step.
  socket_.set_option(asio::socket_base::keep_alive(true), error);
}

void Connection::Start(OnMessage on_message, OnEnd on_end) {
  on_message_ = std::move(on_message);
  on_end_ = std::move(on_end);
  ReadHeader();
}

void Connection::Redirect(OnMessage on_message, OnEnd on_end) {
  on_message_ = std::move(on_message);
  on_end_ = std::move(on_end);
}

void Connection::ReadHeader() {
  asio::async_read(socket_, asio::buffer(header_),
                   [self = shared_from_this()](const error_code& error, size_t) {
                     if (!self->is_open_) return;
                     if (error) return self->End(WhyEnded(error));
                     const auto decoded = DecodeHeader(self->header_);
                     if (!decoded) return self->End("it is no rank of a run");
                     if (decoded->body_bytes > self->max_body_bytes_) {
                       return self->End("it sends " + std::to_string(decoded->body_bytes) +
                                        " bytes at once, which is too much");
                     }
                     self->incoming_ = decoded->message;
                     self->ReadBody(decoded->body_bytes);
                   });
}

void Connection::ReadBody(uint32_t bytes) {
  incoming_.body.resize(bytes);
  asio::async_read(socket_, asio::buffer(incoming_.body),
                   [self = shared_from_this()](const error_code& error, size_t) {
                     if (!self->is_open_) return;
                     if (error) return self->End(WhyEnded(error));
                     // A copy, as Redirect() may replace it while it runs.
                     const OnMessage on_message = self->on_message_;
                     on_message(std::exchange(self->incoming_, {}));
                     if (self->is_open_) self->ReadHeader();
                   });
}

void Connection::Send(const Message& message) {
  if (!is_open_) return;
  outbox_.push_back(Encode(message));
  if (outbox_.size() == 1) Write();
}

void Connection::Write() {
  asio::async_write(socket_, asio::buffer(outbox_.front()),
                    [self = shared_from_this()](const error_code& error, size_t) {
                      if (!self->is_open_) return;
                      // What the other side said before it closed may still be read: the reading
                      // side tells about the end.
                      self->outbox_.pop_front();
                      if (error) self->outbox_.clear();
                      if (!self->outbox_.empty()) self->Write();
                    });
}

void Connection::End(const std::string& why) {
  Close();
  if (const OnEnd on_end = std::exchange(on_end_, nullptr)) on_end(why);
}

void Connection::Close() {
  if (!is_open_) return;
  is_open_ = false;
  outbox_.clear();
  error_code ignored;
  socket_.shutdown(Tcp::socket::shutdown_both, ignored);
  socket_.close(ignored);
}

}  // namespace ringpost::bootstrap
