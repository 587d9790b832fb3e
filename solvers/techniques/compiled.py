"""The ways in which functions here are compiled: callable from Python, from compiled code only, or put in there whole.

A wrapper for Python takes longer to compile than most kernels, so only entry points get one. A call hands over every
array of a board and its geometry, which costs more than a small function does; so those become part of their callers.
"""

from __future__ import annotations

import numba

entry = numba.njit(cache=True, nogil=True)
"""Decorator of compiled functions that Python calls."""

kernel = numba.njit(cache=True, nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)
"""Decorator of compiled functions that only compiled functions call."""

inlined = numba.njit(cache=True, nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, forceinline=True)
"""Decorator of small compiled functions that compiled functions call often."""
