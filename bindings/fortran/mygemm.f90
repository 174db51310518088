! mygemm for Fortran: products, softmax and transposes of real(c_float) arrays in host memory, or of
! device memory given as type(c_ptr); sizes as default or as 64-bit integers. Every function returns
! a status, MYGEMM_STATUS_SUCCESS or one that mygemm_last_error() explains.
!
! Arrays are passed as they lie: a section with gaps is copied by the compiler, so on a handle whose
! work is asynchronous give contiguous arrays or device addresses. A handle with the host backend
! takes host arrays, one with the CUDA backend device memory.
module mygemm
  use, intrinsic :: iso_c_binding, only: c_char, c_f_pointer, c_float, c_int, c_int32_t, &
    c_int64_t, c_loc, c_null_ptr, c_ptr, c_size_t, c_sizeof
  use mygemm_abi
  use mygemm_batches, only: mygemm_sgemm_strided_batched
  use mygemm_rows, only: mygemm_softmax, mygemm_transpose
  implicit none
  private
  public :: MYGEMM_STATUS_SUCCESS, MYGEMM_STATUS_NOT_INITIALIZED, MYGEMM_STATUS_ALLOC_FAILED, &
    MYGEMM_STATUS_INVALID_VALUE, MYGEMM_STATUS_ARCH_MISMATCH, MYGEMM_STATUS_EXECUTION_FAILED, &
    MYGEMM_STATUS_INTERNAL_ERROR, MYGEMM_STATUS_NOT_SUPPORTED
  public :: MYGEMM_OP_N, MYGEMM_OP_T, MYGEMM_OP_C
  public :: MYGEMM_MATH_DEFAULT, MYGEMM_MATH_STRICT
  public :: MYGEMM_BACKEND_AUTO, MYGEMM_BACKEND_CUDA, MYGEMM_BACKEND_HOST
  public :: MYGEMM_SOFTMAX_MODE, MYGEMM_LOG_SOFTMAX_MODE
  public :: mygemm_version, mygemm_status_string, mygemm_last_error
  public :: mygemm_create, mygemm_destroy, mygemm_get_backend, mygemm_set_stream, &
    mygemm_set_workspace, mygemm_set_math_mode
  public :: mygemm_sgemm, mygemm_sgemm_strided_batched, mygemm_softmax, mygemm_transpose
  public :: MYGEMM_R_32F, MYGEMM_R_16F, MYGEMM_R_16BF

  ! C = alpha op(A) op(B) + beta C, column-major.
  interface mygemm_sgemm
    module procedure sgemm_arrays, sgemm_arrays_64, sgemm_addresses, sgemm_addresses_64
  end interface mygemm_sgemm

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

  function as_text(c_text) result(text)
    type(c_ptr), intent(in) :: c_text
    character(len=:), allocatable :: text
    character(kind=c_char), pointer :: letters(:)
    integer :: i, length
    interface
      function strlen(string) bind(C, name="strlen") result(length)
        import :: c_ptr, c_size_t
        type(c_ptr), value :: string
        integer(c_size_t) :: length
      end function strlen
    end interface
    length = int(strlen(c_text))
    call c_f_pointer(c_text, letters, [length])
    allocate(character(len=length) :: text)
    do i = 1, length
      text(i:i) = letters(i)
    end do
  end function as_text

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
    if (present(backend)) config%backend = backend
    if (present(device)) config%device = device
    handle = c_null_ptr
    status = c_create(handle, config)
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

  ! workspace: device memory.
  function mygemm_set_workspace(handle, workspace, bytes) result(status)
    type(c_ptr), intent(in) :: handle, workspace
    integer(c_size_t), intent(in) :: bytes
    integer(c_int) :: status
    status = c_set_workspace(handle, workspace, bytes)
  end function mygemm_set_workspace

  function mygemm_set_math_mode(handle, mode) result(status)
    type(c_ptr), intent(in) :: handle
    integer(c_int), intent(in) :: mode
    integer(c_int) :: status
    status = c_set_math_mode(handle, mode)
  end function mygemm_set_math_mode

  ! ---- products ----

  function sgemm_addresses_64(handle, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, &
      ldc) result(status)
    type(c_ptr), intent(in) :: handle, a, b, c
    integer(c_int), intent(in) :: transa, transb
    integer(c_int64_t), intent(in) :: m, n, k, lda, ldb, ldc
    real(c_float), intent(in) :: alpha, beta
    integer(c_int) :: status
    status = c_sgemm(handle, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
  end function sgemm_addresses_64

  function sgemm_addresses(handle, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc) &
      result(status)
    type(c_ptr), intent(in) :: handle, a, b, c
    integer(c_int), intent(in) :: transa, transb
    integer(c_int32_t), intent(in) :: m, n, k, lda, ldb, ldc
    real(c_float), intent(in) :: alpha, beta
    integer(c_int) :: status
    status = c_sgemm(handle, transa, transb, wide(m), wide(n), wide(k), alpha, a, wide(lda), b, &
      wide(ldb), beta, c, wide(ldc))
  end function sgemm_addresses

  function sgemm_arrays_64(handle, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc) &
      result(status)
    type(c_ptr), intent(in) :: handle
    integer(c_int), intent(in) :: transa, transb
    integer(c_int64_t), intent(in) :: m, n, k, lda, ldb, ldc
    real(c_float), intent(in) :: alpha, beta
    real(c_float), intent(in), target, contiguous :: a(..), b(..)
    real(c_float), intent(inout), target, contiguous :: c(..)
    integer(c_int) :: status
    status = c_sgemm(handle, transa, transb, m, n, k, alpha, c_loc(a), lda, c_loc(b), ldb, beta, &
      c_loc(c), ldc)
  end function sgemm_arrays_64

  function sgemm_arrays(handle, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc) &
      result(status)
    type(c_ptr), intent(in) :: handle
    integer(c_int), intent(in) :: transa, transb
    integer(c_int32_t), intent(in) :: m, n, k, lda, ldb, ldc
    real(c_float), intent(in) :: alpha, beta
    real(c_float), intent(in), target, contiguous :: a(..), b(..)
    real(c_float), intent(inout), target, contiguous :: c(..)
    integer(c_int) :: status
    status = c_sgemm(handle, transa, transb, wide(m), wide(n), wide(k), alpha, c_loc(a), &
      wide(lda), c_loc(b), wide(ldb), beta, c_loc(c), wide(ldc))
  end function sgemm_arrays
end module mygemm
