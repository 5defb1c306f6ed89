// SPDX-License-Identifier: Apache-2.0
// FUSE's low-level interface on one side, a SimBus of one device on the other: a request is answered when the module has.
#define FUSE_USE_VERSION 312
#include "sim_backend/emulate/pluggable/module_files.hpp"

#include <fuse_lowlevel.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "core/module/module_pages.hpp"
#include "core/text/format_text.hpp"

namespace loom {

/// One request of the kernel.
struct ModuleFile::Access {
  fuse_req_t request;
  std::uint32_t offset;
  std::size_t wanted;
  bool is_read;
  std::vector<std::uint8_t> bytes;  ///< read so far, or to be written
  std::size_t done = 0;
};

namespace {

constexpr fuse_ino_t kRoot = FUSE_ROOT_ID;
constexpr fuse_ino_t kFile = 2;
constexpr std::uint32_t kFileBytes = 259 * kPageBytes;  ///< both layouts: 256 pages and what goes before them
constexpr Duration kPatience = std::chrono::seconds{2};

struct stat attributes_of(fuse_ino_t inode) {
  struct stat attributes = {};
  attributes.st_ino = inode;
  attributes.st_mode = inode == kRoot ? S_IFDIR | 0755U : S_IFREG | 0644U;
  attributes.st_nlink = 1;
  attributes.st_uid = getuid();
  attributes.st_gid = getgid();
  attributes.st_size = inode == kRoot ? 0 : kFileBytes;
  return attributes;
}

/// As i2c adapters say it (Documentation/i2c/fault-codes.rst of Linux).
int errno_of(BusStatus status) {
  switch (status) {
    case BusStatus::ok:
      return 0;
    case BusStatus::nack:
      return EREMOTEIO;
    case BusStatus::timeout:
      return ETIMEDOUT;
    case BusStatus::exception:
      return EINVAL;
    case BusStatus::malformed:
    case BusStatus::bad_check:
      return EIO;
    case BusStatus::lost:
      return ENXIO;
  }
  return EIO;
}

ModuleFile& file_of(fuse_req_t request) { return *static_cast<ModuleFile*>(fuse_req_userdata(request)); }

void look_up(fuse_req_t request, fuse_ino_t parent, const char* name) {
  if (parent != kRoot || std::string_view(name) != "eeprom") {
    fuse_reply_err(request, ENOENT);
    return;
  }
  fuse_entry_param entry = {};
  entry.ino = kFile;
  entry.attr = attributes_of(kFile);
  entry.attr_timeout = entry.entry_timeout = 1.0;
  fuse_reply_entry(request, &entry);
}

void tell_attributes(fuse_req_t request, fuse_ino_t inode, fuse_file_info*) {
  const struct stat attributes = attributes_of(inode);
  fuse_reply_attr(request, &attributes, 1.0);
}

/// Whoever truncates what it opens (a shell's '>') is obeyed in silence, as by a file of sysfs.
void set_attributes(fuse_req_t request, fuse_ino_t inode, struct stat*, int, fuse_file_info* info) {
  tell_attributes(request, inode, info);
}

void list_folder(fuse_req_t request, fuse_ino_t inode, std::size_t size, off_t offset, fuse_file_info*) {
  if (inode != kRoot) {
    fuse_reply_err(request, ENOTDIR);
    return;
  }
  if (offset != 0) {
    fuse_reply_buf(request, nullptr, 0);
    return;
  }
  std::array<char, 256> entries{};
  const struct stat attributes = attributes_of(kFile);
  const std::size_t length =
      fuse_add_direntry(request, entries.data(), std::min(size, entries.size()), "eeprom", &attributes, 1);
  fuse_reply_buf(request, entries.data(), std::min(length, size));
}

void open_file(fuse_req_t request, fuse_ino_t inode, fuse_file_info* info) {
  if (inode != kFile) {
    fuse_reply_err(request, EISDIR);
    return;
  }
  info->direct_io = 1;  // every read reaches the module
  fuse_reply_open(request, info);
}

void read_file(fuse_req_t request, fuse_ino_t, std::size_t size, off_t offset, fuse_file_info*) {
  const auto at = static_cast<std::uint32_t>(std::clamp<off_t>(offset, 0, kFileBytes));
  const std::size_t wanted = std::min<std::size_t>(size, kFileBytes - at);
  file_of(request).go_on(std::make_shared<ModuleFile::Access>(ModuleFile::Access{request, at, wanted, true, {}}));
}

void write_file(fuse_req_t request, fuse_ino_t, const char* bytes, std::size_t size, off_t offset, fuse_file_info*) {
  if (offset < 0 || offset >= kFileBytes) {
    fuse_reply_err(request, EFBIG);
    return;
  }
  const auto at = static_cast<std::uint32_t>(offset);
  const std::size_t wanted = std::min<std::size_t>(size, kFileBytes - at);
  file_of(request).go_on(std::make_shared<ModuleFile::Access>(
      ModuleFile::Access{request, at, wanted, false, std::vector<std::uint8_t>(bytes, bytes + wanted)}));
}

constexpr fuse_lowlevel_ops operations() {
  fuse_lowlevel_ops calls = {};
  calls.lookup = look_up;
  calls.getattr = tell_attributes;
  calls.setattr = set_attributes;
  calls.readdir = list_folder;
  calls.open = open_file;
  calls.read = read_file;
  calls.write = write_file;
  return calls;
}
const fuse_lowlevel_ops kCalls = operations();

}  // namespace

ModuleFile::ModuleFile(AsioLoop& loop, std::unique_ptr<EmulatedBus> bus, ModuleFileOptions options)
    : loop_(loop), options_(std::move(options)), bus_(std::move(bus)), requests_(loop.context()), hangup_(loop.context()) {}

ModuleFile::~ModuleFile() {
  if (requests_.is_open()) {
    requests_.release();  // the session closes it
  }
  if (session_ != nullptr) {
    fuse_session_unmount(session_);
    fuse_session_destroy(session_);
  }
}

Result<std::unique_ptr<ModuleFile>> ModuleFile::open(AsioLoop& loop, EmulatedDevices devices, const SimDeviceOptions& models,
                                                     ModuleFileOptions options) {
  auto bus = EmulatedBus::open(loop, std::move(devices), models, options.common);
  if (!bus) {
    return std::unexpected(bus.error());
  }
  std::unique_ptr<ModuleFile> file(new ModuleFile(loop, std::move(*bus), std::move(options)));
  LOOM_TRY(file->mount());
  return file;
}

Result<void> ModuleFile::mount() {
  std::array<std::string, 3> words{"lightloom-emulate", "-o", "auto_unmount,fsname=lightloom"};
  std::array<char*, 3> arguments{words[0].data(), words[1].data(), words[2].data()};
  fuse_args given = FUSE_ARGS_INIT(static_cast<int>(arguments.size()), arguments.data());
  session_ = fuse_session_new(&given, &kCalls, sizeof(kCalls), this);
  fuse_opt_free_args(&given);
  if (session_ == nullptr || fuse_session_mount(session_, options_.folder.c_str()) != 0) {
    if (session_ != nullptr) {
      fuse_session_destroy(std::exchange(session_, nullptr));
    }
    return fail(ErrorCode::unreachable, format_text("cannot mount at {}: it takes /dev/fuse, fusermount3 (package fuse3) and a "
                                                    "folder that exists",
                                                    options_.folder));
  }
  requests_.assign(fuse_session_fd(session_));
  std::error_code error;
  hangup_.add(SIGHUP, error);
  wait_for_hangup();
  serve();
  return {};
}

void ModuleFile::serve() {
  requests_.async_wait(asio::posix::stream_descriptor::wait_read, [this](std::error_code error) {
    if (error) {
      return;
    }
    fuse_buf buffer = {};
    const int length = fuse_session_receive_buf(session_, &buffer);
    if (length > 0) {
      fuse_session_process_buf(session_, &buffer);
    }
    std::free(buffer.mem);  // NOLINT: libfuse allocates it
    if (fuse_session_exited(session_) != 0 || length == 0) {
      loop_.stop();  // somebody unmounted it
      return;
    }
    serve();
  });
}

void ModuleFile::wait_for_hangup() {
  hangup_.async_wait([this](std::error_code error, int) {
    if (!error) {
      power_cycle();
      wait_for_hangup();
    }
  });
}

void ModuleFile::power_cycle() {
  booted_at_ = loop_.now() + std::chrono::milliseconds{options_.common.boot_ms};
  bus_->power_cycle(booted_at_);
}

void ModuleFile::go_on(std::shared_ptr<Access> access) {
  if (access->done == access->wanted) {
    access->is_read ? fuse_reply_buf(access->request, reinterpret_cast<const char*>(access->bytes.data()), access->bytes.size())
                    : fuse_reply_write(access->request, access->done);
    return;
  }
  if (loop_.now() < booted_at_) {
    fuse_reply_err(access->request, ENXIO);
    return;
  }
  const auto at = static_cast<std::uint32_t>(access->offset + access->done);
  const auto part =
      static_cast<std::uint16_t>(std::min<std::size_t>(access->wanted - access->done, kPageBytes - at % kPageBytes));
  BytesAt order{at, access->is_read ? part : std::uint16_t{0}, {}, options_.layout};
  if (!access->is_read) {
    const auto first = access->bytes.begin() + static_cast<std::ptrdiff_t>(access->done);
    order.values.assign(first, first + part);
  }
  const Device& device = bus_->fabric().device(bus_->devices().front());
  bus_->submit(device.bus, {device.id, device.bus_address, std::move(order), kPatience}, [this, access, part](BusReply reply) {
    const bool is_whole = reply.status == BusStatus::ok && (!access->is_read || reply.bytes.size() == part);
    if (is_whole) {
      access->bytes.insert(access->bytes.end(), reply.bytes.begin(), reply.bytes.end());
      access->done += part;
    } else if (access->done > 0) {
      access->wanted = access->done;  // what was done is told first, as by the kernel driver
    } else {
      fuse_reply_err(access->request, reply.status == BusStatus::ok ? EIO : errno_of(reply.status));
      return;
    }
    go_on(access);
  });
}

int run_module_emulator(const Result<EmulatedDevices>& devices, const SimDeviceOptions& models, ModuleFileOptions options) {
  const auto complain = [](const Error& error) {
    std::fprintf(stderr, "lightloom-emulate: %s\n", error.message.c_str());
    return 1;
  };
  if (!devices) {
    return complain(devices.error());
  }
  if (devices->devices.size() != 1) {
    return complain({ErrorCode::invalid_config, "a module's file is of one device; give a bus that has one"});
  }
  auto loop = AsioLoop::open();
  if (!loop) {
    return complain(loop.error());
  }
  SimDeviceOptions seeded = models;
  seeded.seed = options.common.seed;
  auto file = ModuleFile::open(**loop, *devices, seeded, std::move(options));
  if (!file) {
    return complain(file.error());
  }
  std::printf("file %s\n", (*file)->path().c_str());
  std::fflush(stdout);
  (*loop)->on_signal({});
  (*loop)->run();
  return 0;
}

}  // namespace loom
