"""What is done with a growing tree beside changing it: matching, feedback, freezing."""
