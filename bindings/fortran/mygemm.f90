! mygemm for Fortran: products, softmax, cross entropy and transposes of real(c_float) arrays in
! host memory, or of memory given by address as type(c_ptr), on a device or not; sizes as default or
! 64-bit integers, all of a call alike. Every function returns a status, MYGEMM_STATUS_SUCCESS or
! one that mygemm_last_error() explains. Names, order and meaning of arguments are those of
! mygemm.h.
!
! Arrays are passed as they lie: a section with gaps is copied by the compiler, so on a handle whose
! work is asynchronous give contiguous arrays or device addresses. A handle with the host backend
! takes host arrays, one with the CUDA backend device memory.
!
! CMake: find_package(mygemm COMPONENTS Fortran), target mygemm::fortran. Without it, compile in
! this order: mygemm_abi.f90, mygemm_gemm.f90, mygemm_grouped.f90, mygemm_cross_entropy.f90,
! mygemm_softmax.f90, mygemm_products.f90, mygemm_rows.f90, mygemm_plans.f90, mygemm.f90.
module mygemm
  use, intrinsic :: iso_c_binding, only: c_int, c_null_ptr, c_ptr, c_size_t, c_sizeof
  use mygemm_abi
  use mygemm_general
  use mygemm_groups
  use mygemm_losses
  use mygemm_masked
  use mygemm_products_32
  use mygemm_products_64
  use mygemm_rows_32
  use mygemm_rows_64
  use mygemm_plans_32
  use mygemm_plans_64
  implicit none
  private
  public :: MYGEMM_STATUS_SUCCESS, MYGEMM_STATUS_NOT_INITIALIZED, MYGEMM_STATUS_ALLOC_FAILED, &
    MYGEMM_STATUS_INVALID_VALUE, MYGEMM_STATUS_ARCH_MISMATCH, MYGEMM_STATUS_EXECUTION_FAILED, &
    MYGEMM_STATUS_INTERNAL_ERROR, MYGEMM_STATUS_NOT_SUPPORTED
  public :: MYGEMM_OP_N, MYGEMM_OP_T, MYGEMM_OP_C
  public :: MYGEMM_R_32F, MYGEMM_R_16F, MYGEMM_R_16BF
  public :: MYGEMM_INDEX_32I, MYGEMM_INDEX_64I
  public :: MYGEMM_SOFTMAX_MODE, MYGEMM_LOG_SOFTMAX_MODE
  public :: MYGEMM_EMPTY_ROW_NAN, MYGEMM_EMPTY_ROW_ZERO
  public :: MYGEMM_MATH_DEFAULT, MYGEMM_MATH_STRICT, MYGEMM_MATH_FAST, MYGEMM_MATH_OF_HANDLE
  public :: MYGEMM_INVARIANCE_NONE, MYGEMM_INVARIANCE_BATCH, MYGEMM_INVARIANCE_OF_HANDLE
  public :: MYGEMM_ACTIVATION_NONE, MYGEMM_ACTIVATION_RELU, MYGEMM_ACTIVATION_GELU, &
    MYGEMM_ACTIVATION_RELU_GRADIENT, MYGEMM_ACTIVATION_GELU_GRADIENT
  public :: MYGEMM_SUMS_NONE, MYGEMM_SUMS_OF_D, MYGEMM_SUMS_OF_A, MYGEMM_SUMS_OF_B
  public :: MYGEMM_FILL_FULL, MYGEMM_FILL_LOWER, MYGEMM_FILL_UPPER
  public :: MYGEMM_POINTER_MODE_HOST, MYGEMM_POINTER_MODE_DEVICE
  public :: MYGEMM_BACKEND_AUTO, MYGEMM_BACKEND_CUDA, MYGEMM_BACKEND_HOST
  public :: mygemm_version, mygemm_status_string, mygemm_last_error
  public :: mygemm_create, mygemm_destroy, mygemm_get_backend, mygemm_set_stream, &
    mygemm_get_stream, mygemm_set_workspace, mygemm_get_workspace, mygemm_set_pointer_mode, &
    mygemm_get_pointer_mode, mygemm_set_math_mode, mygemm_get_math_mode, mygemm_set_invariance, &
    mygemm_get_invariance
  public :: mygemm_gemm_t, mygemm_gemm, mygemm_gemm_workspace_size, mygemm_explain_gemm
  public :: mygemm_groups_t, mygemm_gemm_grouped, mygemm_gemm_grouped_workspace_size, &
    mygemm_explain_gemm_grouped
  public :: mygemm_cross_entropy_t, mygemm_cross_entropy, mygemm_cross_entropy_workspace_size, &
    mygemm_explain_cross_entropy
  public :: mygemm_softmax_t, mygemm_softmax_ex, mygemm_softmax_ex_workspace_size, &
    mygemm_explain_softmax_ex
  public :: mygemm_sgemm, mygemm_sgemm_strided_batched, mygemm_sgemm_batched
  public :: mygemm_softmax, mygemm_softmax_backward, mygemm_transpose, &
    mygemm_transpose_strided_batched
  public :: mygemm_sgemm_workspace_size, mygemm_softmax_workspace_size, &
    mygemm_transpose_workspace_size
  public :: mygemm_explain_sgemm, mygemm_explain_softmax, mygemm_explain_softmax_backward, &
    mygemm_explain_transpose

contains

  ! ---- messages ----

  function mygemm_version() result(version)
    integer(c_int) :: version
    version = c_version()
  end function mygemm_version

  function mygemm_status_string(status) result(text)
    integer(c_int), intent(in) :: status
    character(len=:), allocatable :: text
    text = as_text(c_status_string(status))
  end function mygemm_status_string

  ! The sentence of this thread's last refused call.
  function mygemm_last_error() result(text)
    character(len=:), allocatable :: text
    text = as_text(c_last_error())
  end function mygemm_last_error

  ! ---- handles ----

  ! backend: MYGEMM_BACKEND_*; device: a CUDA device's number. Without them: what there is.
  function mygemm_create(handle, backend, device) result(status)
    type(c_ptr), intent(out) :: handle
    integer(c_int), intent(in), optional :: backend, device
    integer(c_int) :: status
    type(mygemm_config) :: config
    config%struct_size = c_sizeof(config)
    config%backend = MYGEMM_BACKEND_AUTO
    config%device = -1
    config%workspace_bytes = -1
    if (present(backend)) config%backend = backend
    if (present(device)) config%device = device
    handle = c_null_ptr
    status = c_create_with_config(handle, config)
  end function mygemm_create

  function mygemm_destroy(handle) result(status)
    type(c_ptr), intent(inout) :: handle
    integer(c_int) :: status
    status = c_destroy(handle)
    if (status == MYGEMM_STATUS_SUCCESS) handle = c_null_ptr
  end function mygemm_destroy

  function mygemm_get_backend(handle, backend) result(status)
    type(c_ptr), intent(in) :: handle
    integer(c_int), intent(out) :: backend
    integer(c_int) :: status
    status = c_get_backend(handle, backend)
  end function mygemm_get_backend

  ! stream: a cudaStream_t.
  function mygemm_set_stream(handle, stream) result(status)
    type(c_ptr), intent(in) :: handle, stream
    integer(c_int) :: status
    status = c_set_stream(handle, stream)
  end function mygemm_set_stream

  function mygemm_get_stream(handle, stream) result(status)
    type(c_ptr), intent(in) :: handle
    type(c_ptr), intent(out) :: stream
    integer(c_int) :: status
    status = c_get_stream(handle, stream)
  end function mygemm_get_stream

  function mygemm_get_workspace(handle, workspace, bytes) result(status)
    type(c_ptr), intent(in) :: handle
    type(c_ptr), intent(out) :: workspace
    integer(c_size_t), intent(out) :: bytes
    integer(c_int) :: status
    status = c_get_workspace(handle, workspace, bytes)
  end function mygemm_get_workspace

  ! Where alpha and beta of products given as addresses lie: MYGEMM_POINTER_MODE_*.
  function mygemm_set_pointer_mode(handle, mode) result(status)
    type(c_ptr), intent(in) :: handle
    integer(c_int), intent(in) :: mode
    integer(c_int) :: status
    status = c_set_pointer_mode(handle, mode)
  end function mygemm_set_pointer_mode

  function mygemm_get_pointer_mode(handle, mode) result(status)
    type(c_ptr), intent(in) :: handle
    integer(c_int), intent(out) :: mode
    integer(c_int) :: status
    status = c_get_pointer_mode(handle, mode)
  end function mygemm_get_pointer_mode

  function mygemm_set_math_mode(handle, mode) result(status)
    type(c_ptr), intent(in) :: handle
    integer(c_int), intent(in) :: mode
    integer(c_int) :: status
    status = c_set_math_mode(handle, mode)
  end function mygemm_set_math_mode

  function mygemm_get_math_mode(handle, mode) result(status)
    type(c_ptr), intent(in) :: handle
    integer(c_int), intent(out) :: mode
    integer(c_int) :: status
    status = c_get_math_mode(handle, mode)
  end function mygemm_get_math_mode

  function mygemm_set_invariance(handle, mode) result(status)
    type(c_ptr), intent(in) :: handle
    integer(c_int), intent(in) :: mode
    integer(c_int) :: status
    status = c_set_invariance(handle, mode)
  end function mygemm_set_invariance

  function mygemm_get_invariance(handle, mode) result(status)
    type(c_ptr), intent(in) :: handle
    integer(c_int), intent(out) :: mode
    integer(c_int) :: status
    status = c_get_invariance(handle, mode)
  end function mygemm_get_invariance
end module mygemm
