// Makes the list of a group's products: see list.h.
#include <cstring>

#include "kernels/grouped/list.cuh"
#include "ptx/grid.cuh"
#include "ptx/shared.cuh"

namespace mygemm::grouped {
namespace {

constexpr int kThreads = 256;

// Sums of the values of the threads before this one; *total: of all. Every thread calls.
__device__ int64_t sum_before(int64_t (&shared)[kThreads], int64_t value, int64_t* total) {
  const auto thread = static_cast<int>(threadIdx.x);
  __syncthreads();  // the values of the call before have been read
  shared[thread] = value;
  for (int step = 1; step < kThreads; step *= 2) {
    __syncthreads();
    const int64_t other = thread >= step ? shared[thread - step] : 0;
    __syncthreads();
    shared[thread] += other;
  }
  __syncthreads();
  *total = shared[kThreads - 1];
  return shared[thread] - value;
}

__device__ Product make_product(const GroupedProblem& p, int64_t i, const ProductSizes& sizes) {
  const GemmProblem q = product_of(p, i, sizes);
  const auto matrix = [](const Operand& x) {
    return Product::Matrix{x.pointers ? *x.pointers : x.data, x.ld};
  };
  Product product = {q.m, q.n, q.k, sizes.before, {}, {}, {}, matrix(q.d), q.epilogue.bias};
  if (!p.most.scales_only()) product.a = matrix(q.a), product.b = matrix(q.b);
  if (!p.most.epilogue.beta.is(0.0f)) product.c = matrix(q.c);
  return product;
}

__global__ void __launch_bounds__(kThreads)
    list_products(const __grid_constant__ GroupedProblem p, const Tiling tiling, Product* products,
                  int64_t* tiles, unsigned* next) {
  auto& sums = shared_storage<int64_t[kThreads]>();
  ptx::launch_dependents();
  ptx::wait_for_previous_grid();
  int64_t sizes_before = 0, tiles_before = 0;
  const int64_t count = p.most.batch_count;
  for (int64_t first = 0; first < count; first += kThreads) {
    const int64_t i = first + threadIdx.x;
    const bool valid = i < count;
    int64_t total = 0;
    // With a sum of 0 the size itself is not cut off at the total.
    const int64_t own = valid ? stacked_size(p, sizes_of(p, i, 0)) : 0;
    const int64_t before = sizes_before + sum_before(sums, own, &total);
    sizes_before += total;
    const Product product = valid ? make_product(p, i, sizes_of(p, i, before)) : Product{};
    const int64_t own_tiles = valid ? tiling.tiles_m(product) * tiling.tiles_n(product) : 0;
    const int64_t earlier = tiles_before + sum_before(sums, own_tiles, &total);
    tiles_before += total;
    if (valid) {
      products[i] = product;
      tiles[i] = earlier;
    }
  }
  if (threadIdx.x == 0) {
    tiles[count] = tiles_before;
    *next = 0;
  }
}

// Host memory comes to the device as the arguments of kernels: no copy that waits, and legal in a
// graph.
struct Words {
  static constexpr int kCount = 480;  // 3840 bytes of the 4 KiB that any driver takes

  int64_t words[kCount];
};

__global__ void __launch_bounds__(Words::kCount)
    write_words(const __grid_constant__ Words from, int64_t* to, const int count) {
  ptx::launch_dependents();
  ptx::wait_for_previous_grid();
  if (static_cast<int>(threadIdx.x) < count) to[threadIdx.x] = from.words[threadIdx.x];
}

// Copies an array of `count` elements of `bytes` bytes to `to`, and moves on behind it.
Status copy_array(const void** array, int64_t count, int64_t bytes, int64_t** to,
                  const LaunchContext& context) {
  if (!*array) return MYGEMM_STATUS_SUCCESS;
  const auto* from = static_cast<const char*>(*array);
  *array = *to;
  constexpr int64_t kWord = sizeof(int64_t);
  for (int64_t left = count * bytes; left > 0; left -= Words::kCount * kWord) {
    const int64_t now = std::min(left, Words::kCount * kWord);
    Words words = {};
    std::memcpy(words.words, from, static_cast<size_t>(now));
    const auto used = static_cast<int>(ceil_div(now, kWord));
    LaunchShape shape;
    shape.threads = Words::kCount;
    shape.may_overlap = true;
    RETURN_IF_ERROR(launch(context, write_words, shape, words, *to, used));
    from += now;
    *to += used;
  }
  return MYGEMM_STATUS_SUCCESS;
}

}  // namespace

Status launch_list(const GroupedProblem& given, const Tiling& tiling, const LaunchContext& context,
                   ProductList* list) {
  GroupedProblem p = given;
  const int64_t count = p.most.batch_count;
  auto* const products = static_cast<Product*>(context.workspace);
  auto* const tiles = reinterpret_cast<int64_t*>(products + count);
  auto* const next = reinterpret_cast<unsigned*>(tiles + count + 1);
  Groups& g = p.groups;
  if (!g.on_device) {
    int64_t* to = tiles + count + 2;
    for (const void** array : {&g.m, &g.n, &g.k, &g.lda, &g.ldb, &g.ldc, &g.ldd}) {
      RETURN_IF_ERROR(copy_array(array, count, index_bytes(g.type), &to, context));
    }
  }
  LaunchShape shape;
  shape.threads = kThreads;
  shape.shared_bytes = kThreads * sizeof(int64_t);
  shape.may_overlap = true;
  RETURN_IF_ERROR(launch(context, list_products, shape, p, tiling, products, tiles, next));
  *list = {products, tiles, next, static_cast<int>(count), tiling};
  return MYGEMM_STATUS_SUCCESS;
}

}  // namespace mygemm::grouped
