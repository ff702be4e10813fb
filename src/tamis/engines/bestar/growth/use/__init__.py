"""Uses of a growing tree besides changing it: matching, feedback, freezing."""
