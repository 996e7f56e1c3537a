"""From a number of accelerators to a system that can be ordered, fed, cooled and switched on."""
