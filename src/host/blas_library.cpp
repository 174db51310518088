// See blas_library.h.
//
// Where the process has loaded no BLAS, the libraries are tried in this order:
//   libopenblas.so.0  OpenBLAS       libblis.so.4    BLIS       libmkl_rt.so.2  oneMKL
//   libcblas.so.3     ATLAS          libblas.so.3    the distribution's choice
#include "host/blas_library.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "host/host.h"
#include "host/thread_pool.h"

namespace mygemm::host {
namespace {

struct Symbol {
  void* address = nullptr;
  const char* file = "";  // of the library that defines it
};

Symbol find_symbol(void* library, const char* name) {
  void* const address = dlsym(library, name);
  Dl_info found{};
  if (address == nullptr || dladdr(address, &found) == 0) return {};
  return {address, found.dli_fname};
}

// A drop-in BLAS built on mygemm, which may be installed as libblas.so.3, or mygemm itself.
bool is_ours(void* library, const char* file) {
  static const char address_in_this_library = 0;
  Dl_info self{};
  if (dladdr(&address_in_this_library, &self) == 0) return true;
  return std::strcmp(file, self.dli_fname) == 0 || dlsym(library, "mygemm_version") != nullptr;
}

// The reference's CBLAS has this flag for its XERBLA, as FlexiBLAS has, which passes calls on.
bool is_reference(void* library) {
  return dlsym(library, "RowMajorStrg") != nullptr &&
         dlsym(library, "flexiblas_set_num_threads") == nullptr;
}

enum class Kind { kNoBlas, kOurs, kUsable, kUnusable };

// `file`: the library's own, where symbols of the libraries that it needs do not count.
Kind kind_of(void* library, const char* file, BlasLibrary* result) {
  const Symbol sgemm = find_symbol(library, "sgemm_");
  const Symbol cblas = find_symbol(library, "cblas_sgemm");
  const bool has_sgemm = sgemm.address != nullptr && (!file || !std::strcmp(sgemm.file, file));
  const bool has_cblas = cblas.address != nullptr && (!file || !std::strcmp(cblas.file, file));
  if (!has_sgemm && !has_cblas) return Kind::kNoBlas;
  if (is_ours(library, has_sgemm ? sgemm.file : cblas.file)) return Kind::kOurs;
  if (!has_sgemm || cblas.address == nullptr || is_reference(library)) return Kind::kUnusable;
  const char* const slash = std::strrchr(sgemm.file, '/');
  *result = {slash ? slash + 1 : sgemm.file, reinterpret_cast<FortranSgemm>(sgemm.address),
             dlsym(library, "GOMP_parallel") != nullptr};
  return Kind::kUsable;
}

// All but the program itself, whose own functions may be made of calls of this library.
std::vector<std::string> loaded_libraries() {
  std::vector<std::string> names;
  const auto add = [](dl_phdr_info* info, size_t, void* list) {
    if (info->dlpi_name != nullptr && std::strchr(info->dlpi_name, '/') != nullptr) {
      static_cast<std::vector<std::string>*>(list)->emplace_back(info->dlpi_name);
    }
    return 0;
  };
  dl_iterate_phdr(add, &names);
  return names;
}

// True where one decides: `result` is it, or nothing where it is not usable.
bool find_loaded(BlasLibrary* result) {
  for (const std::string& name : loaded_libraries()) {
    void* const library = dlopen(name.c_str(), RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
    if (library == nullptr) continue;
    const Kind kind = kind_of(library, name.c_str(), result);
    if (kind == Kind::kUsable) return true;  // kept open
    dlclose(library);
    if (kind == Kind::kUnusable) return true;
  }
  return false;
}

// OpenBLAS takes all processors. Another process of the job may want some.
void limit_threads(void* library) {
  const auto get = reinterpret_cast<int (*)()>(dlsym(library, "openblas_get_num_threads"));
  const auto set = reinterpret_cast<void (*)(int)>(dlsym(library, "openblas_set_num_threads"));
  if (get != nullptr && set != nullptr && get() == num_processors() && num_threads() < get()) {
    set(num_threads());
  }
}

BlasLibrary load_one() {
  // OpenBLAS ends the process where it cannot start its threads.
  if (!can_start_threads(num_processors() - 1)) return {};
  for (const char* name :
       {"libopenblas.so.0", "libblis.so.4", "libmkl_rt.so.2", "libcblas.so.3", "libblas.so.3"}) {
    // Local: its names must not become those of the program we are loaded into.
    void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) continue;
    BlasLibrary result;
    if (kind_of(library, nullptr, &result) == Kind::kUsable) {
      limit_threads(library);
      return result;  // kept open: its threads live on
    }
    dlclose(library);
  }
  return {};
}

}  // namespace

BlasLibrary find_blas_library() {
  BlasLibrary result;
  return find_loaded(&result) ? result : load_one();
}

}  // namespace mygemm::host
