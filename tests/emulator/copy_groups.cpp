// Emulator of the CUDA runtime: copies that are made at once or late. See copy_groups.h.
#include "copy_groups.h"

#include <algorithm>
#include <cstring>

#include "execution.h"

namespace emulator {

void CopyGroups::perform(const Copy& copy) {
  if (copy.from && copy.bytes == 4) {
    std::memcpy(copy.to, copy.from, 4);  // without a call
  } else if (copy.from && copy.bytes == 16) {
    std::memcpy(copy.to, copy.from, 16);
  } else if (copy.from) {
    std::memcpy(copy.to, copy.from, copy.bytes);
  } else {
    std::memset(copy.to, 0, copy.bytes);
  }
}

void CopyGroups::start(void* to, const void* from, size_t bytes) {
  const Copy copy{to, from, bytes, committed_};
  if (random_number() % 2 == 0) {
    perform(copy);
  } else {
    pending_.push_back(copy);
  }
}

void CopyGroups::finish(int pending_groups) {
  const int groups_done = committed_ - pending_groups;
  const auto not_awaited = std::find_if(pending_.begin(), pending_.end(), [&](const Copy& copy) {
    return copy.group >= groups_done;
  });
  std::for_each(pending_.begin(), not_awaited, perform);
  pending_.erase(pending_.begin(), not_awaited);
}

}  // namespace emulator
