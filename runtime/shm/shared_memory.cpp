// SPDX-License-Identifier: Apache-2.0
// memfd_create, seals and mmap.
#include "runtime/shm/shared_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "core/text/format_text.hpp"

namespace loom {
namespace {

/// Nobody changes the size, and nobody lifts that.
constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

Result<std::span<std::byte>> mapped(int descriptor, std::size_t bytes) {
  void* begin = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (begin == MAP_FAILED) {
    return fail(ErrorCode::internal, format_text("cannot map {} bytes of shared memory: {}", bytes, std::strerror(errno)));
  }
  return std::span(static_cast<std::byte*>(begin), bytes);
}

}  // namespace

SharedMemory::SharedMemory(UniqueDescriptor descriptor, std::span<std::byte> bytes)
    : descriptor_(std::move(descriptor)), bytes_(bytes) {}

Result<SharedMemory> SharedMemory::create(std::size_t bytes) {
  UniqueDescriptor descriptor(::memfd_create("lightloom", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!descriptor.is_open()) {
    return fail(ErrorCode::unsupported, format_text("memfd_create: {}", std::strerror(errno)));
  }
  if (::ftruncate(descriptor.get(), static_cast<off_t>(bytes)) != 0 || ::fcntl(descriptor.get(), F_ADD_SEALS, kSeals) != 0) {
    return fail(ErrorCode::unsupported, format_text("a memfd of {} bytes, sealed: {}", bytes, std::strerror(errno)));
  }
  const auto span = mapped(descriptor.get(), bytes);
  if (!span) {
    return std::unexpected(span.error());
  }
  return SharedMemory(std::move(descriptor), *span);
}

Result<SharedMemory> SharedMemory::adopt(UniqueDescriptor descriptor, std::size_t bytes) {
  struct stat status{};
  if (::fstat(descriptor.get(), &status) != 0 || status.st_size != static_cast<off_t>(bytes)) {
    return fail(ErrorCode::refused, format_text("the shared memory has {} bytes, wanted {}", status.st_size, bytes));
  }
  const int seals = ::fcntl(descriptor.get(), F_GET_SEALS);
  if (seals < 0 || (seals & kSeals) != kSeals) {
    return fail(ErrorCode::refused, format_text("the shared memory has seals {:#x}, wanted {:#x}: its size is not sealed",
                                                seals < 0 ? 0 : seals, kSeals));
  }
  const auto span = mapped(descriptor.get(), bytes);
  if (!span) {
    return std::unexpected(span.error());
  }
  return SharedMemory(std::move(descriptor), *span);
}

SharedMemory::~SharedMemory() { unmap(); }

SharedMemory::SharedMemory(SharedMemory&& other) noexcept
    : descriptor_(std::move(other.descriptor_)), bytes_(std::exchange(other.bytes_, {})) {}

SharedMemory& SharedMemory::operator=(SharedMemory&& other) noexcept {
  if (this != &other) {
    unmap();
    descriptor_ = std::move(other.descriptor_);
    bytes_ = std::exchange(other.bytes_, {});
  }
  return *this;
}

void SharedMemory::unmap() {
  if (!bytes_.empty()) {
    ::munmap(bytes_.data(), bytes_.size());
    bytes_ = {};
  }
}

}  // namespace loom
