// The common path of every compute, query and explain call once its problem is built: validate ->
// tighten -> plan -> launch. The problems of all operations go through the same three functions,
// which are all that the files of extern "C" functions call.
#pragma once

#include "context.h"

namespace mygemm {

Status need_handle(const mygemmContext* context);
Status need_result(const char* argument, const void* result);

// tighten -> plan -> launch of a problem that is valid. kernel: receives the name of the kernel
// that was launched.
template <class Problem>
Status launch_planned(const mygemmContext& context, const Problem& given,
                      const PlanOptions& options, const char** kernel);

// The same with the handle's workspace and the kernel that the environment forces.
template <class Problem>
Status compute(const mygemmContext& context, const Problem& given, const char** kernel);

// validate -> steps, and the line in the log. A call that takes more than one launch has steps of
// its own in the place of compute().
template <class Problem>
Status run(const mygemmContext& context, const Problem& given,
           Status (*steps)(const mygemmContext&, const Problem&, const char**) = compute);

// Bytes of workspace that the fastest kernel uses where the workspace is not limited.
template <class Problem>
Status query_workspace(const mygemmContext& context, const Problem& given, size_t* bytes);

// The plan as text, for the handle's device or a named one. See mygemm_explain_sgemm.
template <class Problem>
Status explain_call(const mygemmContext* context, const char* device, const Problem& given,
                    char* text, size_t capacity, size_t* length);

}  // namespace mygemm
