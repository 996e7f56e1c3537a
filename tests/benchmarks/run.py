"""Benchmarks; none yet."""

if __name__ == "__main__":
    print("No benchmarks yet.")  # noqa: T201
