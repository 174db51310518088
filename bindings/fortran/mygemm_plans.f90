! Workspaces and explanations; see the module mygemm. mygemm_plans.inc is compiled twice, for sizes
! of either kind.
module mygemm_plans_32
  use, intrinsic :: iso_c_binding, only: c_loc, c_null_ptr, ik => c_int32_t
  use mygemm_abi
  implicit none
  private
  include 'mygemm_plans.inc'
end module mygemm_plans_32

module mygemm_plans_64
  use, intrinsic :: iso_c_binding, only: c_loc, c_null_ptr, ik => c_int64_t
  use mygemm_abi
  implicit none
  private
  include 'mygemm_plans.inc'
end module mygemm_plans_64
