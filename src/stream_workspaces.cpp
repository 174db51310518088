// See stream_workspaces.h.
#include "stream_workspaces.h"

namespace mygemm {

StreamWorkspaces::~StreamWorkspaces() {
  for (int i = 0; i < count_; ++i) cuda::free_workspace(slots_[i].memory, slots_[i].last_use);
}

void StreamWorkspaces::use(mygemmStream_t stream) {
  const bool is_captured = cuda::is_capturing(stream);
  const unsigned long long number = is_captured ? 0 : cuda::stream_number(stream);
  current_ = is_captured ? slot_of_graphs(stream) : slot_of(number);
  if (!current_) current_ = new_slot(stream, is_captured);
  if (!current_) return;
  current_->stream = stream;
  if (!is_captured) current_->number = number;
}

// The first stream's work is marked by an event only once there are others: most handles have one
// stream, and an event costs half a microsecond.
void StreamWorkspaces::mark_used(mygemmStream_t stream) {
  if (!current_) return;
  current_->turn = ++turn_;
  if (cuda::is_capturing(stream)) {
    current_->in_a_graph = true;
  } else if (count_ > 1) {
    cuda::record(current_->last_use, stream);
    current_->last_use_known = true;
  } else {
    current_->last_use_known = false;
  }
}

StreamWorkspaces::Slot* StreamWorkspaces::slot_of(unsigned long long number) {
  for (int i = 0; i < count_; ++i) {
    if (slots_[i].number == number) return &slots_[i];
  }
  return nullptr;
}

// The current slot where the stream stays the same, whatever has used it.
StreamWorkspaces::Slot* StreamWorkspaces::slot_of_graphs(mygemmStream_t stream) {
  if (current_ && current_->stream == stream) return current_;
  for (int i = 0; i < count_; ++i) {
    if (slots_[i].in_a_graph && slots_[i].stream == stream) return &slots_[i];
  }
  return nullptr;
}

StreamWorkspaces::Slot* StreamWorkspaces::new_slot(mygemmStream_t stream, bool is_captured) {
  if (count_ == kMost) return slot_of_another(stream, is_captured);
  Slot* slot = &slots_[count_];
  if (!cuda::allocate_workspace(device_, bytes_, &slot->memory, &slot->last_use)) return nullptr;
  ++count_;
  return slot;
}

// A slot whose last use has ended; else the stream waits for the one used least recently, which a
// stream that is being captured cannot.
StreamWorkspaces::Slot* StreamWorkspaces::slot_of_another(mygemmStream_t stream, bool is_captured) {
  Slot* found = nullptr;
  for (Slot& slot : slots_) {
    const bool unused = slot.turn == 0;
    if (slot.in_a_graph || (!unused && !slot.last_use_known)) continue;
    if (unused || cuda::has_passed(slot.last_use)) {
      slot.number = 0;
      return &slot;
    }
    if (!found || slot.turn < found->turn) found = &slot;
  }
  if (!found || is_captured) return nullptr;
  cuda::wait_for(found->last_use, stream);
  return found;
}

}  // namespace mygemm
