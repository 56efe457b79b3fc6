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

// The size first: a model is read straight into the memory that it will be used from.
template <class Container>
Result<Container> read_into(const std::string& path) {
  std::error_code wrong;
  if (std::filesystem::is_directory(path, wrong)) return problem({"cannot read ", path, ": it is a directory"});
  const File file(std::fopen(path.c_str(), "rb"));
  if (!file) return failure("read", path);
  const uintmax_t size = std::filesystem::file_size(path, wrong);
  if (wrong) return problem({"cannot read ", path, ": ", wrong.message()});
  Container bytes = [size] {
    if constexpr (std::is_same_v<Container, std::string>)
      return std::string(static_cast<size_t>(size), '\0');
    else
      return Container(static_cast<size_t>(size));
  }();
  if (size > 0 && bytes.empty()) return problem({"not enough memory to read ", path});
  if (size > 0 && std::fread(bytes.data(), 1, static_cast<size_t>(size), file.get()) != size)
    return failure("read", path);
  return bytes;
}

}  // namespace

Result<AlignedBytes> read_file(const std::string& path) { return read_into<AlignedBytes>(path); }
Result<std::string> read_text(const std::string& path) { return read_into<std::string>(path); }

Status write_file(const std::string& path, std::span<const std::byte> bytes) {
  const std::string partial = path + ".partial";
  File file(std::fopen(partial.c_str(), "wb"));
  if (!file) return failure("write", path);
  const bool written = std::fwrite(bytes.data(), 1, bytes.size(), file.get()) == bytes.size();
  const bool closed = std::fclose(file.release()) == 0;
  if (written && closed && std::rename(partial.c_str(), path.c_str()) == 0) return std::nullopt;
  Error error = failure("write", path);
  std::remove(partial.c_str());
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
