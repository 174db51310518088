"""The exception of calls that the library refused or could not do."""
from __future__ import annotations


class Error(RuntimeError):
    """A call of libmygemm failed. `status` is its mygemmStatus_t, e.g. 7 for an invalid value.

    Arguments that never reach the library raise TypeError or ValueError instead.
    """

    def __init__(self, message: str, status: int):
        super().__init__(message)
        self.status = status

    def __reduce__(self) -> tuple[type[Error], tuple[str, int]]:
        return type(self), (self.args[0], self.status)  # for pickle
