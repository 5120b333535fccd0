package stream

// largest is a heap of groups: the largest first, of several the oldest. Its methods are
// those of container/heap.
type largest[K comparable, T any] []*begun[K, T]

// Len implements heap.Interface.
func (l largest[K, T]) Len() int { return len(l) }

// Less implements heap.Interface.
func (l largest[K, T]) Less(i, j int) bool {
	if a, b := len(l[i].Values), len(l[j].Values); a != b {
		return a > b
	}
	return l[i].number < l[j].number
}

// Swap implements heap.Interface.
func (l largest[K, T]) Swap(i, j int) {
	l[i], l[j] = l[j], l[i]
	l[i].place, l[j].place = i, j
}

// Push implements heap.Interface.
func (l *largest[K, T]) Push(b any) {
	g := b.(*begun[K, T])
	g.place = len(*l)
	*l = append(*l, g)
}

// Pop implements heap.Interface.
func (l *largest[K, T]) Pop() any {
	last := len(*l) - 1
	b := (*l)[last]
	(*l)[last] = nil
	*l = (*l)[:last]
	return b
}
