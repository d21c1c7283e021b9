"""The load that a gate is measured with, and how its work is watched and checked."""
