// SPDX-License-Identifier: Apache-2.0
// A state folder as the lab commands may use it: looked at before anything in it is touched, locked while it is changed, and
// changed only where its manifest says that a lab made what is there. Every name is opened below the folder itself, and no
// symbolic link is followed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/lab/manifest.hpp"
#include "core/result.hpp"

namespace loom::cli {

/// Closes what it holds.
class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  ~Descriptor();
  Descriptor(Descriptor&& other) noexcept;
  Descriptor& operator=(Descriptor&& other) noexcept;
  int get() const { return fd_; }
  bool is_open() const { return fd_ >= 0; }

 private:
  int fd_;
};

class LabFolder {
 public:
  /// Reads only. A folder that is not there, or is empty, is nobody's yet: it has no manifest. Errors: refused (it is somebody
  /// else's: a file, a link, another user's, files without a manifest, a manifest that is damaged or of a newer version; the
  /// sentence names what was found), storage.
  static Result<LabFolder> look(const std::string& path);

  const std::string& path() const { return path_; }
  bool is_there() const { return folder_.is_open(); }
  /// Nothing: no lab was here.
  const std::optional<LabManifest>& manifest() const { return manifest_; }

  /// Makes the folder if it is missing, closes it to others (0700), locks it until this object is gone and reads the manifest
  /// again. `holder`: who holds it, for the sentence that another `loom` is refused with. Errors: as look(), conflict (another
  /// `loom` holds it).
  Result<void> take(const std::string& holder);
  bool is_taken() const { return lock_.is_open(); }
  /// Another `loom` may take it.
  void release() { lock_ = Descriptor(); }
  /// Closes to others what the manifest names and an earlier version left open. Errors: refused (a link, ...).
  Result<void> tighten() const;

  /// Writes the manifest, whole or not at all, 0600. Only while taken. Errors: storage.
  Result<void> save(LabManifest manifest);

  /// May a lab make files of these names here? Errors: refused (one is there that the manifest does not name, or is no regular
  /// file of this user: nothing that follows a link is ever written through).
  Result<void> may_make(const std::vector<std::string>& files) const;

  /// Deletes those files that the manifest names for which `goes` holds; keys, and what it does not name, stay. All are looked
  /// at before the first is deleted. Returns how many went. Only while taken. Errors: refused (one is no regular file of this
  /// user any more), storage.
  template <class Predicate>
  Result<std::size_t> forget(Predicate goes) {
    std::vector<std::string> files;
    for (const std::string& file : manifest_ ? manifest_->files : std::vector<std::string>{}) {
      if (goes(file)) {
        files.push_back(file);
      }
    }
    return remove(files);
  }

 private:
  explicit LabFolder(std::string path) : path_(std::move(path)) {}
  Result<void> open_folder();
  Result<void> read();
  Result<std::size_t> remove(const std::vector<std::string>& files);
  Result<bool> is_a_labs_file(const std::string& name) const;
  std::vector<std::string> with_tapes(std::vector<std::string> files) const;

  std::string path_;
  Descriptor folder_;
  Descriptor lock_;
  std::optional<LabManifest> manifest_;
};

}  // namespace loom::cli
