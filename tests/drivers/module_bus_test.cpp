// SPDX-License-Identifier: Apache-2.0
// Both ways to a module's bytes: a file in optoe's layout, and an I2C adapter that is a module made of code.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <map>

#include "core/module/module_pages.hpp"
#include "drivers/bus/bus_device.hpp"
#include "drivers/bus/module/i2c_bus.hpp"
#include "drivers/bus/module/optoe_bus.hpp"

namespace loom {
namespace {

constexpr PageLayout kOne = PageLayout::one_address;
constexpr PageLayout kTwo = PageLayout::two_addresses;

Transaction reading(std::uint32_t offset, std::uint16_t count, PageLayout layout = kOne) {
  return {DeviceId{0}, kModuleAddress, BytesAt{offset, count, {}, layout}, std::chrono::milliseconds{100}};
}
Transaction writing(std::uint32_t offset, std::vector<std::uint8_t> values, PageLayout layout = kOne) {
  return {DeviceId{0}, kModuleAddress, BytesAt{offset, 0, std::move(values), layout}, std::chrono::milliseconds{100}};
}

/// A folder with a file of the layout of CMIS pages 00h to 12h.
struct EepromFile {
  std::filesystem::path folder;
  std::string path;

  EepromFile() {
    std::string name = (std::filesystem::temp_directory_path() / "loom-eeprom-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    folder = name;
    path = (folder / "eeprom").string();
    std::ofstream(path, std::ios::binary) << std::string(20 * kPageBytes, '\0');
  }
  ~EepromFile() { std::filesystem::remove_all(folder); }
};

/// An adapter with one module on it, of pages that it was given.
class FakeModule final : public I2cPort {
 public:
  std::map<std::pair<std::uint16_t, std::uint8_t>, std::vector<std::uint8_t>> pages;  ///< upper halves, by address and page
  std::map<std::uint16_t, std::vector<std::uint8_t>> lower;
  int trouble = 0;       ///< of every transfer
  int open_trouble = 0;  ///< of opening
  int selections = 0;
  int transfers = 0;
  std::vector<std::vector<std::uint8_t>> written;

  int open(const std::string&) override { return open_trouble; }
  void close() override {}
  int transfer(std::span<I2cMessage> messages, Duration) override {
    ++transfers;
    if (trouble != 0) {
      return trouble;
    }
    std::uint8_t first = 0;
    for (I2cMessage& message : messages) {
      if (!lower.contains(message.address)) {
        return ENXIO;
      }
      if (message.is_read) {
        for (std::uint8_t& byte : message.bytes) {
          byte = at(message.address, first++);
        }
        continue;
      }
      first = message.bytes.front();
      for (std::size_t i = 1; i < message.bytes.size(); ++i) {
        at(message.address, static_cast<std::uint8_t>(first + i - 1)) = message.bytes[i];
      }
      if (message.bytes.size() > 1) {
        written.push_back(message.bytes);
        settle_page(message.address, first, message.bytes.size() - 1);
      }
    }
    return 0;
  }

 private:
  std::uint8_t& at(std::uint16_t address, std::uint8_t byte) {
    return byte < kPageBytes ? lower[address][byte] : pages[{address, lower[address][kPageSelect]}][byte - kPageBytes];
  }
  /// A page that is not there reads back as 00h.
  void settle_page(std::uint16_t address, std::uint8_t first, std::size_t count) {
    if (first <= kPageSelect && first + count > kPageSelect) {
      ++selections;
      std::uint8_t& page = lower[address][kPageSelect];
      page = pages.contains({address, page}) ? page : 0;
    }
  }
};

struct I2cRig {
  FakeModule* module = nullptr;
  std::unique_ptr<I2cBus> bus;

  I2cRig() {
    auto port = std::make_unique<FakeModule>();
    module = port.get();
    bus = std::make_unique<I2cBus>("/dev/i2c-11", std::move(port));
    for (const std::uint16_t address : {std::uint16_t{0x50}, std::uint16_t{0x51}}) {
      module->lower[address] = std::vector<std::uint8_t>(kPageBytes);
      for (const std::uint8_t page : {std::uint8_t{0}, std::uint8_t{2}, std::uint8_t{0x12}}) {
        module->pages[{address, page}] = std::vector<std::uint8_t>(kPageBytes, page);
      }
    }
  }
};

}  // namespace

TEST_CASE("linear_offsets_are_those_of_optoe") {
  CHECK(offset_of(kOne, {false, 0, 26}) == 26);
  CHECK(offset_of(kOne, {false, 0, 148}) == 148);
  CHECK(offset_of(kOne, {false, 0x12, 136}) == 2440);
  CHECK(offset_of(kTwo, {false, 0, 65}) == 65);
  CHECK(offset_of(kTwo, {true, 0, 110}) == 366);
  CHECK(offset_of(kTwo, {true, 2, 144}) == 656);
  CHECK_FALSE(place_of(kOne, 257 * kPageBytes).has_value());
  for (const PageLayout layout : {kOne, kTwo}) {
    for (std::uint32_t offset = 0; offset < 40'000; ++offset) {
      if (const auto place = place_of(layout, offset)) {
        REQUIRE(offset_of(layout, *place) == offset);
      }
    }
  }
}

TEST_CASE("an_eeprom_file_is_read_and_written_at_linear_offsets") {
  const EepromFile file;
  const auto bus = make_bus("optoe://" + file.path).value();
  CHECK(bus->execute(writing(2440, {0x00, 0x1E})).status == BusStatus::ok);
  const BusReply read = bus->execute(reading(2439, 4));
  CHECK(read.bytes == std::vector<std::uint8_t>{0, 0, 0x1E, 0});
  CHECK(read.connection == 1);
}

TEST_CASE("an_eeprom_file_that_ends_early_is_a_damaged_answer") {
  const EepromFile file;
  const auto bus = make_bus("optoe://" + file.path).value();
  const BusReply cut = bus->execute(reading(20 * kPageBytes - 2, 4));
  CHECK(cut.status == BusStatus::malformed);
  CHECK_THAT(cut.cause, Catch::Contains("2 of 4 bytes at offset 2558"));
}

TEST_CASE("an_eeprom_file_that_cannot_be_opened_keeps_path_and_errno") {
  const EepromFile file;
  const auto absent = make_bus("optoe://" + file.path + "-not").value();
  const BusReply reply = absent->execute(reading(0, 1));
  CHECK(reply.status == BusStatus::lost);
  CHECK_THAT(reply.cause, Catch::Contains(file.path + "-not: No such file or directory (errno 2)"));
  std::filesystem::rename(file.path, file.path + "-not");
  CHECK(absent->execute(reading(0, 1)).status == BusStatus::ok);  // whoever plugs it in later is found
}

TEST_CASE("what_adapters_give_for_a_module_that_does_not_acknowledge_is_a_nack") {
  I2cRig rig;
  for (const int number : {ENXIO, EREMOTEIO, EIO, ETIMEDOUT, EAGAIN}) {
    rig.module->trouble = number;
    const BusReply reply = rig.bus->execute(reading(0, 1));
    CHECK(reply.status == BusStatus::nack);
    CHECK_THAT(reply.cause,
               Catch::Contains("/dev/i2c-11 address 50h: ") && Catch::Contains("(errno " + std::to_string(number) + ")"));
  }
  rig.module->trouble = EINVAL;
  CHECK(rig.bus->execute(reading(0, 1)).status == BusStatus::lost);
  rig.module->trouble = 0;
  rig.module->open_trouble = EACCES;
  CHECK_THAT(rig.bus->execute(reading(0, 1)).cause, Catch::Contains("/dev/i2c-11: Permission denied (errno 13)"));
  rig.module->open_trouble = 0;
  const BusReply back = rig.bus->execute(reading(0, 1));
  CHECK(back.status == BusStatus::ok);
  CHECK(back.connection == 2);
}

TEST_CASE("the_i2c_bus_selects_a_page_and_reads_it_back") {
  I2cRig rig;
  CHECK(rig.bus->execute(writing(2440, {0x00, 0x1E})).status == BusStatus::ok);
  CHECK(rig.module->written == std::vector<std::vector<std::uint8_t>>{{127, 0x12}, {136, 0x00, 0x1E}});
  CHECK(rig.bus->execute(reading(2440, 2)).bytes == std::vector<std::uint8_t>{0x00, 0x1E});
  CHECK(rig.module->selections == 1);        // it was there still
  rig.module->lower[0x50][kPageSelect] = 0;  // somebody else was on the bus
  CHECK(rig.bus->execute(reading(2440, 2)).bytes == std::vector<std::uint8_t>{0x00, 0x1E});
  CHECK(rig.module->selections == 2);
  rig.module->lower[0x50][kBankSelect] = 1;
  CHECK(rig.bus->execute(reading(2440, 2)).status == BusStatus::ok);
  CHECK(rig.module->written.back() == std::vector<std::uint8_t>{126, 0, 0x12});
}

TEST_CASE("a_page_that_the_module_does_not_have_is_refused_by_name") {
  I2cRig rig;
  const BusReply reply = rig.bus->execute(reading(offset_of(kOne, {false, 4, 128}), 8));
  CHECK(reply.status == BusStatus::exception);
  CHECK_THAT(reply.cause, Catch::Contains("page 04h was selected and page 00h reads back"));
}

TEST_CASE("an_sfp_has_its_pages_at_the_second_address") {
  I2cRig rig;
  rig.module->lower[0x50][65] = 0x40;
  CHECK(rig.bus->execute(reading(65, 1, kTwo)).bytes == std::vector<std::uint8_t>{0x40});
  CHECK(rig.bus->execute(reading(128, 64, kTwo)).status == BusStatus::ok);  // A0h has no pages
  CHECK(rig.module->selections == 0);
  CHECK(rig.bus->execute(writing(656, {0, 9}, kTwo)).status == BusStatus::ok);
  CHECK(rig.module->pages[{0x51, 2}][16 + 1] == 9);
  CHECK(rig.module->lower[0x51][kPageSelect] == 2);
  CHECK(rig.module->lower[0x50][kPageSelect] == 0);
}

/// check_lines refuses these before an agent starts (config_test); the bus refuses them whoever asks.
TEST_CASE("addresses_that_are_reserved_reach_no_wire_and_those_beside_them_do") {
  I2cRig rig;
  const auto at = [&](std::uint16_t address, PageLayout layout = kOne) {
    Transaction transaction = reading(0, 1, layout);
    transaction.bus_address = address;
    return rig.bus->execute(transaction);
  };
  for (const int address : {0x00, 0x01, 0x02, 0x78, 0x7F, 0x80}) {
    INFO(address);
    CHECK(at(static_cast<std::uint16_t>(address)).status == BusStatus::exception);
  }
  CHECK(rig.module->transfers == 0);
  CHECK(at(0x03).status == BusStatus::nack);  // nobody there
  CHECK(at(0x77).status == BusStatus::nack);
  CHECK(rig.module->transfers == 2);
  Transaction diagnostics = reading(offset_of(kTwo, {true, 0, 0}), 1, kTwo);  // an SFP's second address would be reserved
  diagnostics.bus_address = 0x77;
  CHECK_THAT(rig.bus->execute(diagnostics).cause, Catch::Contains("120 is no I2C address"));
  CHECK(rig.module->transfers == 2);
}

TEST_CASE("modules_at_addresses_of_their_own_share_an_adapter_and_no_page") {
  I2cRig rig;
  const auto at = [](std::uint16_t address, Transaction transaction) {
    transaction.bus_address = address;
    return transaction;
  };
  CHECK(rig.bus->execute(at(0x50, writing(2440, {7}))).status == BusStatus::ok);
  CHECK(rig.bus->execute(at(0x51, reading(offset_of(kOne, {false, 2, 128}), 1))).bytes == std::vector<std::uint8_t>{2});
  CHECK(rig.module->lower[0x50][kPageSelect] == 0x12);
  CHECK(rig.module->lower[0x51][kPageSelect] == 2);
  CHECK(rig.bus->execute(at(0x50, reading(2440, 1))).bytes == std::vector<std::uint8_t>{7});
}

TEST_CASE("what_lies_in_no_page_or_at_no_address_never_reaches_the_wire") {
  I2cRig rig;
  CHECK(rig.bus->execute(reading(120, 16)).exception == 2);  // would wrap around at the end of the lower memory
  CHECK(rig.bus->execute(reading(250, 16)).exception == 2);
  CHECK(rig.bus->execute(reading(100'000, 1)).exception == 2);
  Transaction elsewhere = reading(0, 1);
  elsewhere.bus_address = 1;
  CHECK_THAT(rig.bus->execute(elsewhere).cause, Catch::Contains("1 is no I2C address, expected 3 to 119"));
  CHECK(rig.module->transfers == 0);
  Transaction frame = reading(0, 1);
  frame.order = Frame{{1, 2}, 2, {}};
  CHECK(rig.bus->execute(frame).exception == 1);
  CHECK(OptoeBus("/nowhere").execute(frame).exception == 1);
}

}  // namespace loom
