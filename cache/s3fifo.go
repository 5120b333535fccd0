package cache

// s3fifo puts new entries into a small queue, a tenth of the cache, and moves those
// read more than once to the main queue. The main queue gives entries that were read
// another round. Keys that left the small queue are remembered for a while. If they
// return, they enter the main queue (Yang et al., FIFO Queues are All You Need for
// Cache Eviction, SOSP 2023).
type s3fifo[K comparable, V any] struct {
	small, main list[K, V]
	smalls      int // entries in small
	mains       int
	ghosts      ghosts[K]
}

const most = 3

func newS3FIFO[K comparable, V any]() *s3fifo[K, V] {
	return &s3fifo[K, V]{small: newList[K, V](), main: newList[K, V](), ghosts: ghosts[K]{at: map[K]int{}}}
}

func (p *s3fifo[K, V]) insert(e *entry[K, V]) {
	if p.ghosts.take(e.key) {
		p.toMain(e)
		return
	}
	e.place = inSmall
	p.small.insert(e)
	p.smalls++
}

// Queues of an entry.
const (
	inSmall = iota
	inMain
)

func (p *s3fifo[K, V]) toMain(e *entry[K, V]) {
	e.place = inMain
	p.main.insert(e)
	p.mains++
}

func (p *s3fifo[K, V]) hit(e *entry[K, V]) { e.rank = min(e.rank+1, most) }

func (p *s3fifo[K, V]) remove(e *entry[K, V]) {
	if e.place == inSmall {
		p.small.remove(e)
		p.smalls--
		p.ghosts.add(e.key, p.mains+1)
		return
	}
	p.main.remove(e)
	p.mains--
}

func (p *s3fifo[K, V]) victim(*entry[K, V]) *entry[K, V] {
	for p.smalls > 0 && p.smalls >= max(1, (p.smalls+p.mains)/10) {
		e := p.small.oldest()
		if e.rank <= 1 {
			return e
		}
		p.small.remove(e)
		p.smalls--
		e.rank = 0
		p.toMain(e)
	}
	for p.mains > 0 {
		e := p.main.oldest()
		if e.rank == 0 {
			return e
		}
		e.rank--
		p.main.renew(e)
	}
	return p.small.oldest()
}

// ghosts remembers the last keys that left.
type ghosts[K comparable] struct {
	queue []K
	at    map[K]int // how often a key is in the queue and was not taken
}

func (g *ghosts[K]) add(k K, most int) {
	g.queue = append(g.queue, k)
	g.at[k]++
	for len(g.queue) > most {
		g.forget(g.queue[0])
		g.queue = g.queue[1:]
	}
}

func (g *ghosts[K]) forget(k K) {
	if g.at[k]--; g.at[k] <= 0 {
		delete(g.at, k)
	}
}

// take reports whether k is remembered, and removes it.
func (g *ghosts[K]) take(k K) bool {
	_, ok := g.at[k]
	delete(g.at, k)
	return ok
}
