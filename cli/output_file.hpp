// SPDX-License-Identifier: Apache-2.0
// What a command writes: files, and what it prints. A file that was there is replaced whole or stays as it was, and none that
// the command reads is written. Nothing here decides what is written.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "core/result.hpp"

namespace loom::cli {

/// Writes a draft beside `path`, which then takes its place and mode; behind a link the linked file is replaced. Written
/// directly: what is no regular file (/dev/stdout, a fifo), a file of another user or with several names, and one whose folder
/// takes no draft. `option` that named it; empty: none. Errors: storage, naming option, file and the system's reason.
Result<void> write_text(const std::string& path, const std::string& text, const std::string& option);

/// What an option takes instead of a file.
inline constexpr const char* kStandardOutput = "-";

/// Errors: invalid_argument: a file's text on stdout and an answer of --json are two.
Result<void> check_printed(const std::string& path, const std::string& option, bool has_json_answer);

/// A file, and the option or argument that names it.
struct NamedFile {
  std::string option;
  std::string path;  ///< empty: it was not named
};

/// By whatever names, whether it is there or not. False: of what is no regular file (/dev/null).
bool is_one_file(const std::string& one, const std::string& other);

/// Before anything is computed. `read`: names of other things than files may be among them. Errors: invalid_argument (a file is
/// to be read and written, or written twice), naming both options.
Result<void> check_apart(const std::vector<NamedFile>& read, const std::vector<NamedFile>& written);

/// Whatever was printed has left; once, at a command's end. A pipe that nobody reads any more is no error. Errors: storage,
/// with the system's reason.
Result<void> finish_printing(std::FILE* stream);

}  // namespace loom::cli
