// gpu.h for a build without CUDA: there is no device, and asking one for anything is an error.
#include <stdexcept>

#include "gpu.h"

namespace bench::gpu {
namespace {

[[noreturn]] void refuse() {
  throw std::runtime_error("this mygemm-bench was built without CUDA: use --backend host");
}

}  // namespace

bool available() { return false; }
void initialise() { refuse(); }
Info info() { refuse(); }
int64_t free_memory() { refuse(); }
mygemmStream_t stream() { return nullptr; }
void synchronise() { refuse(); }
void* allocate(size_t) { refuse(); }
void release(void*) noexcept {}
void copy_to_host(void*, const void*, size_t) { refuse(); }
void copy_to_device(void*, const void*, size_t) { refuse(); }
void copy_on_device(void*, const void*, size_t) { refuse(); }
void fill_bytes(void*, int, size_t) { refuse(); }
void fill_random(void*, mygemmDataType_t, int64_t, uint32_t) { refuse(); }
double time_stream(const std::function<void()>&, const std::function<void()>&) { refuse(); }

Graph::Graph(const std::function<void()>&) { refuse(); }
Graph::~Graph() = default;
void Graph::launch() const { refuse(); }

}  // namespace bench::gpu
