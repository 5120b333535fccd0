"""Build, edit, read and run flows."""
