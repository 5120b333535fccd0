package stream

// Damaged returns a state with one changed byte in its positions.
func Damaged(s State, at int, to byte) State {
	if len(s.marks) == 0 || to == 0 {
		return s
	}
	b := []byte(s.marks)
	b[at%len(b)] ^= to
	return State{s.of, string(b)}
}
