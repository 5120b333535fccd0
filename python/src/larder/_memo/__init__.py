"""Cache the results of functions and models."""
