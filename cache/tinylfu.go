package cache

// tinyLFU is W-TinyLFU. New entries pass through a window of a hundredth of the cache.
// An entry that leaves it is accepted only if it was requested more often lately than
// its victim. A small sketch counts the frequencies, and is halved now and then so that
// old requests lose weight (Einziger, Friedman and Manes, TinyLFU: A Highly Efficient
// Cache Admission Policy, 2017).
type tinyLFU[K comparable, V any] struct {
	window, probation, protected list[K, V]
	sizes                        [3]int // entries in each
	sketch                       sketch
	hash                         func(k K) uint64
}

// Lists of an entry.
const (
	inWindow = iota
	inProbation
	inProtected
)

func newTinyLFU[K comparable, V any]() *tinyLFU[K, V] {
	return &tinyLFU[K, V]{
		window: newList[K, V](), probation: newList[K, V](), protected: newList[K, V](),
		sketch: newSketch(64), hash: newHash[K](),
	}
}

// begin counts every read, hit or miss.
func (p *tinyLFU[K, V]) begin(k K) { p.sketch.add(p.hash(k)) }

func (p *tinyLFU[K, V]) frequency(e *entry[K, V]) uint8 {
	return p.sketch.count(p.hash(e.key))
}

func (p *tinyLFU[K, V]) of(place int32) list[K, V] {
	return [...]list[K, V]{p.window, p.probation, p.protected}[place]
}

func (p *tinyLFU[K, V]) put(e *entry[K, V], place int32) {
	e.place = place
	p.of(place).insert(e)
	p.sizes[place]++
}

func (p *tinyLFU[K, V]) remove(e *entry[K, V]) {
	p.of(e.place).remove(e)
	p.sizes[e.place]--
}

func (p *tinyLFU[K, V]) move(e *entry[K, V], place int32) {
	p.remove(e)
	p.put(e, place)
}

func (p *tinyLFU[K, V]) held() int { return p.sizes[0] + p.sizes[1] + p.sizes[2] }

func (p *tinyLFU[K, V]) insert(e *entry[K, V]) {
	p.put(e, inWindow)
	p.sketch.fit(p.held())
}

// hit renews an entry. It promotes one on probation, for which the oldest protected
// entry is demoted.
func (p *tinyLFU[K, V]) hit(e *entry[K, V]) {
	if e.place != inProbation {
		p.of(e.place).renew(e)
		return
	}
	p.move(e, inProtected)
	if main := p.sizes[inProbation] + p.sizes[inProtected]; p.sizes[inProtected] > max(1, main*8/10) {
		p.move(p.protected.oldest(), inProbation)
	}
}

// victim compares the oldest entry of the window with the oldest on probation.
func (p *tinyLFU[K, V]) victim(*entry[K, V]) *entry[K, V] {
	candidate := p.window.oldest()
	if candidate != nil && p.sizes[inWindow] < max(1, p.held()/100) {
		candidate = nil
	}
	old := p.probation.oldest()
	if old == nil {
		old = p.protected.oldest()
	}
	switch {
	case candidate == nil && old == nil:
		return p.window.oldest()
	case candidate == nil:
		return old
	case old == nil:
		// There is only a window yet: all of it but the newest moves on.
		for p.sizes[inWindow] > max(1, p.held()/100) {
			p.move(p.window.oldest(), inProbation)
		}
		if old = p.probation.oldest(); old == nil {
			return candidate
		}
		return old
	case p.frequency(candidate) > p.frequency(old):
		p.move(candidate, inProbation)
		return old
	default:
		return candidate
	}
}

// sketch is a count-min sketch of four rows of small counters.
type sketch struct {
	rows [4][]uint8
	adds int
}

const maxCount = 15

func newSketch(width int) sketch {
	var s sketch
	for i := range s.rows {
		s.rows[i] = make([]uint8, width)
	}
	return s
}

// fit makes each row at least eight counters wide per entry, so that few keys share all
// of theirs. It resets the counts.
func (s *sketch) fit(entries int) {
	if width := len(s.rows[0]); entries*8 > width {
		*s = newSketch(2 * entries * 8)
	}
}

func (s *sketch) at(row int, hash uint64) *uint8 {
	h := hash + uint64(row)*0x9e3779b97f4a7c15
	h = (h ^ h>>32) * 0xd6e8feb86659fd93
	return &s.rows[row][(h^h>>32)%uint64(len(s.rows[row]))]
}

func (s *sketch) add(hash uint64) {
	for row := range s.rows {
		if c := s.at(row, hash); *c < maxCount {
			*c++
		}
	}
	if s.adds++; s.adds > 2*len(s.rows[0]) {
		s.halve()
	}
}

func (s *sketch) halve() {
	s.adds /= 2
	for _, row := range s.rows {
		for i := range row {
			row[i] /= 2
		}
	}
}

func (s *sketch) count(hash uint64) uint8 {
	least := uint8(maxCount)
	for row := range s.rows {
		least = min(least, *s.at(row, hash))
	}
	return least
}
