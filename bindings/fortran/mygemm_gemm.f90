! The general product, mygemm_gemm(); see the module mygemm. Its arguments are the components of
! mygemm_gemm_t, which begin as one FP32 product without epilogue whose C is D: set those that
! differ. Sizes are 64-bit; assignment converts any kind of integer.
module mygemm_general
  use, intrinsic :: iso_c_binding, only: c_char, c_int, c_int32_t, c_int64_t, c_loc, c_null_ptr, &
    c_ptr, c_size_t, c_sizeof
  use mygemm_abi
  implicit none
  private
  public :: mygemm_gemm_t, mygemm_gemm, mygemm_gemm_workspace_size, mygemm_explain_gemm

  ! mygemmGemm_t. struct_size is filled in by the functions below. Matrices, vectors, alpha and beta
  ! are addresses: c_loc() of a target, or of device memory.
  type, bind(C) :: mygemm_gemm_t
    integer(c_size_t) :: struct_size = 0
    integer(c_int32_t) :: transa = MYGEMM_OP_N, transb = MYGEMM_OP_N
    integer(c_int64_t) :: m = 0, n = 0, k = 0
    integer(c_int64_t) :: batch_count = 1
    integer(c_int32_t) :: atype = MYGEMM_R_32F, btype = MYGEMM_R_32F, ctype = MYGEMM_R_32F, &
      dtype = MYGEMM_R_32F
    integer(c_int32_t) :: math = MYGEMM_MATH_OF_HANDLE
    integer(c_int32_t) :: activation = MYGEMM_ACTIVATION_NONE
    type(c_ptr) :: alpha = c_null_ptr, beta = c_null_ptr
    type(c_ptr) :: a = c_null_ptr
    integer(c_int64_t) :: lda = 0, stride_a = 0
    type(c_ptr) :: b = c_null_ptr
    integer(c_int64_t) :: ldb = 0, stride_b = 0
    type(c_ptr) :: c = c_null_ptr
    integer(c_int64_t) :: ldc = 0, stride_c = 0
    type(c_ptr) :: d = c_null_ptr
    integer(c_int64_t) :: ldd = 0, stride_d = 0
    type(c_ptr) :: bias = c_null_ptr
    integer(c_int64_t) :: stride_bias = 0
    type(c_ptr) :: a_array = c_null_ptr
    type(c_ptr) :: b_array = c_null_ptr
    type(c_ptr) :: c_array = c_null_ptr
    type(c_ptr) :: d_array = c_null_ptr
    type(c_ptr) :: aux = c_null_ptr
    integer(c_int64_t) :: ldaux = 0, stride_aux = 0
    type(c_ptr) :: sums = c_null_ptr
    integer(c_int64_t) :: stride_sums = 0
    integer(c_int32_t) :: sums_of = MYGEMM_SUMS_NONE
    integer(c_int32_t) :: fill = MYGEMM_FILL_FULL
    integer(c_int32_t) :: invariance = MYGEMM_INVARIANCE_OF_HANDLE
  end type mygemm_gemm_t

  interface
    function c_gemm(handle, call) bind(C, name="mygemm_gemm") result(status)
      import :: c_int, c_ptr, mygemm_gemm_t
      type(c_ptr), value :: handle
      type(mygemm_gemm_t), intent(in) :: call
      integer(c_int) :: status
    end function c_gemm

    function c_gemm_workspace_size(handle, call, bytes) &
        bind(C, name="mygemm_gemm_workspace_size") result(status)
      import :: c_int, c_ptr, c_size_t, mygemm_gemm_t
      type(c_ptr), value :: handle
      type(mygemm_gemm_t), intent(in) :: call
      integer(c_size_t), intent(inout) :: bytes
      integer(c_int) :: status
    end function c_gemm_workspace_size

    function c_explain_gemm(handle, device, call, text, capacity, length) &
        bind(C, name="mygemm_explain_gemm") result(status)
      import :: c_char, c_int, c_ptr, c_size_t, mygemm_gemm_t
      character(kind=c_char), intent(in), optional :: device(*)
      type(c_ptr), value :: handle, text
      type(mygemm_gemm_t), intent(in) :: call
      integer(c_size_t), value :: capacity
      integer(c_size_t), intent(inout) :: length
      integer(c_int) :: status
    end function c_explain_gemm
  end interface

contains

  ! The same call with its size.
  function sized(call) result(whole)
    type(mygemm_gemm_t), intent(in) :: call
    type(mygemm_gemm_t) :: whole
    whole = call
    whole%struct_size = c_sizeof(whole)
  end function sized

  ! D = activation(alpha op(A) op(B) + beta C + bias), batch_count times, column-major.
  function mygemm_gemm(handle, call) result(status)
    type(c_ptr), intent(in) :: handle
    type(mygemm_gemm_t), intent(in) :: call
    integer(c_int) :: status
    status = c_gemm(handle, sized(call))
  end function mygemm_gemm

  ! The workspace in bytes with which the call would run fastest; 0 where none would help, or where
  ! the question is refused.
  function mygemm_gemm_workspace_size(handle, call, bytes) result(status)
    type(c_ptr), intent(in) :: handle
    type(mygemm_gemm_t), intent(in) :: call
    integer(c_size_t), intent(out) :: bytes
    integer(c_int) :: status
    bytes = 0
    status = c_gemm_workspace_size(handle, sized(call), bytes)
  end function mygemm_gemm_workspace_size

  ! The plan of the call; device and text are as for mygemm_explain_sgemm().
  function mygemm_explain_gemm(handle, device, call, text) result(status)
    type(c_ptr), intent(in) :: handle
    character(len=*), intent(in) :: device
    type(mygemm_gemm_t), intent(in) :: call
    character(len=:), allocatable, intent(out) :: text
    integer(c_int) :: status
    character(kind=c_char), allocatable :: name(:)
    character(kind=c_char), allocatable, target :: room(:)
    integer(c_size_t) :: length
    length = 0
    call name_device(device, name)
    do
      call make_room(room, length)
      status = c_explain_gemm(handle, name, sized(call), c_loc(room), &
        size(room, kind=c_size_t), length)
      if (length < size(room, kind=c_size_t)) exit
    end do
    text = as_text(c_loc(room))
  end function mygemm_explain_gemm
end module mygemm_general
