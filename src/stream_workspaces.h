// The workspaces that a handle owns: device memory for each of its streams, so that calls on two
// streams never share some. Streams are told apart by their numbers, which are never used again,
// and are not touched unless they are current: they may have been destroyed.
#pragma once

#include <array>
#include <cstddef>

#include "problem.h"
#include "status.h"

namespace mygemm {

class StreamWorkspaces {
 public:
  // Streams with memory at the same time. One more takes the place of one whose work has ended, or
  // waits for it on the device.
  static constexpr int kMost = 8;

  // bytes: of each, on a CUDA device.
  StreamWorkspaces(int device, size_t bytes) : device_(device), bytes_(bytes) {}
  ~StreamWorkspaces();
  StreamWorkspaces(const StreamWorkspaces&) = delete;
  StreamWorkspaces& operator=(const StreamWorkspaces&) = delete;

  // Makes the memory of a stream the current one: new where it has none. Without memory, or where
  // all of it may be used by graphs, there is no current one.
  void use(mygemmStream_t stream);

  void* memory() const { return current_ ? current_->memory : nullptr; }
  size_t bytes() const { return current_ ? bytes_ : 0; }

  // To be called behind work on the current stream that may use the memory.
  void mark_used(mygemmStream_t stream);

 private:
  struct Slot {
    mygemmStream_t stream = nullptr;
    unsigned long long number = 0;  // of the stream; 0: it was being captured, or there is none
    void* memory = nullptr;
    void* last_use = nullptr;     // an event
    bool last_use_known = false;  // the event is behind all work that uses the memory
    bool in_a_graph = false;      // which may be launched at any time
    int64_t turn = 0;             // when it was used last
  };

  Slot* slot_of(unsigned long long number);
  Slot* slot_of_graphs(mygemmStream_t stream);
  Slot* new_slot(mygemmStream_t stream, bool is_captured);
  Slot* slot_of_another(mygemmStream_t stream, bool is_captured);

  int device_;
  size_t bytes_;
  std::array<Slot, kMost> slots_ = {};
  int count_ = 0;
  Slot* current_ = nullptr;
  int64_t turn_ = 0;
};

namespace cuda {
// The number of a stream that is not being captured, which no other ever has; never 0.
unsigned long long stream_number(mygemmStream_t stream);
bool is_capturing(mygemmStream_t stream);
// Device memory and an event; false, and nothing, where there is none. Legal during capture.
bool allocate_workspace(int device, size_t bytes, void** memory, void** event);
void free_workspace(void* memory, void* event);
void record(void* event, mygemmStream_t stream);
bool has_passed(void* event);
void wait_for(void* event, mygemmStream_t stream);
}  // namespace cuda

}  // namespace mygemm
