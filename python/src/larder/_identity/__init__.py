"""Identify code, values and the environment by digests that are the same in every process."""
