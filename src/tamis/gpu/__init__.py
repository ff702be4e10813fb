"""Match on a graphics card: the arrays of ``hybrid`` are uploaded once, and events pass by in large batches.

``device`` finds a card and keeps what was uploaded, ``columns`` locates the columns of a table there,
``search`` finds the subscriptions. The processor matches the rest: events with several values or very many,
and subscriptions that the tree must confirm. docs/gpu.md explains the layout.
"""
