"""What things are: values, events, expressions, and what it means for one to match the other."""
