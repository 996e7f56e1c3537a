"""What starts each load of a sized system: commands, configurations, resource requests. Pure."""

from quotes.launch.nouns import LaunchFile, LaunchPlan, LoadLaunch
from quotes.launch.plan import launch_plan

__all__ = ["LaunchFile", "LaunchPlan", "LoadLaunch", "launch_plan"]
