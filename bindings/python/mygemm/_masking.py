"""softmax with a mask, causality, lengths and a cap: from arrays to mygemmSoftmax_t."""
from __future__ import annotations

import operator
from typing import Any, NamedTuple, Optional

from ._arrays import Array, as_bool, as_float32, check_dtype
from ._calls import Arguments
from ._layouts import collapse, refuse_strides, rows_of
from ._library import DATA_TYPES, INDEX_TYPES, MaskedSoftmax

EMPTY_ROWS = {"nan": 0, "zero": 1}


class Masking(NamedTuple):
    """The arguments of softmax() that mask; the arrays are named mask, lengths and x."""

    causal: bool
    causal_offset: int
    softcap: float
    empty: str

    @classmethod
    def of(cls, causal: bool, causal_offset: int, softcap: float, empty: str) -> Masking:
        """The arguments, checked."""
        if empty not in EMPTY_ROWS:
            raise ValueError(f"empty = {empty!r} is none of: {', '.join(EMPTY_ROWS)}")
        offset = operator.index(causal_offset)
        if not -2**63 <= offset < 2**63:
            raise ValueError(f"causal_offset = {offset} does not fit 64 bits")
        return cls(as_bool("causal", causal), offset, as_float32("softcap", softcap), empty)

    def asked_for(self, *arrays: Any) -> bool:
        """Whether anything differs from the plain softmax."""
        return (self.causal or self.softcap != 0 or self.empty != "nan" or
                any(array is not None for array in arrays))


def check_last_axis(x: Array, axis: int) -> None:
    """Refuses masks along another axis than the last."""
    if axis != len(x.shape) - 1:
        raise ValueError(f"axis = {axis}: masks, lengths, causal, softcap and empty are for the "
                         f"last axis, which is {len(x.shape) - 1}")


def _strides(x: Array, shape: tuple[int, ...], what: str) -> tuple[int, int, int]:
    """Strides of x, broadcast to `shape`, as those of batches, groups and rows."""
    missing = len(shape) - len(x.shape)
    if missing < 0 or any(n not in (1, wanted) for n, wanted in zip(x.shape, shape[missing:])):
        raise ValueError(f"{x.name} has shape {x.shape}, which cannot be broadcast to {shape}, "
                         f"{what}")
    own = [0 if n == 1 else stride for n, stride in zip(x.shape, x.strides)]
    strides = [0] * missing + own
    axes = list(zip(shape, strides))
    batch = collapse(axes[:-2])
    if batch is None:
        refuse_strides(x, "its axes before the last three of x must be at regular distances")
    group, row = ([0, 0] + strides)[-2:]
    return batch[1], group, row


def describe(arguments: Arguments, x: Array, masking: Masking, **fields: Any) -> MaskedSoftmax:
    """The call for rows along the last axis of x, but for its matrices."""
    rows = rows_of(x)
    call = MaskedSoftmax(rows=rows.rows, cols=rows.cols, causal=int(masking.causal),
                         causal_offset=masking.causal_offset, softcap=masking.softcap,
                         empty_rows=EMPTY_ROWS[masking.empty], **fields)
    outer = x.shape[:-1]
    if len(outer) >= 1:
        call.group_rows = outer[-1]
    if len(outer) >= 2:
        call.batch_groups = outer[-2]
    mask: Optional[Array] = arguments.get("mask")
    if mask is not None:
        check_dtype(mask, tuple(DATA_TYPES), "softmax")
        shape = mask.shape or (1,)
        if shape[-1] not in (1, x.shape[-1]):
            raise ValueError(f"mask has shape {mask.shape}, which cannot be broadcast to "
                             f"{x.shape}, that of x")
        column = 0 if shape[-1] == 1 else mask.strides[-1]
        of_rows = mask._replace(shape=shape[:-1], strides=(mask.strides or (0,))[:-1])
        call.mask, call.mask_type = mask.pointer, DATA_TYPES[mask.dtype]
        (call.mask_stride_batch, call.mask_stride_group,
         call.mask_stride_row) = _strides(of_rows, outer, "that of x without its last axis")
        call.mask_stride_col = column
    lengths: Optional[Array] = arguments.get("lengths")
    if lengths is not None:
        check_dtype(lengths, tuple(INDEX_TYPES), "softmax")
        call.lengths, call.lengths_type = lengths.pointer, INDEX_TYPES[lengths.dtype]
        (call.lengths_stride_batch, call.lengths_stride_group,
         call.lengths_stride_row) = _strides(lengths, outer, "that of x without its last axis")
    return call


def set_matrix(call: MaskedSoftmax, name: str, x: Array) -> None:
    """Sets the fields of x, y, dy or dx."""
    setattr(call, name, x.pointer)
    setattr(call, f"ld{name}", rows_of(x).ld)
    setattr(call, f"{name}type", DATA_TYPES[x.dtype])
