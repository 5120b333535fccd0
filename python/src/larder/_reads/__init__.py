"""Record the files that a function opens and the random numbers that it draws."""
