// JSON from files that anybody may have written.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

namespace octavo {

using json = nlohmann::ordered_json;

// The value, or a discarded one if the text is not JSON. Neither is what is nested deeper than anything of ours: to
// print it would take as much stack.
inline json parse_json(std::string_view text) {
  constexpr int kMaxDepth = 64;
  bool deep = false;
  const auto keep = [&deep](int depth, json::parse_event_t, json&) { return !(deep = deep || depth > kMaxDepth); };
  json value = json::parse(text, keep, false);
  return deep ? json(json::value_t::discarded) : value;
}

}  // namespace octavo
