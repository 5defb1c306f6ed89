// SPDX-License-Identifier: Apache-2.0
// Which input an endpoint means; those at a Modbus device and in a file.
#include "drivers/bus/contact_input.hpp"

#include <fstream>
#include <iterator>
#include <string>
#include <utility>

#include "core/text/format_text.hpp"
#include "drivers/bus/gpio_contact.hpp"
#include "drivers/bus/modbus_bus.hpp"

namespace loom {
namespace {

class ModbusContact final : public ContactInput {
 public:
  ModbusContact(DiscreteInput place, Endpoint bus) : place_(std::move(place)), bus_(std::move(bus)) {}

  Result<bool> read(Duration limit) override {
    const BusReply reply = bus_.read_discrete(place_.unit, place_.input, limit);
    if (reply.status == BusStatus::ok) {
      return reply.words.front() != 0;
    }
    const std::string where = format_text("{} unit {} input {}", place_.bus, place_.unit, place_.input);
    switch (reply.status) {
      case BusStatus::timeout:
        return fail(ErrorCode::timed_out,
                    format_text("{} did not answer within {} ms", where, limit / std::chrono::milliseconds{1}));
      case BusStatus::exception:
        return fail(ErrorCode::device_error, format_text("{} answered Modbus exception {}", where, int{reply.exception}));
      case BusStatus::nack:
        return fail(ErrorCode::device_error, where + " is busy");
      case BusStatus::malformed:
      case BusStatus::bad_check:
        return fail(ErrorCode::malformed, format_text("{} answered something that is no answer: {}", where, reply.cause));
      default:
        return fail(ErrorCode::unreachable, format_text("{} is gone: {}", where, reply.cause));
    }
  }
  bool wait(Duration) override { return false; }

 private:
  DiscreteInput place_;
  ModbusBus bus_;
};

class FileContact final : public ContactInput {
 public:
  explicit FileContact(std::string path) : path_(std::move(path)) {}

  Result<bool> read(Duration) override {
    std::ifstream file(path_);
    if (!file) {
      return fail(ErrorCode::unreachable, path_ + " cannot be read");
    }
    std::string word;
    std::string more;
    file >> word >> more;
    if (!more.empty() || (word != "0" && word != "1" && word != "open" && word != "closed")) {
      return fail(ErrorCode::malformed,
                  format_text("{} says '{}'; expected closed, open, 1 or 0", path_, word.substr(0, kWordShown)));
    }
    return word == "1" || word == "closed";
  }
  bool wait(Duration) override { return false; }

 private:
  static constexpr std::size_t kWordShown = 32;
  std::string path_;
};

}  // namespace

Result<std::unique_ptr<ContactInput>> make_contact_input(const ContactEndpoint& endpoint) {
  if (const auto* line = std::get_if<GpioLine>(&endpoint.place)) {
    return std::make_unique<GpioContact>(*line, make_gpio_port());
  }
  if (const auto* file = std::get_if<ContactFile>(&endpoint.place)) {
    return std::make_unique<FileContact>(file->path);
  }
  const auto& input = std::get<DiscreteInput>(endpoint.place);
  auto bus = parse_endpoint(input.bus);
  if (!bus) {
    return std::unexpected(std::move(bus).error());
  }
  return std::make_unique<ModbusContact>(input, *std::move(bus));
}

}  // namespace loom
