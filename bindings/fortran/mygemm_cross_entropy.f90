! The loss of logits and its gradient, mygemm_cross_entropy(); see the module mygemm. Its arguments
! are the components of mygemm_cross_entropy_t, which begin as the plain loss of FP32 logits and
! 64-bit classes: set those that differ. Row r of x is x(:, r) of a Fortran array x(ldx, rows), and
! classes are numbered from 0. Sizes are 64-bit; assignment converts any kind of integer.
module mygemm_losses
  use, intrinsic :: iso_c_binding, only: c_char, c_float, c_int, c_int32_t, c_int64_t, c_loc, &
    c_null_ptr, c_ptr, c_size_t, c_sizeof
  use mygemm_abi
  implicit none
  private
  public :: mygemm_cross_entropy_t, mygemm_cross_entropy, mygemm_cross_entropy_workspace_size, &
    mygemm_explain_cross_entropy

  ! mygemmCrossEntropy_t. struct_size is filled in by the functions below. Matrices and vectors are
  ! addresses: c_loc() of a target, or of device memory.
  type, bind(C) :: mygemm_cross_entropy_t
    integer(c_size_t) :: struct_size = 0
    integer(c_int64_t) :: rows = 0, cols = 0
    type(c_ptr) :: x = c_null_ptr
    integer(c_int64_t) :: ldx = 0
    type(c_ptr) :: targets = c_null_ptr
    integer(c_int64_t) :: ignore_index = -100
    type(c_ptr) :: dx = c_null_ptr
    integer(c_int64_t) :: lddx = 0
    type(c_ptr) :: dloss = c_null_ptr
    integer(c_int64_t) :: stride_dloss = 0
    type(c_ptr) :: loss = c_null_ptr
    type(c_ptr) :: lse = c_null_ptr
    integer(c_int32_t) :: xtype = MYGEMM_R_32F, dxtype = MYGEMM_R_32F
    integer(c_int32_t) :: target_type = MYGEMM_INDEX_64I
    real(c_float) :: label_smoothing = 0
    real(c_float) :: z_loss = 0
    real(c_float) :: gradient_scale = 1
  end type mygemm_cross_entropy_t

  interface
    function c_cross_entropy(handle, call) bind(C, name="mygemm_cross_entropy") result(status)
      import :: c_int, c_ptr, mygemm_cross_entropy_t
      type(c_ptr), value :: handle
      type(mygemm_cross_entropy_t), intent(in) :: call
      integer(c_int) :: status
    end function c_cross_entropy

    function c_cross_entropy_workspace_size(handle, call, bytes) &
        bind(C, name="mygemm_cross_entropy_workspace_size") result(status)
      import :: c_int, c_ptr, c_size_t, mygemm_cross_entropy_t
      type(c_ptr), value :: handle
      type(mygemm_cross_entropy_t), intent(in) :: call
      integer(c_size_t), intent(inout) :: bytes
      integer(c_int) :: status
    end function c_cross_entropy_workspace_size

    function c_explain_cross_entropy(handle, device, call, text, capacity, length) &
        bind(C, name="mygemm_explain_cross_entropy") result(status)
      import :: c_char, c_int, c_ptr, c_size_t, mygemm_cross_entropy_t
      character(kind=c_char), intent(in), optional :: device(*)
      type(c_ptr), value :: handle, text
      type(mygemm_cross_entropy_t), intent(in) :: call
      integer(c_size_t), value :: capacity
      integer(c_size_t), intent(inout) :: length
      integer(c_int) :: status
    end function c_explain_cross_entropy
  end interface

contains

  ! The same call with its size.
  function sized(call) result(whole)
    type(mygemm_cross_entropy_t), intent(in) :: call
    type(mygemm_cross_entropy_t) :: whole
    whole = call
    whole%struct_size = c_sizeof(whole)
  end function sized

  function mygemm_cross_entropy(handle, call) result(status)
    type(c_ptr), intent(in) :: handle
    type(mygemm_cross_entropy_t), intent(in) :: call
    integer(c_int) :: status
    status = c_cross_entropy(handle, sized(call))
  end function mygemm_cross_entropy

  ! The workspace in bytes with which the call would run fastest; 0 where none would help, or where
  ! the question is refused.
  function mygemm_cross_entropy_workspace_size(handle, call, bytes) result(status)
    type(c_ptr), intent(in) :: handle
    type(mygemm_cross_entropy_t), intent(in) :: call
    integer(c_size_t), intent(out) :: bytes
    integer(c_int) :: status
    bytes = 0
    status = c_cross_entropy_workspace_size(handle, sized(call), bytes)
  end function mygemm_cross_entropy_workspace_size

  ! The plan of the call; device and text are as for mygemm_explain_sgemm().
  function mygemm_explain_cross_entropy(handle, device, call, text) result(status)
    type(c_ptr), intent(in) :: handle
    character(len=*), intent(in) :: device
    type(mygemm_cross_entropy_t), intent(in) :: call
    character(len=:), allocatable, intent(out) :: text
    integer(c_int) :: status
    character(kind=c_char), allocatable :: name(:)
    character(kind=c_char), allocatable, target :: room(:)
    integer(c_size_t) :: length
    length = 0
    call name_device(device, name)
    do
      call make_room(room, length)
      status = c_explain_cross_entropy(handle, name, sized(call), c_loc(room), &
        size(room, kind=c_size_t), length)
      if (length < size(room, kind=c_size_t)) exit
    end do
    text = as_text(c_loc(room))
  end function mygemm_explain_cross_entropy
end module mygemm_losses
