"""What a system costs over time, against renting, and how it grows."""
