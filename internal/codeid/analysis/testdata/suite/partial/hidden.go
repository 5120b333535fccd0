package partial

func hidden(n int) int { return n + 7 }
