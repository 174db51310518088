// A handle of libmygemm with the lifetime of a C++ object, and its statuses as Errors. The only
// way in which the command reaches the library: the public C ABI.
#pragma once

#include <memory>
#include <string>

#include "device_buffer.h"
#include "mygemm/mygemm.h"
#include "settings.h"

namespace mygemm::cli {

// Throws the library's own sentence unless the call succeeded.
void check(mygemmStatus_t status);

class Session {
 public:
  // For computing: on the backend that is asked for, if this build can allocate memory for it.
  explicit Session(const Settings& settings = {});
  // For explain calls about other devices: a handle that needs no GPU.
  static Session for_questions(Settings settings = {});

  mygemmHandle_t handle() const { return handle_.get(); }
  // The memory of the handle's matrices.
  Memory memory() const;

 private:
  struct Destroy {
    void operator()(mygemmHandle_t handle) const { mygemm_destroy(handle); }
  };
  std::unique_ptr<mygemmContext, Destroy> handle_;
};

// The text of one of the mygemm_explain functions; `ask(text, capacity, length)` calls it.
template <class Ask>
std::string explanation(Ask ask) {
  size_t length = 0;
  check(ask(nullptr, size_t{0}, &length));
  std::string text(length + 1, '\0');
  check(ask(text.data(), text.size(), nullptr));
  text.resize(length);
  return text;
}

// The rest of the line after `key` ("chosen: ", "device: ") in an explanation.
std::string line_of(const std::string& explanation, const std::string& key);

}  // namespace mygemm::cli
