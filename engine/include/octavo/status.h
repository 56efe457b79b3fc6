// Errors are values: a Result holds either what was asked for
// or an Error whose message names the problem and the remedy.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace octavo {

struct Error {
  std::string message;
};

template <class T>
class Result {
 public:
  Result(T value) : state_(std::move(value)) {}      // NOLINT: a value is a result
  Result(Error error) : state_(std::move(error)) {}  // NOLINT: so is an error

  bool ok() const { return std::holds_alternative<T>(state_); }
  explicit operator bool() const { return ok(); }
  T& operator*() { return std::get<T>(state_); }
  const T& operator*() const { return std::get<T>(state_); }
  T* operator->() { return &std::get<T>(state_); }
  const T* operator->() const { return &std::get<T>(state_); }
  const std::string& error() const { return std::get<Error>(state_).message; }

 private:
  std::variant<T, Error> state_;
};

// The outcome of something that returns nothing: an Error, or none.
using Status = std::optional<Error>;

}  // namespace octavo
