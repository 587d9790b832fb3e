"""Command modules of `horizon-bench`, one file each."""
