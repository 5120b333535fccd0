"""Read batches and samples from the server as arrays."""
