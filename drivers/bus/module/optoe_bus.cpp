// SPDX-License-Identifier: Apache-2.0
// One system call a transaction.
#include "drivers/bus/module/optoe_bus.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "core/text/format_text.hpp"
#include "drivers/bus/module/module_errno.hpp"
#include "drivers/bus/stream.hpp"

namespace loom {

void OptoeBus::close() {
  if (descriptor_ >= 0) {
    ::close(descriptor_);
  }
  descriptor_ = -1;
}

BusReply OptoeBus::open() {
  descriptor_ = ::open(path_.c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor_ < 0) {
    return failed_open(path_, errno);
  }
  ++connection_;
  return {};
}

BusReply OptoeBus::execute(const Transaction& transaction) {
  const auto* order = std::get_if<BytesAt>(&transaction.order);
  if (order == nullptr) {
    return unlawful(1, format_text("{} takes bytes at an offset only", path_));
  }
  if (transaction.connection != 0 && (descriptor_ < 0 || connection_ != transaction.connection)) {
    return connection_is_gone(path_);
  }
  if (descriptor_ < 0) {
    if (BusReply opened = open(); opened.status != BusStatus::ok) {
      return opened;
    }
  }
  BusReply reply = transfer(*order);
  reply.connection = connection_;
  if (reply.status == BusStatus::lost) {
    close();
  }
  return reply;
}

BusReply OptoeBus::transfer(const BytesAt& order) {
  const bool is_read = order.count > 0;
  const std::size_t wanted = is_read ? order.count : order.values.size();
  BusReply reply;
  reply.bytes.resize(is_read ? wanted : 0);
  const auto at = static_cast<off_t>(order.offset);
  const ssize_t done =
      is_read ? ::pread(descriptor_, reply.bytes.data(), wanted, at) : ::pwrite(descriptor_, order.values.data(), wanted, at);
  if (done < 0) {
    return failed_transfer(path_, errno);
  }
  if (static_cast<std::size_t>(done) != wanted) {
    return {BusStatus::malformed, 0, {}, {}, format_text("{}: {} of {} bytes at offset {}", path_, done, wanted, order.offset)};
  }
  return reply;
}

}  // namespace loom
