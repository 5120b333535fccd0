package pool

import "time"

// A worker takes as many elements as it makes in about stretchTime, so that to
// hand them on, or to look for them and keep them one by one, costs little beside.
const (
	stretchTime = 4 * time.Millisecond
	stretchMost = 512 // elements
)

// Patience is how long a worker goes on with what it took: what it has not come to by
// then it gives back. It is some turns of the system's scheduler, as on a machine
// that has other work, too, a worker may wait for as long as that.
const Patience = 8 * stretchTime

// span is the elements from one up to another.
type span struct{ from, to int }

// spans hands elements out to workers: some consecutive ones at a time, as many as
// are likely to be made within stretchTime.
type spans struct {
	n     int    // elements
	next  int    // those before are done, under way or given back
	back  []span // given back by workers, as they take long
	size  int    // how many a worker takes, unless least is more
	least int    // how many at least; 0 stands for 1
	limit int    // of size
}

// most is how many elements a worker takes at most.
func (s *spans) most() int { return max(s.size, s.least, 1) }

// take returns elements to make, the first of which is before limit, if there are
// any.
func (s *spans) take(limit int) (t span, ok bool) {
	if len(s.back) > 0 {
		return s.takeBack(), true
	}
	if s.next >= min(s.n, limit) {
		return t, false
	}
	t = span{s.next, min(s.next+s.most(), s.n)}
	s.next = t.to
	return t, true
}

// takeBack takes the first of the elements that were given back, and no more than
// the others: if they take long, others help with those after it.
func (s *spans) takeBack() span {
	k := 0
	for i, t := range s.back {
		if t.from < s.back[k].from {
			k = i
		}
	}
	first := span{s.back[k].from, min(s.back[k].from+s.most(), s.back[k].to)}
	if s.back[k].from = first.to; s.back[k].from == s.back[k].to {
		s.back = append(s.back[:k], s.back[k+1:]...)
	}
	return first
}

// settle notes how many of the elements that a worker took were made, and gives
// back the others unless it failed. What took long may have waited for a processor:
// so workers take half as many then, until it is seen that each element takes long.
func (s *spans) settle(t span, made int, failed bool, took time.Duration) {
	if rest := (span{t.from + made, t.to}); rest.from < rest.to && !failed {
		s.back = append(s.back, rest)
	}
	switch {
	case took > 2*stretchTime:
		s.size = max(1, min(s.size, max(s.size/2, int(int64(made)*int64(stretchTime)/int64(took)))))
	case took < stretchTime/2 && made >= s.most():
		s.size = max(s.most(), min(2*s.most(), s.limit))
	}
}
