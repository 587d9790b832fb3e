"""The study matrix: questions, cells, presets, running and resuming, and the command line."""
