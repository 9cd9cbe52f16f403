// Files whose every read and write is checked: a full disk or a shrinking file is an error, never a crash.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <system_error>

namespace muse {

/// A failed file operation: `code()` holds errno, `path()` the file or directory. An OSError in Python.
class FileError : public std::system_error {
 public:
  FileError(int error_number, std::string problem, std::string path);
  const std::string& problem() const { return problem_; }
  const std::string& path() const { return path_; }

 private:
  std::string problem_;
  std::string path_;
};

/// An owned file descriptor.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept;
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor();
  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

/// A regular file, read by position from any number of threads.
///
/// Plain reads rather than a memory map: when the file is truncated under us, or its disk fails, a map would kill the
/// process with SIGBUS where a read returns an error. Large reads cost no more than the page faults of a map.
class InputFile {
 public:
  explicit InputFile(const std::string& path);
  const std::string& path() const { return path_; }
  std::int64_t size() const { return size_; }  // when it was opened; what is appended later is not read

  /// Fills `out` from byte `position`. Throws FileError when the file has become shorter.
  void read(std::int64_t position, std::span<char> out) const;

 private:
  std::string path_;
  Descriptor file_;
  std::int64_t size_ = 0;
};

/// A read-only memory map of a file that nobody else can change.
class Mapping {
 public:
  Mapping() = default;
  Mapping(int fd, std::size_t bytes, const std::string& path);
  Mapping(Mapping&& other) noexcept;
  Mapping& operator=(Mapping&& other) noexcept;
  ~Mapping();
  const void* data() const { return data_; }

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

/// A temporary file that has no name, so that it is gone with the process, however the process ends.
class TemporaryFile {
 public:
  TemporaryFile() = default;
  /// In `directory`; "" means the system's directory for temporary files.
  explicit TemporaryFile(const std::string& directory);

  explicit operator bool() const { return static_cast<bool>(file_); }
  void write(std::int64_t position, const void* data, std::size_t bytes);
  void truncate(std::int64_t bytes);
  Mapping map(std::size_t bytes) const;

 private:
  std::string directory_;
  Descriptor file_;
};

}  // namespace muse
