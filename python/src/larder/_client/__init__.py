"""Talk to the server, in this process and on other machines, and find the program."""
