// Writes JSON text: just enough for reports. Numbers keep seven digits; NaN and infinity are null.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

namespace bench {

class Json {
 public:
  const std::string& text() const { return text_; }

  void begin_object(std::string_view key = {}) { open(key, '{'); }
  void end_object() { close('}'); }
  void begin_array(std::string_view key = {}) { open(key, '['); }
  void end_array() { close(']'); }

  void add(std::string_view key, std::string_view value) {
    begin_value(key);
    quote(value);
  }
  void add(std::string_view key, const char* value) { add(key, std::string_view(value)); }
  void add(std::string_view key, bool value) {
    begin_value(key);
    text_ += value ? "true" : "false";
  }
  void add(std::string_view key, double value) {
    begin_value(key);
    char digits[32];
    std::snprintf(digits, sizeof(digits), "%.7g", value);
    text_ += std::isfinite(value) ? digits : "null";
  }
  void add(std::string_view key, int64_t value) {
    begin_value(key);
    text_ += std::to_string(value);
  }
  void add(std::string_view key, int value) { add(key, static_cast<int64_t>(value)); }
  template <class T>
  void add(std::string_view key, const std::optional<T>& value) {
    if (value) {
      add(key, *value);
    } else {
      begin_value(key);
      text_ += "null";
    }
  }

 private:
  void open(std::string_view key, char bracket) {
    begin_value(key);
    text_ += bracket;
    ++depth_;
    first_ = true;
  }
  void close(char bracket) {
    --depth_;
    if (!first_) {
      new_line();
    }
    text_ += bracket;
    first_ = false;
  }
  void begin_value(std::string_view key) {
    if (depth_ > 0) {
      text_ += first_ ? "" : ",";
      new_line();
    }
    if (!key.empty()) {
      quote(key);
      text_ += ": ";
    }
    first_ = false;
  }
  void new_line() { text_ += '\n' + std::string(static_cast<size_t>(depth_), ' '); }
  void quote(std::string_view value) {
    text_ += '"';
    for (const char c : value) {
      if (c == '"' || c == '\\') {
        text_ += '\\';
        text_ += c;
      } else {
        text_ += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
      }
    }
    text_ += '"';
  }

  std::string text_;
  int depth_ = 0;
  bool first_ = true;
};

}  // namespace bench
