package stream

// Damaged is a state with another byte at some place of its positions.
func Damaged(s State, at int, to byte) State {
	if len(s.marks) == 0 || to == 0 {
		return s
	}
	b := []byte(s.marks)
	b[at%len(b)] ^= to
	return State{s.of, string(b)}
}
