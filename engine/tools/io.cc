#include "io.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <utility>

#include "message.h"

namespace octavo {
namespace {

struct Close {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Close>;

Error failure(const char* verb, const std::string& path) {
  return problem({"cannot ", verb, " ", path, ": ", std::strerror(errno)});
}

Status refuse_directory(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return problem({"cannot read ", path, ": it is a directory"});
  return std::nullopt;
}

Result<File> open_file(const std::string& path) {
  if (const Status refused = refuse_directory(path)) return *refused;
  File file(std::fopen(path.c_str(), "rb"));
  if (!file) return failure("read", path);
  return file;
}

}  // namespace

Result<std::string> read_text(const std::string& path) {
  const Result<File> file = open_file(path);
  if (!file) return Error{file.error()};
  std::string bytes;
  char block[1 << 16];
  while (const size_t count = std::fread(block, 1, sizeof(block), file->get())) bytes.append(block, count);
  if (std::ferror(file->get()) != 0) return failure("read", path);
  return bytes;
}

// The size first, if there is one: a model is read straight into the memory that it will be used from.
Result<AlignedBytes> read_file(const std::string& path) {
  std::error_code sizeless;  // a pipe, or nothing at all
  const uintmax_t size = std::filesystem::file_size(path, sizeless);
  if (sizeless) {
    const Result<std::string> text = read_text(path);
    if (!text) return Error{text.error()};
    AlignedBytes bytes(text->size());
    if (bytes.empty()) return problem({"not enough memory to read ", path});
    std::memcpy(bytes.data(), text->data(), text->size());
    return bytes;
  }
  const Result<File> file = open_file(path);
  if (!file) return Error{file.error()};
  AlignedBytes bytes(static_cast<size_t>(size));
  if (bytes.empty()) return problem({"not enough memory to read ", path});
  const size_t count = std::fread(bytes.data(), 1, bytes.size(), file->get());
  if (std::ferror(file->get()) != 0) return failure("read", path);
  if (count != size) return problem({"cannot read ", path, ": it became shorter meanwhile"});
  return bytes;
}

Result<std::ifstream> open_text(const std::string& path) {
  if (const Status refused = refuse_directory(path)) return *refused;
  std::ifstream text(path);
  if (!text) return failure("read", path);
  return text;
}

// What is at the path stays until all is written; a link keeps pointing there, and what is no
// file (a pipe, a terminal) cannot be replaced by one.
Status write_file(const std::string& path, std::span<const std::byte> bytes) {
  std::error_code absent;
  const std::filesystem::path link = std::filesystem::weakly_canonical(path, absent);
  const std::string target = absent ? path : link.string();
  const bool direct = std::filesystem::exists(target, absent) && !std::filesystem::is_regular_file(target, absent);
  const std::string written_to = direct ? target : target + ".partial";
  File file(std::fopen(written_to.c_str(), "wb"));
  if (!file) return failure("write", path);
  const bool written = std::fwrite(bytes.data(), 1, bytes.size(), file.get()) == bytes.size();
  const bool closed = std::fclose(file.release()) == 0;
  if (written && closed && (direct || std::rename(written_to.c_str(), target.c_str()) == 0)) return std::nullopt;
  Error error = failure("write", path);
  if (!direct) std::remove(written_to.c_str());
  return error;
}

Result<ModelFile> load_model(const std::string& path) {
  Result<AlignedBytes> bytes = read_file(path);
  if (!bytes) return Error{bytes.error()};
  Result<ModelFile> model = ModelFile::open(std::move(*bytes));
  if (!model) return problem({path, ": ", model.error()});
  return model;
}

}  // namespace octavo
