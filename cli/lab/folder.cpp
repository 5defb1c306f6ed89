// SPDX-License-Identifier: Apache-2.0
// openat and its kin, so that a folder that is swapped for another one in between changes nothing.
#include "cli/lab/folder.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <utility>

#include "core/text/format_text.hpp"

namespace loom::cli {
namespace {

constexpr const char* kManifest = "lab.json";
constexpr const char* kDraft = "lab.json.new";
constexpr const char* kLock = "lab.lock";
constexpr off_t kManifestBytesMost = 16 << 20;
constexpr std::size_t kNamesShown = 3;
constexpr mode_t kOthersMayWrite = 0022;

std::string reason() { return std::strerror(errno); }

std::unexpected<Error> foreign(const std::string& path, const std::string& what) {
  return fail(ErrorCode::refused, format_text("{} was not made by a lab: {}; nothing was touched", path, what),
              "loom --state ANOTHER_FOLDER lab up SCENARIO");
}

std::string kind_of(mode_t mode) {
  return S_ISLNK(mode)    ? "a symbolic link"
         : S_ISDIR(mode)  ? "a folder"
         : S_ISFIFO(mode) ? "a pipe"
         : S_ISREG(mode)  ? "a regular file"
         : S_ISSOCK(mode) ? "a socket"
                          : "a device";
}

/// Everything in the folder, sorted, but for what belongs to taking it.
std::vector<std::string> names_in(int folder) {
  std::vector<std::string> names;
  const int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(copy < 0 ? nullptr : fdopendir(copy), closedir);
  while (const dirent* entry = stream ? readdir(stream.get()) : nullptr) {
    const std::string name = entry->d_name;
    if (name != "." && name != ".." && name != kLock && name != kDraft) {
      names.push_back(name);
    }
  }
  std::ranges::sort(names);
  return names;
}

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kNamesShown); ++i) {
    text += (i == 0 ? "" : ", ") + names[i];
  }
  const std::size_t more = names.size() - std::min(names.size(), kNamesShown);
  return text + (more == 0 ? "" : format_text(" and {} more", more));
}

/// Opens a regular file of this user that nobody else may write; never blocks, never follows a link. -1 and no error: not
/// there.
Result<Descriptor> open_own(int folder, const std::string& path, const char* name, int flags) {
  Descriptor file(openat(folder, name, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600));
  const int problem = file.is_open() ? 0 : errno;
  if (problem == ENOENT) {
    return file;
  }
  struct stat status{};
  const bool is_known = file.is_open() ? fstat(file.get(), &status) == 0
                                       : fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISREG(status.st_mode);
  if (!is_known) {
    return fail(problem == EACCES || problem == EPERM || problem == EROFS ? ErrorCode::refused : ErrorCode::storage,
                format_text("{}/{} cannot be opened: {}; nothing was touched", path, name, std::strerror(problem)));
  }
  if (!S_ISREG(status.st_mode)) {
    return foreign(path, format_text("{} is {}", name, kind_of(status.st_mode)));
  }
  if (status.st_uid != geteuid()) {
    return foreign(path, format_text("{} belongs to user {}", name, status.st_uid));
  }
  if ((status.st_mode & kOthersMayWrite) != 0) {
    return foreign(path, format_text("others may write its {}", name));
  }
  return file;
}

Result<std::string> text_of(const Descriptor& file, const std::string& path) {
  struct stat status{};
  if (fstat(file.get(), &status) != 0 || status.st_size > kManifestBytesMost) {
    return foreign(path, format_text("{} has {} bytes, a lab's at most {}", kManifest, status.st_size, kManifestBytesMost));
  }
  std::string text(static_cast<std::size_t>(status.st_size), '\0');
  std::size_t have = 0;
  while (have < text.size()) {
    const ssize_t count = pread(file.get(), text.data() + have, text.size() - have, static_cast<off_t>(have));
    if (count <= 0 && errno != EINTR) {
      break;
    }
    have += count > 0 ? static_cast<std::size_t>(count) : 0;
  }
  text.resize(have);
  return text;
}

bool write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = write(file, text.data(), text.size());
    if (count < 0 && errno != EINTR) {
      return false;
    }
    text.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  }
  return true;
}

/// `FILE.7`, a further part of the tape FILE.
bool is_part_of(std::string_view name, const std::string& tape) {
  return name.starts_with(tape + ".") && name.size() > tape.size() + 1 &&
         name.find_first_not_of("0123456789", tape.size() + 1) == std::string_view::npos;
}

}  // namespace

Descriptor::~Descriptor() {
  if (fd_ >= 0) {
    ::close(fd_);
  }
}
Descriptor::Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

Result<LabFolder> LabFolder::look(const std::string& path) {
  std::string plain = path;
  while (plain.size() > 1 && plain.ends_with('/')) {  // with a slash behind it a link would be followed
    plain.pop_back();
  }
  LabFolder folder(plain);
  LOOM_TRY(folder.open_folder());
  if (folder.is_there()) {
    LOOM_TRY(folder.read());
  }
  return folder;
}

Result<void> LabFolder::open_folder() {
  struct stat status{};
  if (lstat(path_.c_str(), &status) != 0) {
    return errno == ENOENT ? Result<void>{}
                           : fail(ErrorCode::storage, format_text("{} cannot be looked at: {}", path_, reason()));
  }
  if (!S_ISDIR(status.st_mode)) {
    return foreign(path_, format_text("it is {}, not a folder", kind_of(status.st_mode)));
  }
  if (status.st_uid != geteuid()) {
    return foreign(path_, format_text("it belongs to user {}, not to you, user {}", status.st_uid, geteuid()));
  }
  folder_ = Descriptor(open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder_.is_open()) {
    return fail(ErrorCode::storage, format_text("{} cannot be opened: {}", path_, reason()));
  }
  return {};
}

Result<void> LabFolder::read() {
  manifest_.reset();
  const std::vector<std::string> names = names_in(folder_.get());
  if (names.empty()) {
    return {};
  }
  auto file = open_own(folder_.get(), path_, kManifest, O_RDONLY);
  if (!file) {
    return std::unexpected(file.error());
  }
  if (!file->is_open()) {
    return foreign(path_, format_text("it holds {} and no {}", listed(names), kManifest));
  }
  const auto text = text_of(*file, path_);
  if (!text) {
    return std::unexpected(text.error());
  }
  auto manifest = parse_manifest(*text);
  if (!manifest) {
    return foreign(path_, format_text("{} cannot be used: {}", kManifest, manifest.error().message));
  }
  manifest_ = std::move(*manifest);
  return {};
}

Result<void> LabFolder::take(const std::string& holder) {
  if (!is_there()) {
    std::error_code problem;
    const std::filesystem::path parent = std::filesystem::path(path_).parent_path();
    if (!parent.empty()) {
      std::filesystem::create_directories(parent, problem);
    }
    if (mkdir(path_.c_str(), 0700) != 0 && errno != EEXIST) {
      return fail(ErrorCode::storage, format_text("folder {} cannot be made: {}", path_, reason()));
    }
    LOOM_TRY(open_folder());
  }
  auto lock = open_own(folder_.get(), path_, kLock, O_RDWR | O_CREAT);
  if (!lock) {
    return std::unexpected(lock.error());
  }
  if (flock(lock->get(), LOCK_EX | LOCK_NB) != 0) {
    std::string who(200, '\0');
    who.resize(static_cast<std::size_t>(std::max<ssize_t>(pread(lock->get(), who.data(), who.size(), 0), 0)));
    return fail(ErrorCode::conflict,
                format_text("{} is held by another loom: {}", path_, who.empty() ? "(it did not say who)" : who),
                format_text("loom --state {} lab status", path_));
  }
  LOOM_TRY(read());  // whoever held it before may have changed it
  if (fchmod(folder_.get(), 0700) != 0) {
    return fail(ErrorCode::storage, format_text("{} cannot be closed to others: {}", path_, reason()));
  }
  const std::string note = format_text("{} (process {})", holder, getpid());
  if (ftruncate(lock->get(), 0) != 0 || pwrite(lock->get(), note.data(), note.size(), 0) < 0) {
    return fail(ErrorCode::storage, format_text("{}/{} cannot be written: {}", path_, kLock, reason()));
  }
  lock_ = std::move(*lock);
  return {};
}

Result<void> LabFolder::save(LabManifest manifest) {
  LOOM_ASSERT(lock_.is_open());
  std::ranges::sort(manifest.files);
  const auto twice = std::ranges::unique(manifest.files);
  manifest.files.erase(twice.begin(), twice.end());
  const std::string text = to_text(manifest);
  unlinkat(folder_.get(), kDraft, 0);  // of a loom that died here
  const Descriptor draft(openat(folder_.get(), kDraft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  const bool is_written = draft.is_open() && write_all(draft.get(), text) && fsync(draft.get()) == 0 &&
                          renameat(folder_.get(), kDraft, folder_.get(), kManifest) == 0 && fsync(folder_.get()) == 0;
  if (!is_written) {
    return fail(ErrorCode::storage, format_text("{}/{} cannot be written: {}", path_, kManifest, reason()));
  }
  manifest_ = std::move(manifest);
  return {};
}

/// True: it is there. Errors: refused.
Result<bool> LabFolder::is_a_labs_file(const std::string& name) const {
  struct stat status{};
  if (!is_bare_name(name)) {
    return foreign(path_, format_text("'{}' is no file of this folder", name));
  }
  if (fstatat(folder_.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
    return false;
  }
  if (!S_ISREG(status.st_mode)) {
    return foreign(path_, format_text("{} is {}, and a lab makes regular files only", name, kind_of(status.st_mode)));
  }
  if (status.st_uid != geteuid()) {
    return foreign(path_, format_text("{} belongs to user {}", name, status.st_uid));
  }
  return true;
}

Result<void> LabFolder::may_make(const std::vector<std::string>& files) const {
  for (const std::string& file : is_there() ? with_tapes(files) : std::vector<std::string>{}) {
    const auto is_known = [&] {
      return manifest_ && std::ranges::any_of(manifest_->files, [&](const std::string& known) {
               return known == file || is_part_of(file, known);
             });
    };
    const auto is_there = is_a_labs_file(file);
    if (!is_there) {
      return std::unexpected(is_there.error());
    }
    if (*is_there && !is_known()) {
      return fail(ErrorCode::refused,
                  format_text("{} holds {}, which no lab made and this one would write over; nothing was touched", path_, file),
                  format_text("move {}/{} elsewhere", path_, file));
    }
  }
  return {};
}

Result<void> LabFolder::tighten() const {
  for (const std::string& file : manifest_ ? with_tapes(manifest_->files) : std::vector<std::string>{}) {
    const auto is_there = is_a_labs_file(file);
    if (!is_there) {
      return std::unexpected(is_there.error());
    }
    if (const Descriptor open(openat(folder_.get(), file.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
        open.is_open()) {
      fchmod(open.get(), 0600);
    }
  }
  return {};
}

std::vector<std::string> LabFolder::with_tapes(std::vector<std::string> files) const {
  const std::vector<std::string> known = files;
  for (const std::string& name : names_in(folder_.get())) {
    if (std::ranges::any_of(known,
                            [&](const std::string& file) { return file.ends_with(".tape") && is_part_of(name, file); })) {
      files.push_back(name);
    }
  }
  return files;
}

Result<std::size_t> LabFolder::remove(const std::vector<std::string>& files) {
  LOOM_ASSERT(lock_.is_open());
  std::vector<std::string> doomed;
  for (const std::string& file : with_tapes(files)) {
    const auto is_there = is_a_labs_file(file);
    if (!is_there) {
      return std::unexpected(is_there.error());
    }
    if (*is_there) {
      doomed.push_back(file);
    }
  }
  for (const std::string& file : doomed) {
    if (unlinkat(folder_.get(), file.c_str(), 0) != 0) {
      return fail(ErrorCode::storage, format_text("{}/{} cannot be deleted: {}", path_, file, reason()));
    }
  }
  return doomed.size();
}

}  // namespace loom::cli
