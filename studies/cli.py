"""The `horizon-bench` command."""


def main() -> int:
    """Run the command line."""
    raise SystemExit("not built yet")
