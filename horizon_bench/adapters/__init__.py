"""The puzzles in other people's frameworks; each module needs the framework's own package, see `docs/scale.md`."""
