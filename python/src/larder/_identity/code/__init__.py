"""Identify code by everything that a function can reach.

An identity is precise only where that is proved. Code that is not understood is refused, or
counts by its content; it is never left out.
"""
