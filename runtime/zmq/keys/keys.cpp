// SPDX-License-Identifier: Apache-2.0
// Files that appear whole or not at all, and the two lines of a key file.
#include "runtime/zmq/keys/keys.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zmq.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <utility>

#include "core/text/format_text.hpp"

namespace loom {
namespace {

constexpr std::size_t kKeyFileBytesMax = 4'096;

std::unexpected<Error> storage_error(const std::string& what, const std::filesystem::path& file, int error) {
  return fail(ErrorCode::storage, format_text("cannot {} {}: {}", what, file.string(), std::strerror(error)));
}

/// Closes what it holds.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) {
      ::close(fd_);
    }
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }
  bool is_open() const { return fd_ >= 0; }

 private:
  int fd_;
};

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(fd, text.data(), text.size());
    if (count < 0 && errno != EINTR) {
      return false;
    }
    text.remove_prefix(static_cast<std::size_t>(count < 0 ? 0 : count));
  }
  return true;
}

std::filesystem::path directory_of(const std::filesystem::path& file) {
  return file.has_parent_path() ? file.parent_path() : std::filesystem::path{"."};
}

Result<void> make_directory(const std::filesystem::path& directory) {
  std::error_code error;
  if (std::filesystem::is_directory(directory, error)) {
    return {};
  }
  if (directory.has_parent_path()) {
    std::filesystem::create_directories(directory.parent_path(), error);
  }
  if (::mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST) {
    return storage_error("make directory", directory, errno);
  }
  return {};
}

Result<void> check_private(const std::filesystem::path& path, const struct stat& status, const char* wanted) {
  if (status.st_uid != ::geteuid()) {
    return fail(ErrorCode::refused,
                format_text("{} belongs to user {}, not to user {} who reads it", path.string(), status.st_uid, ::geteuid()));
  }
  if ((status.st_mode & 0077u) != 0) {
    std::ostringstream text;
    text << path.string() << " has mode " << std::oct << (status.st_mode & 0777u) << ", others must have no access: chmod "
         << wanted << ' ' << path.string();
    return fail(ErrorCode::refused, text.str());
  }
  return {};
}

/// `line` = "<word> <value>" -> value; empty if it is another word.
std::string value_of(const std::string& text, std::string_view word) {
  std::istringstream lines(text);
  std::string line;
  while (std::getline(lines, line)) {
    if (line.starts_with(word) && line.size() > word.size() && line[word.size()] == ' ') {
      return line.substr(word.size() + 1);
    }
  }
  return {};
}

std::string public_text(const KeyPair& keys) { return format_text("public {}\n", keys.public_key); }

}  // namespace

KeyPair make_keys() {
  std::array<char, kKeyCharacters + 1> public_key{};
  std::array<char, kKeyCharacters + 1> secret_key{};
  const int failed = zmq_curve_keypair(public_key.data(), secret_key.data());
  LOOM_ASSERT(failed == 0);  // only a libzmq that was built without CURVE fails
  return {public_key.data(), secret_key.data()};
}

Result<void> check_key(std::string_view what, std::string_view key) {
  static constexpr std::string_view kAlphabet =
      "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#";
  if (key.size() != kKeyCharacters) {
    return fail(ErrorCode::malformed,
                format_text("{} has {} characters, a CURVE key in Z85 has {}", what, key.size(), kKeyCharacters));
  }
  const std::size_t stranger = key.find_first_not_of(kAlphabet);
  if (stranger != std::string_view::npos) {
    return fail(ErrorCode::malformed, format_text("{}: character {} is not of Z85", what, stranger + 1));
  }
  std::array<std::uint8_t, 32> bytes{};
  const std::string terminated{key};
  if (zmq_z85_decode(bytes.data(), terminated.c_str()) == nullptr) {
    return fail(ErrorCode::malformed, format_text("{} is no Z85 text of 32 bytes", what));
  }
  return {};
}

Result<void> write_whole_file(const WholeFile& order) {
  const std::filesystem::path directory = directory_of(order.file);
  LOOM_TRY(make_directory(directory));
  std::string draft = order.file.string() + ".XXXXXX";
  const Descriptor fd{::mkstemp(draft.data())};
  if (!fd.is_open()) {
    return storage_error("create", draft, errno);
  }
  const bool is_written = ::fchmod(fd.get(), order.mode) == 0 && write_all(fd.get(), order.text) && ::fsync(fd.get()) == 0;
  int error = is_written ? 0 : errno;
  if (is_written) {
    // link() refuses to replace, rename() always does; both are atomic.
    const int failed = order.replace ? ::rename(draft.c_str(), order.file.c_str()) : ::link(draft.c_str(), order.file.c_str());
    error = failed != 0 ? errno : 0;
  }
  if (error != 0 || !order.replace) {
    ::unlink(draft.c_str());
  }
  if (error == EEXIST) {
    return fail(ErrorCode::conflict, order.file.string() + " exists already");
  }
  if (error != 0) {
    return storage_error("write", order.file, error);
  }
  const Descriptor folder{::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (folder.is_open()) {
    ::fsync(folder.get());  // the name itself; a file system that cannot is no reason to fail
  }
  return {};
}

Result<std::string> read_private_file(const std::filesystem::path& file, std::size_t bytes_max) {
  const Descriptor fd{::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (!fd.is_open() && errno == ENOENT) {
    return fail(ErrorCode::not_found, file.string() + " does not exist");
  }
  struct stat status{};
  struct stat folder{};
  if (!fd.is_open() || ::fstat(fd.get(), &status) != 0 || ::stat(directory_of(file).c_str(), &folder) != 0) {
    return storage_error("read", file, errno);
  }
  if (!S_ISREG(status.st_mode)) {
    return fail(ErrorCode::refused, file.string() + " is no regular file");
  }
  LOOM_TRY(check_private(file, status, "600"));
  LOOM_TRY(check_private(directory_of(file), folder, "700"));
  if (static_cast<std::size_t>(status.st_size) > bytes_max) {
    return fail(ErrorCode::out_of_range,
                format_text("{} has {} bytes, at most {} are read", file.string(), status.st_size, bytes_max));
  }
  std::string text(static_cast<std::size_t>(status.st_size), '\0');
  std::size_t have = 0;
  while (have < text.size()) {
    const ssize_t count = ::read(fd.get(), text.data() + have, text.size() - have);
    if (count < 0 && errno == EINTR) {
      continue;
    }
    if (count <= 0) {
      return storage_error("read", file, count < 0 ? errno : EIO);
    }
    have += static_cast<std::size_t>(count);
  }
  return text;
}

Result<KeyPair> generate_keys(const std::filesystem::path& file) {
  KeyPair keys = make_keys();
  LOOM_TRY(write_whole_file({file, format_text("{}secret {}\n", public_text(keys), keys.secret_key), 0600, false}));
  LOOM_TRY(write_whole_file({file.string() + ".pub", public_text(keys), 0644, true}));
  return keys;
}

Result<void> replace_key_files(const std::filesystem::path& fresh, const std::filesystem::path& file) {
  const auto keys = load_keys(fresh);
  if (!keys) {
    return std::unexpected(keys.error());
  }
  if (::rename(fresh.c_str(), file.c_str()) != 0) {
    return storage_error("replace", file, errno);
  }
  // Its fsync() of the folder makes both names durable.
  LOOM_TRY(write_whole_file({file.string() + ".pub", public_text(*keys), 0644, true}));
  ::unlink((fresh.string() + ".pub").c_str());
  return {};
}

Result<KeyPair> load_keys(const std::filesystem::path& file) {
  const auto text = read_private_file(file);
  if (!text) {
    return std::unexpected(text.error());
  }
  if (text->size() > kKeyFileBytesMax) {
    return fail(ErrorCode::malformed,
                format_text("{} has {} bytes, a key file at most {}", file.string(), text->size(), kKeyFileBytesMax));
  }
  KeyPair keys{value_of(*text, "public"), value_of(*text, "secret")};
  LOOM_TRY(check_key(file.string() + ": the public key", keys.public_key));
  LOOM_TRY(check_key(file.string() + ": the secret key", keys.secret_key));
  std::array<char, kKeyCharacters + 1> proof{};
  if (zmq_curve_public(proof.data(), keys.secret_key.c_str()) != 0 || keys.public_key != proof.data()) {
    return fail(ErrorCode::malformed, file.string() + ": the public key does not belong to the secret key");
  }
  return keys;
}

Result<KeyPair> load_or_generate_keys(const std::filesystem::path& file) {
  auto loaded = load_keys(file);
  if (loaded || loaded.error().code != ErrorCode::not_found) {
    return loaded;
  }
  auto fresh = generate_keys(file);
  if (!fresh && fresh.error().code == ErrorCode::conflict) {
    return load_keys(file);  // somebody else was first
  }
  return fresh;
}

Result<std::string> load_public_key(const std::filesystem::path& file) {
  std::ifstream stream(file);
  if (!stream) {
    return fail(ErrorCode::not_found, "cannot read " + file.string());
  }
  std::string text(kKeyFileBytesMax, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(stream.gcount()));
  std::string key = value_of(text, "public");
  LOOM_TRY(check_key(file.string() + ": the public key", key));
  return key;
}

}  // namespace loom
