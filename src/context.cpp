// Makes and describes handles.
#include "context.h"

#include <cstddef>
#include <cstdio>
#include <memory>
#include <new>

#include "host/host.h"
#include "validate.h"

namespace mygemm {
namespace {

// Rates of a host, for the estimates only: those of two cores of a current server. The choice
// between host kernels does not depend on them: all estimates scale alike.
constexpr double kHostFlopsPerThread = 60e9;
constexpr double kHostBandwidth = 20e9;

// The fields that the caller knows; the rest keep their defaults.
Status read_config(const mygemmConfig_t* config, mygemmConfig_t* known) {
  *known = MYGEMM_CONFIG_INIT;
  if (!config) return MYGEMM_STATUS_SUCCESS;
  // Callers of the first version end before workspace_bytes.
  constexpr size_t kFirst = offsetof(mygemmConfig_t, workspace_bytes);
  const bool first = config->struct_size == kFirst;
  RETURN_IF_ERROR(
      check_struct("config", "MYGEMM_CONFIG_INIT", config, first ? kFirst : sizeof *config));
  known->backend = config->backend;
  known->device = config->device;
  if (!first) known->workspace_bytes = config->workspace_bytes;
  if (known->backend < MYGEMM_BACKEND_AUTO || known->backend > MYGEMM_BACKEND_HOST) {
    return fail(MYGEMM_STATUS_INVALID_VALUE, "config->backend = %d is not a mygemmBackend_t",
                known->backend);
  }
  if (known->device < -1) {
    return fail(MYGEMM_STATUS_INVALID_VALUE,
                "config->device = %d is neither a device ordinal nor -1", known->device);
  }
  if (known->workspace_bytes < -1) {
    return fail(MYGEMM_STATUS_INVALID_VALUE,
                "config->workspace_bytes = %lld is neither a number of bytes nor -1",
                static_cast<long long>(known->workspace_bytes));
  }
  return MYGEMM_STATUS_SUCCESS;
}

// Chooses a backend and fills the context's device.
Status choose_device(const mygemmConfig_t& config, mygemmContext* context) {
  const int backend =
      config.backend == MYGEMM_BACKEND_AUTO ? context->environment.backend : config.backend;
  const int devices = backend == MYGEMM_BACKEND_HOST ? 0 : cuda::device_count();
  if (devices == 0) {
    if (backend == MYGEMM_BACKEND_CUDA) {
      return fail(MYGEMM_STATUS_NOT_INITIALIZED,
                  "the CUDA backend was asked for, but there is no usable CUDA device here");
    }
    // A device that is named is asked for, unless the host is.
    if (backend == MYGEMM_BACKEND_AUTO && config.device >= 0) {
      return fail(MYGEMM_STATUS_NOT_INITIALIZED,
                  "config->device = %d, but there is no usable CUDA device here", config.device);
    }
    context->ordinal = -1;
    context->device = host_traits();
    return MYGEMM_STATUS_SUCCESS;
  }
  if (config.device >= devices) {
    return fail(MYGEMM_STATUS_INVALID_VALUE, "config->device = %d, but there are %d CUDA devices",
                config.device, devices);
  }
  context->ordinal = config.device;
  if (config.device < 0) RETURN_IF_ERROR(cuda::current_device(&context->ordinal));
  return cuda::read_traits(context->ordinal, &context->device);
}

}  // namespace

Status create_context(const mygemmConfig_t* config, mygemmContext** result) {
  mygemmConfig_t known;
  RETURN_IF_ERROR(read_config(config, &known));
  std::unique_ptr<mygemmContext> context(new (std::nothrow) mygemmContext{});
  if (!context) return fail(MYGEMM_STATUS_ALLOC_FAILED, "no host memory for a handle");
  RETURN_IF_ERROR(read_environment(&context->environment));
  context->log.open(context->environment.log);
  const Place& place = place_of_process();
  host::share_node(place.local_size, place.processors);
  RETURN_IF_ERROR(choose_device(known, context.get()));
  context->log.set_place(place.rank, context->ordinal);
  context->own_workspace_bytes =
      known.workspace_bytes < 0 ? kOwnWorkspaceBytes : static_cast<size_t>(known.workspace_bytes);
  if (!context->on_host() && context->own_workspace_bytes > 0) {
    context->own_workspaces =
        std::make_unique<StreamWorkspaces>(context->ordinal, context->own_workspace_bytes);
    context->find_own_workspace();
  }
  context->pointer_mode = MYGEMM_POINTER_MODE_HOST;
  context->math_mode = context->environment.math;
  context->invariance = context->environment.invariance;
  *result = context.release();
  return MYGEMM_STATUS_SUCCESS;
}

namespace {
const char* name_or_null(const std::string& name) { return name.empty() ? nullptr : name.c_str(); }
}  // namespace

const char* forced_kernel(const Environment& e, const GemmProblem&) {
  return name_or_null(e.force_gemm);
}
const char* forced_kernel(const Environment& e, const GroupedProblem&) {
  return name_or_null(e.force_grouped);
}
const char* forced_kernel(const Environment& e, const SoftmaxProblem&) {
  return name_or_null(e.force_softmax);
}
const char* forced_kernel(const Environment& e, const CrossEntropyProblem&) {
  return name_or_null(e.force_cross_entropy);
}
const char* forced_kernel(const Environment& e, const TransposeProblem&) {
  return name_or_null(e.force_transpose);
}

DeviceTraits host_traits() {
  DeviceTraits traits{};
  const char* cblas = host::find_cblas();
  std::snprintf(traits.name, sizeof traits.name, "host (%s)", cblas ? cblas : "no CBLAS found");
  traits.num_sms = host::num_threads();
  traits.fp32_flops = kHostFlopsPerThread * traits.num_sms;
  traits.memory_bandwidth = kHostBandwidth;
  traits.has_cblas = cblas != nullptr;
  return traits;
}

#if !defined(MYGEMM_WITH_CUDA)
namespace cuda {
int device_count() { return 0; }
Status current_device(int*) {
  return fail(MYGEMM_STATUS_NOT_SUPPORTED, "this build has no CUDA backend");
}
Status read_traits(int, DeviceTraits*) {
  return fail(MYGEMM_STATUS_NOT_SUPPORTED, "this build has no CUDA backend");
}
unsigned long long stream_number(mygemmStream_t) { return 0; }
bool is_capturing(mygemmStream_t) { return false; }
bool allocate_workspace(int, size_t, void**, void**) { return false; }
void free_workspace(void*, void*) {}
void record(void*, mygemmStream_t) {}
bool has_passed(void*) { return true; }
void wait_for(void*, mygemmStream_t) {}
}  // namespace cuda
#endif

}  // namespace mygemm
