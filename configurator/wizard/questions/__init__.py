"""The questions of each step, in the order in which they are asked."""
