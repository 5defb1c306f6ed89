// SPDX-License-Identifier: Apache-2.0
// open, write, fsync, rename; each of them may find the disk full.
#include "cli/output_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>

#include "core/text/format_text.hpp"

namespace loom::cli {
namespace {

/// 0, or the errno of what failed.
int write_and_close(int file, std::string_view text, bool is_synced) {
  int problem = 0;
  while (problem == 0 && !text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno != EINTR) {
      problem = errno;
    }
  }
  if (problem == 0 && is_synced && ::fsync(file) != 0) {
    problem = errno;
  }
  return ::close(file) != 0 && problem == 0 ? errno : problem;
}

int write_directly(const std::string& path, std::string_view text) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  return file < 0 ? errno : write_and_close(file, text, false);
}

/// All of `text` is at `path`, or what was there before is.
int replace_file(const std::string& path, std::string_view text) {
  struct stat before{};
  const bool is_there = ::stat(path.c_str(), &before) == 0;
  if (is_there && ::access(path.c_str(), W_OK) != 0) {
    return errno;  // a rename would not ask
  }
  if (is_there && (before.st_uid != ::geteuid() || before.st_nlink > 1)) {
    return write_directly(path, text);  // a draft in its place would be ours, or part it from its other names
  }
  const std::string draft = format_text("{}.{}.loom-draft", path, ::getpid());  // a name that no file of the user's has
  const int file = ::open(draft.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (file < 0) {
    const bool takes_no_draft = errno == EACCES || errno == EPERM || errno == ENAMETOOLONG;
    return takes_no_draft ? write_directly(path, text) : errno;
  }
  if (is_there) {
    (void)::fchmod(file, before.st_mode & 07777U);  // where it is not taken, the mode of a new file is right as well
  }
  int problem = write_and_close(file, text, true);
  if (problem == 0 && ::rename(draft.c_str(), path.c_str()) != 0) {
    problem = errno;
  }
  if (problem != 0) {
    ::unlink(draft.c_str());
  }
  return problem;
}

/// A file that this process has open already: a rename would part the two.
bool is_open_file(const std::string& path) {
  const std::string plain = std::filesystem::path(path).lexically_normal().string();
  return plain == "/dev/stdout" || plain == "/dev/stderr" || plain.starts_with("/dev/fd/") || plain.starts_with("/proc/");
}

bool is_no_regular_file(const std::string& path) {
  std::error_code ignored;
  const std::filesystem::file_status status = std::filesystem::status(path, ignored);
  return std::filesystem::exists(status) && !std::filesystem::is_regular_file(status);
}

/// With its links followed; a link to nothing is written through.
int write_anywhere(const std::string& path, std::string_view text) {
  std::error_code ignored;
  const bool is_there = std::filesystem::exists(path, ignored);
  const bool leads_nowhere = !is_there && std::filesystem::is_symlink(std::filesystem::symlink_status(path, ignored));
  if (leads_nowhere || is_open_file(path) || is_no_regular_file(path)) {
    return write_directly(path, text);
  }
  const std::string whole = is_there ? std::filesystem::canonical(path, ignored).string() : path;
  return replace_file(whole.empty() ? path : whole, text);
}

std::string named(const NamedFile& file) {
  return file.option.empty() ? file.path : format_text("{} {}", file.option, file.path);
}

}  // namespace

Result<void> write_text(const std::string& path, const std::string& text, const std::string& option) {
  const int problem = write_anywhere(path, text);
  if (problem == 0) {
    return {};
  }
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return fail(
      ErrorCode::storage, format_text("{} cannot be written: {}", named({option, path}), std::strerror(problem)),
      problem == ENOSPC || problem == EDQUOT ? "df -h " + (folder.empty() ? "." : folder) : "give a path that can be written");
}

Result<void> check_printed(const std::string& path, const std::string& option, bool has_json_answer) {
  return path == kStandardOutput && has_json_answer
             ? fail(ErrorCode::invalid_argument,
                    format_text("{} {} prints a trace where --json prints its answer: leave one of them out", option, path))
             : Result<void>{};
}

bool is_one_file(const std::string& one, const std::string& other) {
  if (one.empty() || other.empty() || is_no_regular_file(one) || is_no_regular_file(other)) {
    return false;
  }
  std::error_code problem;
  if (std::filesystem::equivalent(one, other, problem)) {
    return true;
  }
  const auto whole = [&](const std::string& path) {
    const std::filesystem::path full = std::filesystem::absolute(path, problem);
    const std::filesystem::path known = std::filesystem::weakly_canonical(full, problem);
    return known.empty() ? full.lexically_normal() : known;
  };
  return whole(one) == whole(other);
}

Result<void> check_apart(const std::vector<NamedFile>& read, const std::vector<NamedFile>& written) {
  for (auto each = written.begin(); each != written.end(); ++each) {
    for (auto other = written.begin(); other != each; ++other) {
      if (is_one_file(each->path, other->path)) {
        return fail(ErrorCode::invalid_argument,
                    format_text("{} and {} would write one file: name another file", named(*each), named(*other)));
      }
    }
    for (const NamedFile& source : read) {
      std::error_code ignored;
      if (std::filesystem::exists(source.path, ignored) && is_one_file(each->path, source.path)) {
        return fail(ErrorCode::invalid_argument,
                    format_text("{} would replace a file that is read, {}: name another file", named(*each), named(source)));
      }
    }
  }
  return {};
}

Result<void> finish_printing(std::FILE* stream) {
  const bool has_failed = std::ferror(stream) != 0;
  int problem = std::fflush(stream) == 0 ? 0 : errno;
  if (problem == 0 && !has_failed) {
    return {};
  }
  if (problem == 0) {
    // The reason went with the write that failed. One more line's end, behind what is cut short anyhow, brings it back.
    problem = ::write(::fileno(stream), "\n", 1) < 0 ? errno : 0;
  }
  if (problem == EPIPE) {
    return {};  // whoever read it has enough
  }
  return fail(ErrorCode::storage, format_text("standard output cannot be written{}{}", problem == 0 ? "" : ": ",
                                              problem == 0 ? "" : std::strerror(problem)));
}

}  // namespace loom::cli
