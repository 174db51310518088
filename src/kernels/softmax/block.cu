// Softmax of rows of medium length: the registers of a block hold a row, which is read once.
#include "kernels/launch.h"
#include "kernels/softmax/block.cuh"
#include "kernels/softmax/kernels.h"
#include "ptx/shared.cuh"

namespace mygemm {
namespace {

// Combines the parts of all threads; every thread gets the result.
template <class Total>
__device__ __forceinline__ MaxTotal<Total> block_merge(const Scale& scale, const MaxSum& part,
                                                       BlockStorage& shared) {
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  const MaxTotal<Total> of_warp = warp_merge<Total>(scale, part);
  if (lane == 0) {
    shared.maximum[warp] = of_warp.maximum;
    shared.sum[warp] = static_cast<float>(of_warp.sum);
  }
  __syncthreads();  // every warp's part is there
  return warp_merge<Total>(scale, lane < warps ? MaxSum{shared.maximum[lane], shared.sum[lane]}
                                               : MaxSum{-INFINITY, 0.0f});
}

template <class Format, int kPacks, class Place>
__device__ __forceinline__ void backward_row(const SoftmaxProblem& p, int64_t r, const Place& at,
                                             int shift, BlockStorage& shared) {
  Packs<Format, kPacks> y, dy;
  load(y, address_of<Format>(p.in, r, -shift), p.in.type, at, 0.0f);
  load(dy, address_of<Format>(p.dy, r, -shift), p.dy.type, at, 0.0f);
  gradients(p, y, dy, block_reduce<Sum>(gradient_sum(p, y, dy), shared.sum));
  store(dy, address_of<Format>(p.out, r, -shift), p.out.type, at);
}

// Blocks per multiprocessor for which the compiler limits the registers: with at most four packs a
// thread, three of 512 threads; eight packs and gradients need more registers, on sm_75 all that
// there are. (With two blocks of 1024 threads a thread has 32 registers, and the compiler spills.)
template <int kPacks, bool kBackward, int kMostThreads>
__device__ __host__ constexpr int blocks_per_sm() {
#if defined(__CUDA_ARCH__)
  constexpr bool kMany = kPacks >= kBlockManyPacks || kBackward;
  constexpr int kRegisterBlocks = kMostThreads > kBlockFewThreads ? 1
                                  : !kMany                        ? 3
                                  : __CUDA_ARCH__ < 800           ? 1
                                                                  : 2;
  return residency(sm_resources(__CUDA_ARCH__ / 10), kMostThreads,
                   static_cast<int>(sizeof(BlockStorage)), kRegisterBlocks);
#else
  return 1;
#endif
}

template <class Format, int kPacks, bool kRagged, bool kBackward, int kMostThreads>
__global__ void __launch_bounds__(kMostThreads, (blocks_per_sm<kPacks, kBackward, kMostThreads>()))
    softmax_block(const SoftmaxProblem p) {
  auto& shared = shared_storage<BlockStorage>();
  const int first = static_cast<int>(threadIdx.x), stride = static_cast<int>(blockDim.x);
  const int cols = static_cast<int>(p.cols);
  for (int64_t r = blockIdx.x; r < p.rows; r += gridDim.x) {
    const auto work = [&](const auto& at, int shift) {
      if constexpr (kBackward) {
        backward_row<Format, kPacks>(p, r, at, shift, shared);
      } else {
        forward_row<Format, kPacks>(p, r, at, shift, [&](const Scale& scale, const MaxSum& part) {
          return block_merge<typename Format::Total>(scale, part, shared);
        });
      }
    };
    if constexpr (kRagged) {
      const int shift = shift_of<Format>(p.out, r);
      work(RaggedPlace<Format::kPack>{first, stride, shift, shift + cols}, shift);
    } else {
      work(WholePlace<kPacks - 1>{first, stride, cols / Format::kPack, true}, 0);
    }
    if (gridDim.x < p.rows) __syncthreads();  // the parts are read before the next row's come
  }
}

template <class Format, int kPacks, bool kRagged, bool kBackward>
Status launch_threads(const SoftmaxProblem& p, const SoftmaxConfig& config,
                      const LaunchContext& context) {
  constexpr int kMany = kBlockManyThreads;
  const auto run = [&](auto kernel) {
    return launch(context, kernel, static_cast<unsigned>(config.blocks), config.threads,
                  config.shared_bytes, p);
  };
  constexpr bool k16Bit = Format::kWidest == 2;
  if constexpr (kBackward || (kPacks == kBlockManyPacks && !k16Bit)) {
    if (config.threads > kBlockFewThreads) {
      return run(softmax_block<Format, kPacks, kRagged, kBackward, kMany>);
    }
  }
  return run(softmax_block<Format, kPacks, kRagged, kBackward, kBlockFewThreads>);
}

template <class Format, bool kRagged, bool kBackward>
Status launch_packs(const SoftmaxProblem& p, const SoftmaxConfig& config,
                    const LaunchContext& context) {
  switch (config.block.packs) {
    case 1: return launch_threads<Format, 1, kRagged, kBackward>(p, config, context);
    case 2: return launch_threads<Format, 2, kRagged, kBackward>(p, config, context);
    case 3: return launch_threads<Format, 3, kRagged, kBackward>(p, config, context);
    case 4: return launch_threads<Format, 4, kRagged, kBackward>(p, config, context);
  }
  if constexpr (kBackward) return MYGEMM_STATUS_INTERNAL_ERROR;  // not a shape of gradients
  return launch_threads<Format, kBlockManyPacks, kRagged, false>(p, config, context);
}

}  // namespace

Status cuda::launch_softmax_block(const SoftmaxProblem& p, const SoftmaxConfig& config,
                                  const LaunchContext& context) {
  if (config.shape.layout == Layout::kAny) {
    constexpr int kPacks = kBlockManyPacks;
    return p.backward ? launch_threads<MixedElements, kPacks, true, true>(p, config, context)
                      : launch_threads<MixedElements, kPacks, true, false>(p, config, context);
  }
  return with_packs(config.shape.widths, [&](auto format) {
    using Format = decltype(format);
    const auto run = [&](auto ragged) {
      constexpr bool kRagged = decltype(ragged)::value;
      return p.backward ? launch_packs<Format, kRagged, true>(p, config, context)
                        : launch_packs<Format, kRagged, false>(p, config, context);
    };
    return config.shape.layout == Layout::kPacks ? run(std::false_type{}) : run(std::true_type{});
  });
}

}  // namespace mygemm
