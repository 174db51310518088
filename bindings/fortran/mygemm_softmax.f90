! Softmax with masks, lengths, causality and a cap, and its gradient, mygemm_softmax_ex(); see the
! module mygemm. Its arguments are the components of mygemm_softmax_t, which begin as the softmax of
! FP32 with nothing masked: set those that differ. Row r of x is x(:, r) of a Fortran array
! x(ldx, rows). Sizes are 64-bit; assignment converts any kind of integer.
module mygemm_masked
  use, intrinsic :: iso_c_binding, only: c_char, c_float, c_int, c_int32_t, c_int64_t, c_loc, &
    c_null_ptr, c_ptr, c_size_t, c_sizeof
  use mygemm_abi
  implicit none
  private
  public :: mygemm_softmax_t, mygemm_softmax_ex, mygemm_softmax_ex_workspace_size, &
    mygemm_explain_softmax_ex

  ! mygemmSoftmax_t. struct_size is filled in by the functions below. Matrices and vectors are
  ! addresses: c_loc() of a target, or of device memory.
  type, bind(C) :: mygemm_softmax_t
    integer(c_size_t) :: struct_size = 0
    integer(c_int32_t) :: mode = MYGEMM_SOFTMAX_MODE
    integer(c_int32_t) :: backward = 0
    integer(c_int64_t) :: rows = 0, cols = 0
    integer(c_int64_t) :: group_rows = 0
    integer(c_int64_t) :: batch_groups = 0
    type(c_ptr) :: x = c_null_ptr
    integer(c_int64_t) :: ldx = 0
    type(c_ptr) :: y = c_null_ptr
    integer(c_int64_t) :: ldy = 0
    type(c_ptr) :: dy = c_null_ptr
    integer(c_int64_t) :: lddy = 0
    type(c_ptr) :: dx = c_null_ptr
    integer(c_int64_t) :: lddx = 0
    integer(c_int32_t) :: xtype = MYGEMM_R_32F, ytype = MYGEMM_R_32F
    integer(c_int32_t) :: dytype = MYGEMM_R_32F, dxtype = MYGEMM_R_32F
    real(c_float) :: scale = 1
    real(c_float) :: softcap = 0
    type(c_ptr) :: mask = c_null_ptr
    integer(c_int64_t) :: mask_stride_batch = 0, mask_stride_group = 0
    integer(c_int64_t) :: mask_stride_row = 0, mask_stride_col = 1
    type(c_ptr) :: lengths = c_null_ptr
    integer(c_int64_t) :: lengths_stride_batch = 0, lengths_stride_group = 0
    integer(c_int64_t) :: lengths_stride_row = 0
    integer(c_int64_t) :: causal_offset = 0
    integer(c_int32_t) :: causal = 0
    integer(c_int32_t) :: mask_type = MYGEMM_R_32F
    integer(c_int32_t) :: lengths_type = MYGEMM_INDEX_32I
    integer(c_int32_t) :: empty_rows = MYGEMM_EMPTY_ROW_NAN
  end type mygemm_softmax_t

  interface
    function c_softmax_ex(handle, call) bind(C, name="mygemm_softmax_ex") result(status)
      import :: c_int, c_ptr, mygemm_softmax_t
      type(c_ptr), value :: handle
      type(mygemm_softmax_t), intent(in) :: call
      integer(c_int) :: status
    end function c_softmax_ex

    function c_softmax_ex_workspace_size(handle, call, bytes) &
        bind(C, name="mygemm_softmax_ex_workspace_size") result(status)
      import :: c_int, c_ptr, c_size_t, mygemm_softmax_t
      type(c_ptr), value :: handle
      type(mygemm_softmax_t), intent(in) :: call
      integer(c_size_t), intent(inout) :: bytes
      integer(c_int) :: status
    end function c_softmax_ex_workspace_size

    function c_explain_softmax_ex(handle, device, call, text, capacity, length) &
        bind(C, name="mygemm_explain_softmax_ex") result(status)
      import :: c_char, c_int, c_ptr, c_size_t, mygemm_softmax_t
      character(kind=c_char), intent(in), optional :: device(*)
      type(c_ptr), value :: handle, text
      type(mygemm_softmax_t), intent(in) :: call
      integer(c_size_t), value :: capacity
      integer(c_size_t), intent(inout) :: length
      integer(c_int) :: status
    end function c_explain_softmax_ex
  end interface

contains

  ! The same call with its size.
  function sized(call) result(whole)
    type(mygemm_softmax_t), intent(in) :: call
    type(mygemm_softmax_t) :: whole
    whole = call
    whole%struct_size = c_sizeof(whole)
  end function sized

  function mygemm_softmax_ex(handle, call) result(status)
    type(c_ptr), intent(in) :: handle
    type(mygemm_softmax_t), intent(in) :: call
    integer(c_int) :: status
    status = c_softmax_ex(handle, sized(call))
  end function mygemm_softmax_ex

  ! The workspace in bytes with which the call would run fastest; 0 where none would help, or where
  ! the question is refused.
  function mygemm_softmax_ex_workspace_size(handle, call, bytes) result(status)
    type(c_ptr), intent(in) :: handle
    type(mygemm_softmax_t), intent(in) :: call
    integer(c_size_t), intent(out) :: bytes
    integer(c_int) :: status
    bytes = 0
    status = c_softmax_ex_workspace_size(handle, sized(call), bytes)
  end function mygemm_softmax_ex_workspace_size

  ! The plan of the call; device and text are as for mygemm_explain_sgemm().
  function mygemm_explain_softmax_ex(handle, device, call, text) result(status)
    type(c_ptr), intent(in) :: handle
    character(len=*), intent(in) :: device
    type(mygemm_softmax_t), intent(in) :: call
    character(len=:), allocatable, intent(out) :: text
    integer(c_int) :: status
    character(kind=c_char), allocatable :: name(:)
    character(kind=c_char), allocatable, target :: room(:)
    integer(c_size_t) :: length
    length = 0
    call name_device(device, name)
    do
      call make_room(room, length)
      status = c_explain_softmax_ex(handle, name, sized(call), c_loc(room), &
        size(room, kind=c_size_t), length)
      if (length < size(room, kind=c_size_t)) exit
    end do
    text = as_text(c_loc(room))
  end function mygemm_explain_softmax_ex
end module mygemm_masked
