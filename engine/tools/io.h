// Whole files in and out, with errors that name the file.
#pragma once

#include <cstddef>
#include <fstream>
#include <span>
#include <string>

#include "model_file.h"
#include "octavo/status.h"

namespace octavo {

Result<AlignedBytes> read_file(const std::string& path);
Result<std::string> read_text(const std::string& path);

// A text to be read line by line.
Result<std::ifstream> open_text(const std::string& path);

// Writes beside the target and renames, so that nobody ever sees half a file.
Status write_file(const std::string& path, std::span<const std::byte> bytes);

// Reads and checks a model.
Result<ModelFile> load_model(const std::string& path);

}  // namespace octavo
