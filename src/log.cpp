// The replayable call log. POSIX files, since one O_APPEND write per line needs no lock.
#include "log.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace mygemm {
namespace {

[[gnu::format(printf, 1, 2)]] std::string print(const char* format, ...) {
  char line[512];
  std::va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  return line;
}

const char* type_name(mygemmDataType_t type) {
  return type == MYGEMM_R_32F ? "f32" : type == MYGEMM_R_16F ? "f16" : "bf16";
}

const char* activation_name(mygemmActivation_t activation) {
  switch (activation) {
    case MYGEMM_ACTIVATION_NONE: break;
    case MYGEMM_ACTIVATION_RELU: return "relu";
    case MYGEMM_ACTIVATION_GELU: return "gelu";
    case MYGEMM_ACTIVATION_RELU_GRADIENT: return "relu-gradient";
    case MYGEMM_ACTIVATION_GELU_GRADIENT: return "gelu-gradient";
  }
  return "none";
}

const char* sums_name(mygemmSums_t sums) {
  return sums == MYGEMM_SUMS_OF_D ? "d" : sums == MYGEMM_SUMS_OF_A ? "a" : "b";
}

long long number(int64_t value) { return static_cast<long long>(value); }

void write_line(int descriptor, const std::string& line) {
  // A full disk must not make a compute call fail.
  [[maybe_unused]] const auto written = ::write(descriptor, line.data(), line.size());
}

void complain_once(const std::string& destination, int reason) {
  static std::atomic<bool> said{false};
  if (said.exchange(true)) return;
  write_line(STDERR_FILENO, "mygemm: MYGEMM_LOG = " + destination +
                                " cannot be opened for appending: " + std::strerror(reason) +
                                "; calls are not logged\n");
}

}  // namespace

// A product of FP32 with nothing but alpha and beta keeps the words of mygemm_sgemm, however it was
// called.
std::string describe(const GemmProblem& p) {
  const char* form = p.pointer_arrays ? "pointers" : p.batch_count > 1 ? "strided" : "single";
  const std::string sizes =
      print("--transa %c --transb %c -m %lld -n %lld -k %lld --lda %lld --ldb %lld --ldc %lld ",
            p.transa ? 'T' : 'N', p.transb ? 'T' : 'N', number(p.m), number(p.n), number(p.k),
            number(p.a.ld), number(p.b.ld), number(p.c.ld));
  const std::string batch =
      print("--batch %lld --stride-a %lld --stride-b %lld --stride-c %lld ", number(p.batch_count),
            number(p.a.stride), number(p.b.stride), number(p.c.stride));
  std::string steps;
  if (p.epilogue.has_aux()) {
    steps += print(" --aux 1 --ldaux %lld --stride-aux %lld", number(p.epilogue.ldaux),
                   number(p.epilogue.stride_aux));
  }
  if (p.sums.of != MYGEMM_SUMS_NONE) {
    steps += print(" --sums %s --stride-sums %lld", sums_name(p.sums.of), number(p.sums.stride));
  }
  if (p.fill != MYGEMM_FILL_FULL) {
    steps += p.fill == MYGEMM_FILL_LOWER ? " --fill lower" : " --fill upper";
  }
  const bool same = p.a.type == p.b.type;
  if (!same || p.a.type != MYGEMM_R_32F) {
    steps += print(" --atype %s", type_name(p.a.type));
    if (!same) steps += print(" --btype %s", type_name(p.b.type));
    steps += print(" --dtype %s", type_name(p.d.type));
  }
  const char* const invariance = p.invariant ? " --invariance batch" : "";
  if (!p.fused && steps.empty()) return "sgemm " + sizes + batch + "--form " + form + invariance;
  return "gemm " + sizes + print("--ldd %lld ", number(p.d.ld)) + batch +
         print(
             "--stride-d %lld --form %s --bias %d --stride-bias %lld --activation %s "
             "--c-is-d %d --reads-c %d",
             number(p.d.stride), form, p.epilogue.bias ? 1 : 0, number(p.epilogue.stride_bias),
             activation_name(p.epilogue.activation), p.in_place() ? 1 : 0,
             p.epilogue.beta.is(0.0f) ? 0 : 1) +
         steps + invariance;
}

// The words of the product with the most of all sizes, and how they differ.
std::string describe(const GroupedProblem& p) {
  const Groups& g = p.groups;
  const std::string product = describe(p.most);
  std::string words = "gemm_grouped" + product.substr(product.find(' '));
  std::string differing;
  const auto add = [&](const char* name, const void* array) {
    if (array) differing += differing.empty() ? name : std::string(",") + name;
  };
  add("m", g.m), add("n", g.n), add("k", g.k);
  if (!differing.empty()) words += " --sizes-of " + differing;
  if (g.stacked != Stacked::kNone) words += print(" --total %lld", number(g.total));
  return words + " --sizes-on " + (g.on_device ? "device" : "host");
}

namespace {

std::string describe(const SoftmaxMasking& m, const SoftmaxProblem& p) {
  std::string words = print(" --scale %.9g", static_cast<double>(p.scale));
  if (m.group_rows > 0) words += print(" --group-rows %lld", number(m.group_rows));
  if (m.batch_groups > 0) words += print(" --batch-groups %lld", number(m.batch_groups));
  if (m.softcap != 0.0f) words += print(" --softcap %.9g", static_cast<double>(m.softcap));
  if (m.softcap != 0.0f && p.backward) {
    words += print(" --capped-xtype %s --capped-ldx %lld", type_name(m.x.type), number(m.x.ld));
  }
  if (m.mask) {
    words += print(" --mask-type %s --mask-strides %lld,%lld,%lld,%lld", type_name(m.mask_type),
                   number(m.mask_strides.batch), number(m.mask_strides.group),
                   number(m.mask_strides.row), number(m.mask_stride_col));
  }
  if (m.causal) words += print(" --causal 1 --causal-offset %lld", number(m.causal_offset));
  if (m.lengths) {
    words +=
        print(" --lengths-type %s --lengths-strides %lld,%lld,%lld",
              m.lengths_type == MYGEMM_INDEX_32I ? "i32" : "i64", number(m.lengths_strides.batch),
              number(m.lengths_strides.group), number(m.lengths_strides.row));
  }
  if (m.empty_rows_are_zero) words += " --empty-rows zero";
  return words;
}

}  // namespace

std::string describe(const SoftmaxProblem& p) {
  std::string line = print("softmax --mode %s --direction %s --rows %lld --cols %lld",
                           p.log_mode() ? "log" : "softmax", p.backward ? "backward" : "forward",
                           number(p.rows), number(p.cols));
  line += print(" --xtype %s --ldx %lld", type_name(p.in.type), number(p.in.ld));
  if (p.backward) line += print(" --dytype %s --lddy %lld", type_name(p.dy.type), number(p.dy.ld));
  line += print(" --ytype %s --ldy %lld", type_name(p.out.type), number(p.out.ld));
  return p.masking ? line + describe(*p.masking, p) : line;
}

std::string describe(const CrossEntropyProblem& p) {
  const bool in_place = p.has_gradient() && p.dx.data == p.x.data;
  std::string line = print("cross_entropy --rows %lld --cols %lld --xtype %s --ldx %lld",
                           number(p.rows), number(p.cols), type_name(p.x.type), number(p.x.ld));
  line += print(" --gradient %s", !p.has_gradient() ? "none" : in_place ? "in-place" : "apart");
  if (p.has_gradient()) {
    line += print(" --dxtype %s --lddx %lld", type_name(p.dx.type), number(p.dx.ld));
    line += print(" --dloss %d --stride-dloss %lld --gradient-scale %.9g", p.dloss ? 1 : 0,
                  number(p.dloss ? p.stride_dloss : 0), static_cast<double>(p.gradient_scale));
  }
  return line + print(" --loss %d --lse %d --target-type %s --label-smoothing %.9g --z-loss %.9g",
                      p.loss ? 1 : 0, p.lse ? 1 : 0,
                      p.target_type == MYGEMM_INDEX_32I ? "i32" : "i64",
                      static_cast<double>(p.label_smoothing), static_cast<double>(p.z_loss));
}

std::string describe(const TransposeProblem& p) {
  return print(
      "transpose --element-size %lld --rows %lld --cols %lld --ldin %lld --ldout %lld "
      "--batch %lld --stride-in %lld --stride-out %lld --in-place %d",
      number(p.element_size), number(p.rows), number(p.cols), number(p.ldin), number(p.ldout),
      number(p.batch_count), number(p.stride_in), number(p.stride_out), p.in_place() ? 1 : 0);
}

CallLog::~CallLog() {
  if (owned_) ::close(descriptor_);
}

void CallLog::open(const std::string& destination) {
  if (destination.empty()) return;
  if (destination == "stderr") {
    descriptor_ = STDERR_FILENO;
    return;
  }
  descriptor_ = ::open(destination.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  owned_ = descriptor_ >= 0;
  if (!owned_) complain_once(destination, errno);
}

void CallLog::set_place(int rank, int device) {
  place_.clear();
  if (rank >= 0) place_ += " rank=" + std::to_string(rank);
  place_ += " device=" + (device >= 0 ? std::to_string(device) : "host");
}

// The process is asked for each time: a handle may be used after fork().
void CallLog::write(const std::string& call, const char* kernel, Status status) const {
  write_line(descriptor_, "mygemm " + call + " # kernel=" + (kernel ? kernel : "none") +
                              " status=" + std::to_string(static_cast<int>(status)) +
                              " process=" + std::to_string(::getpid()) + place_ + "\n");
}

}  // namespace mygemm
