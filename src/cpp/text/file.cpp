#include "text/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <utility>

namespace muse {
namespace {

Descriptor open_nameless(const std::string& directory) {
#ifdef O_TMPFILE
  // The file never has a name, so that even a kill at the worst moment leaves nothing behind.
  if (Descriptor file(::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600)); file) return file;
#endif
  std::string path = directory + "/muse-XXXXXX";
  Descriptor file(::mkstemp(path.data()));
  if (!file)
    throw FileError(errno, "cannot create a temporary file for the corpus (set spill_dir to a directory for it)",
                    directory);
  ::unlink(path.c_str());
  ::fcntl(file.get(), F_SETFD, FD_CLOEXEC);
  return file;
}

}  // namespace

FileError::FileError(int error_number, std::string problem, std::string path)
    : std::system_error(error_number, std::generic_category(), problem + ", '" + path + "'"),
      problem_(std::move(problem)),
      path_(std::move(path)) {}

Descriptor::Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

Descriptor::~Descriptor() {
  if (fd_ >= 0) ::close(fd_);
}

InputFile::InputFile(const std::string& path) : path_(path), file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
  struct stat status {};
  if (!file_ || ::fstat(file_.get(), &status) != 0) throw FileError(errno, "cannot open the corpus file", path);
  if (S_ISDIR(status.st_mode)) throw FileError(EISDIR, "a corpus file is needed, not a directory", path);
  if (!S_ISREG(status.st_mode)) throw FileError(ESPIPE, "only regular files can be read by position", path);
  size_ = status.st_size;
}

void InputFile::read(std::int64_t position, std::span<char> out) const {
  while (!out.empty()) {
    const ssize_t got = ::pread(file_.get(), out.data(), out.size(), position);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw FileError(errno, "cannot read the corpus file", path_);
    if (got == 0) throw FileError(EIO, "the corpus file became shorter while it was read", path_);
    position += got;
    out = out.subspan(static_cast<std::size_t>(got));
  }
}

Mapping::Mapping(int fd, std::size_t bytes, const std::string& path) : bytes_(bytes) {
  if (bytes == 0) return;
  void* data = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, fd, 0);
  if (data == MAP_FAILED) throw FileError(errno, "cannot map the temporary file of the corpus", path);
  data_ = data;
}

Mapping::Mapping(Mapping&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

Mapping& Mapping::operator=(Mapping&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

Mapping::~Mapping() {
  if (data_ != nullptr) ::munmap(data_, bytes_);
}

TemporaryFile::TemporaryFile(const std::string& directory)
    : directory_(directory.empty() ? std::filesystem::temp_directory_path().string() : directory),
      file_(open_nameless(directory_)) {}

void TemporaryFile::write(std::int64_t position, const void* data, std::size_t bytes) {
  const char* from = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t put = ::pwrite(file_.get(), from, bytes, position);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) {
      throw FileError(put < 0 ? errno : EIO,
                      "cannot spill the corpus (free some space, or set spill_dir or a larger max_ram)", directory_);
    }
    position += put;
    from += put;
    bytes -= static_cast<std::size_t>(put);
  }
}

void TemporaryFile::truncate(std::int64_t bytes) {
  if (::ftruncate(file_.get(), bytes) != 0) {
    throw FileError(errno, "cannot shorten the temporary file of the corpus", directory_);
  }
}

Mapping TemporaryFile::map(std::size_t bytes) const { return Mapping(file_.get(), bytes, directory_); }

}  // namespace muse
