"""The two ways in which functions here are compiled: callable from Python, or from compiled code only.

A wrapper for Python takes longer to compile than most kernels, so only entry points get one.
"""

from __future__ import annotations

import numba

entry = numba.njit(cache=True, nogil=True)
"""Decorator of compiled functions that Python calls."""

kernel = numba.njit(cache=True, nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)
"""Decorator of compiled functions that only compiled functions call."""
