! The C interface of mygemm as it is: constants, and the functions behind the generic names of the
! module mygemm, which alone programs use. include/mygemm/mygemm.h says what each does.
module mygemm_abi
  use, intrinsic :: iso_c_binding, only: c_char, c_f_pointer, c_float, c_int, c_int32_t, &
    c_int64_t, c_null_char, c_ptr, c_size_t
  implicit none
  public

  ! Status of a call.
  integer(c_int), parameter :: MYGEMM_STATUS_SUCCESS = 0, MYGEMM_STATUS_NOT_INITIALIZED = 1, &
    MYGEMM_STATUS_ALLOC_FAILED = 3, MYGEMM_STATUS_INVALID_VALUE = 7, &
    MYGEMM_STATUS_ARCH_MISMATCH = 8, MYGEMM_STATUS_EXECUTION_FAILED = 13, &
    MYGEMM_STATUS_INTERNAL_ERROR = 14, MYGEMM_STATUS_NOT_SUPPORTED = 15
  ! op(X) in a product.
  integer(c_int), parameter :: MYGEMM_OP_N = 0, MYGEMM_OP_T = 1, MYGEMM_OP_C = 2
  ! Types of elements.
  integer(c_int), parameter :: MYGEMM_R_32F = 0, MYGEMM_R_16F = 2, MYGEMM_R_16BF = 14
  ! Types of class numbers and lengths.
  integer(c_int), parameter :: MYGEMM_INDEX_32I = 10, MYGEMM_INDEX_64I = 24
  ! Results of rows of which no element is left.
  integer(c_int), parameter :: MYGEMM_EMPTY_ROW_NAN = 0, MYGEMM_EMPTY_ROW_ZERO = 1
  ! Not MYGEMM_SOFTMAX as in C: Fortran's names have no case, and that is a function.
  integer(c_int), parameter :: MYGEMM_SOFTMAX_MODE = 0, MYGEMM_LOG_SOFTMAX_MODE = 1
  integer(c_int), parameter :: MYGEMM_MATH_DEFAULT = 0, MYGEMM_MATH_STRICT = 1, &
    MYGEMM_MATH_FAST = 2
  integer(c_int), parameter :: MYGEMM_MATH_OF_HANDLE = -1
  integer(c_int), parameter :: MYGEMM_INVARIANCE_NONE = 0, MYGEMM_INVARIANCE_BATCH = 1
  integer(c_int), parameter :: MYGEMM_INVARIANCE_OF_HANDLE = -1
  integer(c_int), parameter :: MYGEMM_ACTIVATION_NONE = 0, MYGEMM_ACTIVATION_RELU = 1, &
    MYGEMM_ACTIVATION_GELU = 2, MYGEMM_ACTIVATION_RELU_GRADIENT = 3, &
    MYGEMM_ACTIVATION_GELU_GRADIENT = 4
  integer(c_int), parameter :: MYGEMM_SUMS_NONE = 0, MYGEMM_SUMS_OF_D = 1, MYGEMM_SUMS_OF_A = 2, &
    MYGEMM_SUMS_OF_B = 3
  integer(c_int), parameter :: MYGEMM_FILL_FULL = 0, MYGEMM_FILL_LOWER = 1, MYGEMM_FILL_UPPER = 2
  integer(c_int), parameter :: MYGEMM_POINTER_MODE_HOST = 0, MYGEMM_POINTER_MODE_DEVICE = 1
  integer(c_int), parameter :: MYGEMM_BACKEND_AUTO = 0, MYGEMM_BACKEND_CUDA = 1, &
    MYGEMM_BACKEND_HOST = 2

  ! mygemmConfig_t
  type, bind(C) :: mygemm_config
    integer(c_size_t) :: struct_size
    integer(c_int32_t) :: backend, device
    integer(c_int64_t) :: workspace_bytes
  end type mygemm_config

  interface
    function c_version() bind(C, name="mygemm_version") result(version)
      import :: c_int
      integer(c_int) :: version
    end function c_version

    function c_status_string(status) bind(C, name="mygemm_status_string") result(text)
      import :: c_int, c_ptr
      integer(c_int), value :: status
      type(c_ptr) :: text
    end function c_status_string

    function c_last_error() bind(C, name="mygemm_last_error") result(text)
      import :: c_ptr
      type(c_ptr) :: text
    end function c_last_error

    function c_create_with_config(handle, config) bind(C, name="mygemm_create_with_config") &
        result(status)
      import :: c_int, c_ptr, mygemm_config
      type(c_ptr), intent(out) :: handle
      type(mygemm_config), intent(in) :: config
      integer(c_int) :: status
    end function c_create_with_config

    function c_destroy(handle) bind(C, name="mygemm_destroy") result(status)
      import :: c_int, c_ptr
      type(c_ptr), value :: handle
      integer(c_int) :: status
    end function c_destroy

    function c_get_backend(handle, backend) bind(C, name="mygemm_get_backend") result(status)
      import :: c_int, c_ptr
      type(c_ptr), value :: handle
      integer(c_int), intent(out) :: backend
      integer(c_int) :: status
    end function c_get_backend

    function c_set_stream(handle, stream) bind(C, name="mygemm_set_stream") result(status)
      import :: c_int, c_ptr
      type(c_ptr), value :: handle, stream
      integer(c_int) :: status
    end function c_set_stream

    function c_get_stream(handle, stream) bind(C, name="mygemm_get_stream") result(status)
      import :: c_int, c_ptr
      type(c_ptr), value :: handle
      type(c_ptr), intent(out) :: stream
      integer(c_int) :: status
    end function c_get_stream

    function c_set_workspace(handle, workspace, bytes) bind(C, name="mygemm_set_workspace") &
        result(status)
      import :: c_int, c_ptr, c_size_t
      type(c_ptr), value :: handle, workspace
      integer(c_size_t), value :: bytes
      integer(c_int) :: status
    end function c_set_workspace

    function c_get_workspace(handle, workspace, bytes) bind(C, name="mygemm_get_workspace") &
        result(status)
      import :: c_int, c_ptr, c_size_t
      type(c_ptr), value :: handle
      type(c_ptr), intent(out) :: workspace
      integer(c_size_t), intent(out) :: bytes
      integer(c_int) :: status
    end function c_get_workspace

    function c_set_pointer_mode(handle, mode) bind(C, name="mygemm_set_pointer_mode") &
        result(status)
      import :: c_int, c_ptr
      type(c_ptr), value :: handle
      integer(c_int), value :: mode
      integer(c_int) :: status
    end function c_set_pointer_mode

    function c_get_pointer_mode(handle, mode) bind(C, name="mygemm_get_pointer_mode") &
        result(status)
      import :: c_int, c_ptr
      type(c_ptr), value :: handle
      integer(c_int), intent(out) :: mode
      integer(c_int) :: status
    end function c_get_pointer_mode

    function c_set_math_mode(handle, mode) bind(C, name="mygemm_set_math_mode") result(status)
      import :: c_int, c_ptr
      type(c_ptr), value :: handle
      integer(c_int), value :: mode
      integer(c_int) :: status
    end function c_set_math_mode

    function c_get_math_mode(handle, mode) bind(C, name="mygemm_get_math_mode") result(status)
      import :: c_int, c_ptr
      type(c_ptr), value :: handle
      integer(c_int), intent(out) :: mode
      integer(c_int) :: status
    end function c_get_math_mode

    function c_set_invariance(handle, mode) bind(C, name="mygemm_set_invariance") result(status)
      import :: c_int, c_ptr
      type(c_ptr), value :: handle
      integer(c_int), value :: mode
      integer(c_int) :: status
    end function c_set_invariance

    function c_get_invariance(handle, mode) bind(C, name="mygemm_get_invariance") result(status)
      import :: c_int, c_ptr
      type(c_ptr), value :: handle
      integer(c_int), intent(out) :: mode
      integer(c_int) :: status
    end function c_get_invariance

    function c_sgemm(handle, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc) &
        bind(C, name="mygemm_sgemm") result(status)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: handle, alpha, a, b, beta, c
      integer(c_int), value :: transa, transb
      integer(c_int64_t), value :: m, n, k, lda, ldb, ldc
      integer(c_int) :: status
    end function c_sgemm

    function c_sgemm_strided_batched(handle, transa, transb, m, n, k, alpha, a, lda, stride_a, &
        b, ldb, stride_b, beta, c, ldc, stride_c, batch_count) &
        bind(C, name="mygemm_sgemm_strided_batched") result(status)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: handle, alpha, a, b, beta, c
      integer(c_int), value :: transa, transb
      integer(c_int64_t), value :: m, n, k, lda, stride_a, ldb, stride_b, ldc, stride_c, &
        batch_count
      integer(c_int) :: status
    end function c_sgemm_strided_batched

    function c_sgemm_batched(handle, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, &
        ldc, batch_count) bind(C, name="mygemm_sgemm_batched") result(status)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: handle, alpha, a, b, beta, c
      integer(c_int), value :: transa, transb
      integer(c_int64_t), value :: m, n, k, lda, ldb, ldc, batch_count
      integer(c_int) :: status
    end function c_sgemm_batched

    function c_softmax(handle, mode, rows, cols, scale, x, xtype, ldx, y, ytype, ldy) &
        bind(C, name="mygemm_softmax") result(status)
      import :: c_float, c_int, c_int64_t, c_ptr
      type(c_ptr), value :: handle, x, y
      integer(c_int), value :: mode, xtype, ytype
      integer(c_int64_t), value :: rows, cols, ldx, ldy
      real(c_float), value :: scale
      integer(c_int) :: status
    end function c_softmax

    function c_softmax_backward(handle, mode, rows, cols, scale, y, ytype, ldy, dy, dytype, &
        lddy, dx, dxtype, lddx) bind(C, name="mygemm_softmax_backward") result(status)
      import :: c_float, c_int, c_int64_t, c_ptr
      type(c_ptr), value :: handle, y, dy, dx
      integer(c_int), value :: mode, ytype, dytype, dxtype
      integer(c_int64_t), value :: rows, cols, ldy, lddy, lddx
      real(c_float), value :: scale
      integer(c_int) :: status
    end function c_softmax_backward

    function c_transpose(handle, element_size, rows, cols, in, ldin, out, ldout) &
        bind(C, name="mygemm_transpose") result(status)
      import :: c_int, c_int64_t, c_ptr, c_size_t
      type(c_ptr), value :: handle, in, out
      integer(c_size_t), value :: element_size
      integer(c_int64_t), value :: rows, cols, ldin, ldout
      integer(c_int) :: status
    end function c_transpose

    function c_transpose_strided_batched(handle, element_size, rows, cols, in, ldin, stride_in, &
        out, ldout, stride_out, batch_count) bind(C, name="mygemm_transpose_strided_batched") &
        result(status)
      import :: c_int, c_int64_t, c_ptr, c_size_t
      type(c_ptr), value :: handle, in, out
      integer(c_size_t), value :: element_size
      integer(c_int64_t), value :: rows, cols, ldin, stride_in, ldout, stride_out, batch_count
      integer(c_int) :: status
    end function c_transpose_strided_batched

    function c_sgemm_workspace_size(handle, transa, transb, m, n, k, batch_count, bytes) &
        bind(C, name="mygemm_sgemm_workspace_size") result(status)
      import :: c_int, c_int64_t, c_ptr, c_size_t
      type(c_ptr), value :: handle
      integer(c_int), value :: transa, transb
      integer(c_int64_t), value :: m, n, k, batch_count
      integer(c_size_t), intent(inout) :: bytes
      integer(c_int) :: status
    end function c_sgemm_workspace_size

    function c_softmax_workspace_size(handle, mode, rows, cols, xtype, ytype, bytes) &
        bind(C, name="mygemm_softmax_workspace_size") result(status)
      import :: c_int, c_int64_t, c_ptr, c_size_t
      type(c_ptr), value :: handle
      integer(c_int), value :: mode, xtype, ytype
      integer(c_int64_t), value :: rows, cols
      integer(c_size_t), intent(inout) :: bytes
      integer(c_int) :: status
    end function c_softmax_workspace_size

    function c_transpose_workspace_size(handle, element_size, rows, cols, batch_count, in_place, &
        bytes) bind(C, name="mygemm_transpose_workspace_size") result(status)
      import :: c_int, c_int64_t, c_ptr, c_size_t
      type(c_ptr), value :: handle
      integer(c_size_t), value :: element_size
      integer(c_int64_t), value :: rows, cols, batch_count
      integer(c_int), value :: in_place
      integer(c_size_t), intent(inout) :: bytes
      integer(c_int) :: status
    end function c_transpose_workspace_size

    function strlen(string) bind(C, name="strlen") result(length)
      import :: c_ptr, c_size_t
      type(c_ptr), value :: string
      integer(c_size_t) :: length
    end function strlen

    function c_explain_sgemm(handle, device, transa, transb, m, n, k, a, lda, stride_a, b, ldb, &
        stride_b, c, ldc, stride_c, batch_count, text, capacity, length) &
        bind(C, name="mygemm_explain_sgemm") result(status)
      import :: c_char, c_int, c_int64_t, c_ptr, c_size_t
      character(kind=c_char), intent(in), optional :: device(*)
      type(c_ptr), value :: handle, a, b, c, text
      integer(c_int), value :: transa, transb
      integer(c_size_t), value :: capacity
      integer(c_int64_t), value :: m, n, k, lda, stride_a, ldb, stride_b, ldc, stride_c, &
        batch_count
      integer(c_size_t), intent(inout) :: length
      integer(c_int) :: status
    end function c_explain_sgemm

    function c_explain_softmax(handle, device, mode, rows, cols, x, xtype, ldx, y, ytype, ldy, &
        text, capacity, length) bind(C, name="mygemm_explain_softmax") result(status)
      import :: c_char, c_int, c_int64_t, c_ptr, c_size_t
      character(kind=c_char), intent(in), optional :: device(*)
      type(c_ptr), value :: handle, x, y, text
      integer(c_int), value :: mode, xtype, ytype
      integer(c_size_t), value :: capacity
      integer(c_int64_t), value :: rows, cols, ldx, ldy
      integer(c_size_t), intent(inout) :: length
      integer(c_int) :: status
    end function c_explain_softmax

    function c_explain_softmax_backward(handle, device, mode, rows, cols, y, ytype, ldy, dy, &
        dytype, lddy, dx, dxtype, lddx, text, capacity, length) &
        bind(C, name="mygemm_explain_softmax_backward") result(status)
      import :: c_char, c_int, c_int64_t, c_ptr, c_size_t
      character(kind=c_char), intent(in), optional :: device(*)
      type(c_ptr), value :: handle, y, dy, dx, text
      integer(c_int), value :: mode, ytype, dytype, dxtype
      integer(c_size_t), value :: capacity
      integer(c_int64_t), value :: rows, cols, ldy, lddy, lddx
      integer(c_size_t), intent(inout) :: length
      integer(c_int) :: status
    end function c_explain_softmax_backward

    function c_explain_transpose(handle, device, element_size, rows, cols, in, ldin, stride_in, &
        out, ldout, stride_out, batch_count, text, capacity, length) &
        bind(C, name="mygemm_explain_transpose") result(status)
      import :: c_char, c_int, c_int64_t, c_ptr, c_size_t
      character(kind=c_char), intent(in), optional :: device(*)
      type(c_ptr), value :: handle, in, out, text
      integer(c_size_t), value :: element_size, capacity
      integer(c_int64_t), value :: rows, cols, ldin, stride_in, ldout, stride_out, batch_count
      integer(c_size_t), intent(inout) :: length
      integer(c_int) :: status
    end function c_explain_transpose
  end interface

  ! Sizes of either kind as the C interface takes them.
  interface wide
    module procedure wide_32, wide_64
  end interface wide

contains

  elemental function wide_32(size) result(wider)
    integer(c_int32_t), intent(in) :: size
    integer(c_int64_t) :: wider
    wider = int(size, c_int64_t)
  end function wide_32

  elemental function wide_64(size) result(same)
    integer(c_int64_t), intent(in) :: size
    integer(c_int64_t) :: same
    same = size
  end function wide_64

  ! A text of C's as one of Fortran's.
  function as_text(c_text) result(text)
    type(c_ptr), intent(in) :: c_text
    character(len=:), allocatable :: text
    character(kind=c_char), pointer :: letters(:)
    integer :: i, length
    length = int(strlen(c_text))
    call c_f_pointer(c_text, letters, [length])
    allocate(character(len=length) :: text)
    do i = 1, length
      text(i:i) = letters(i)
    end do
  end function as_text

  ! Room for a text of C's, with its last NUL.
  subroutine make_room(room, letters)
    character(kind=c_char), allocatable, intent(inout) :: room(:)
    integer(c_size_t), intent(in) :: letters
    if (allocated(room)) deallocate(room)
    allocate(room(letters + 1), source=c_null_char)
  end subroutine make_room

  ! The C string for `device`; not allocated, and so NULL, where that is blank.
  subroutine name_device(device, name)
    character(len=*), intent(in) :: device
    character(kind=c_char), allocatable, intent(out) :: name(:)
    integer :: i
    if (device == '') return
    allocate(name(len_trim(device) + 1), source=c_null_char)
    do i = 1, len_trim(device)
      name(i) = device(i:i)
    end do
  end subroutine name_device
end module mygemm_abi
