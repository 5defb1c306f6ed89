// SPDX-License-Identifier: Apache-2.0
// SharedMemory: a piece of memory of a fixed size that another process maps as well. It is a memfd whose size is sealed: no
// process that has it can take a page away under another one's hands, which would be a SIGBUS there. Its contents are the
// other process's to change at any instant, so whoever reads copies first and judges the copy.
#pragma once

#include <cstddef>
#include <span>

#include "core/result.hpp"
#include "runtime/shm/unique_descriptor.hpp"

namespace loom {

class SharedMemory {
 public:
  /// Zeros. Errors: unsupported (this kernel has no memfd, or does not seal), internal (no memory, no descriptor).
  static Result<SharedMemory> create(std::size_t bytes);
  /// What another process has made. Errors: refused (it is not of this size, or its size is not sealed), internal.
  static Result<SharedMemory> adopt(UniqueDescriptor descriptor, std::size_t bytes);
  ~SharedMemory();
  SharedMemory(SharedMemory&& other) noexcept;
  SharedMemory& operator=(SharedMemory&& other) noexcept;

  std::span<std::byte> bytes() const { return bytes_; }
  int descriptor() const { return descriptor_.get(); }
  /// It stays mapped.
  void close_descriptor() { descriptor_.reset(); }

 private:
  SharedMemory(UniqueDescriptor descriptor, std::span<std::byte> bytes);
  void unmap();

  UniqueDescriptor descriptor_;
  std::span<std::byte> bytes_;
};

}  // namespace loom
