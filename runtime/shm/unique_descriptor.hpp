// SPDX-License-Identifier: Apache-2.0
// UniqueDescriptor: closes what it holds. Moved, never copied.
#pragma once

#include <unistd.h>

#include <utility>

namespace loom {

class UniqueDescriptor {
 public:
  UniqueDescriptor() = default;
  explicit UniqueDescriptor(int descriptor) : descriptor_(descriptor) {}
  ~UniqueDescriptor() { reset(); }
  UniqueDescriptor(UniqueDescriptor&& other) noexcept : descriptor_(other.release()) {}
  UniqueDescriptor& operator=(UniqueDescriptor&& other) noexcept {
    if (this != &other) {
      reset();
      descriptor_ = other.release();
    }
    return *this;
  }

  int get() const { return descriptor_; }
  bool is_open() const { return descriptor_ >= 0; }
  /// The caller closes it from now on.
  int release() { return std::exchange(descriptor_, -1); }
  void reset() {
    if (const int descriptor = release(); descriptor >= 0) {
      ::close(descriptor);
    }
  }

 private:
  int descriptor_ = -1;
};

}  // namespace loom
