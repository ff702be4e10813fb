"""The quick way of single events through a segment of the engine ``bitmatrix``."""
