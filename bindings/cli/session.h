// A handle of libmygemm with the lifetime of a C++ object, and its statuses as Errors. The only
// way in which the command reaches the library: the public C ABI.
#pragma once

#include <memory>
#include <string>

#include "device_buffer.h"
#include "mygemm/mygemm.h"

namespace mygemm::cli {

// Throws the library's own sentence unless the call succeeded.
void check(mygemmStatus_t status);

class Session {
 public:
  // For computing: on the backend of MYGEMM_BACKEND, if this build can allocate memory for it.
  Session();
  // For explain calls: a handle that needs no GPU, with the environment's options.
  static Session for_questions();

  mygemmHandle_t handle() const { return handle_.get(); }
  // The memory of the handle's matrices.
  Memory memory() const;

 private:
  explicit Session(mygemmBackend_t backend);

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

// Out of place: the row-major cols x rows transpose of a row-major rows x cols matrix.
Buffer transposed(const Session& session, size_t element_size, int64_t rows, int64_t cols,
                  const Buffer& in);

}  // namespace mygemm::cli
