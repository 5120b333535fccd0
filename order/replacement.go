package order

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"sort"
	"sync"
)

// Epochs returns n elements in several passes, each in its own random order: at
// position p it has what [Shuffle] of epoch p/n has at p%n.
func Epochs(n int, seed uint64, epochs int) (Order, error) {
	if epochs < 0 || n < 0 {
		return nil, fmt.Errorf("cannot repeat %d elements %d times", n, epochs)
	}
	if _, err := product(n, epochs); err != nil {
		return nil, err
	}
	return shuffles{N: n, Seed: seed, Epochs: epochs}, nil
}

type shuffles struct {
	N      int
	Seed   uint64
	Epochs int
}

func (s shuffles) epoch(e int) shuffled { return newShuffled(s.N, s.Seed, uint64(e)) }

// Len implements Order.
func (s shuffles) Len() int { return s.N * s.Epochs }

// OncePerPass implements Passes.
func (shuffles) OncePerPass() bool { return true }

// At implements Order.
func (s shuffles) At(pos int) int {
	checkPos(pos, s.Len())
	return s.epoch(pos / s.N).At(pos % s.N)
}

// Next implements Order. An element that was read in this pass is read again in the
// next one.
func (s shuffles) Next(index, after int) (int, bool) {
	if index < 0 || index >= s.N {
		return 0, false
	}
	e := (after + 1) / s.N
	for ; e < s.Epochs; e++ {
		if pos := e*s.N + s.epoch(e).inverse(uint64(index)); pos > after {
			return pos, true
		}
	}
	return 0, false
}

// Shard returns the positions of n elements that one of several ranks reads: every
// ranks-th, from rank on. Together the ranks read each element once.
func Shard(n, rank, ranks int) (Order, error) {
	if ranks < 1 || rank < 0 || rank >= ranks {
		return nil, fmt.Errorf("rank is %d of %d; give 0 to ranks - 1", rank, ranks)
	}
	return Affine{Start: rank, Step: ranks, N: max(0, (n-rank+ranks-1)/ranks)}, nil
}

// EpochSeed returns a different seed for each epoch.
func EpochSeed(seed, epoch uint64) uint64 { return mix(mix(seed) ^ epoch) }

// Uniform returns a random number in [0, 1) that depends on seed and position only and
// never changes between versions. It is independent of the draws of [WithReplacement] and [Mix].
func Uniform(seed uint64, pos int) float64 {
	return unit(mix(mix(seed^uniformSeed) + uint64(pos)*golden))
}

const uniformSeed = 0x756e69666f726d00 // "uniform"

// unit returns a number in [0, 1) from the upper bits of x.
func unit(x uint64) float64 { return float64(x>>11) / (1 << 53) }

// WithReplacement returns an order of elements drawn from n with replacement. The draw at a
// position is a function of seed and position. The first call of Next builds a list of
// all positions.
func WithReplacement(n, draws int, seed uint64) (Order, error) {
	return Mix(draws, seed, Pool{N: n, Weight: 1})
}

// A Pool is a range of elements that [Mix] draws from.
type Pool struct {
	N      int     // elements
	Weight float64 // share of the draws, relative to those of other pools
}

// Mix draws from several pools with replacement: first the pool, by weight, then the
// element. The elements of a pool follow those of the pools before it. The draw at a
// position is a function of seed and position. The first call of Next builds a list of
// all positions.
func Mix(draws int, seed uint64, pools ...Pool) (Order, error) {
	if draws < 0 {
		return nil, fmt.Errorf("cannot draw %d elements; give 0 or more", draws)
	}
	if draws == 0 {
		return Identity(0), nil
	}
	m := &mixture{draws: draws, seed: seed, pools: slices.Clone(pools)}
	sum := 0.0
	for i, p := range pools {
		if err := checkPool(i, p); err != nil {
			return nil, err
		}
		sum += p.Weight
	}
	if !(sum > 0) || math.IsInf(sum, 1) {
		return nil, fmt.Errorf("the weights of the pools add up to %v; give positive weights", sum)
	}
	share, start, last := 0.0, 0, 0
	for k, p := range pools {
		share += p.Weight / sum
		m.upTo = append(m.upTo, share)
		m.starts = append(m.starts, start)
		start += p.N
		if p.Weight > 0 {
			last = k
		}
	}
	for k := last; k < len(pools); k++ {
		m.upTo[k] = 1 // rounding may have missed 1
	}
	return m, nil
}

type mixture struct {
	draws  int
	seed   uint64
	pools  []Pool
	upTo   []float64 // share of the draws from this pool and those before it
	starts []int     // first index of each pool

	once  sync.Once
	where occurrences
}

func (m *mixture) Len() int { return m.draws }

func (m *mixture) At(pos int) int {
	checkPos(pos, m.draws)
	first := mix(mix(m.seed) + uint64(pos)*golden)
	u := unit(first)
	pool := sort.Search(len(m.pools), func(k int) bool { return m.upTo[k] > u })
	high, _ := bits.Mul64(mix(first+1), uint64(m.pools[pool].N))
	return m.starts[pool] + int(high)
}

func (m *mixture) Next(index, after int) (int, bool) {
	m.once.Do(func() { m.where = occurrencesOf(m) })
	return m.where.next(index, after)
}

// occurrences lists the positions of every index of an order, ascending.
type occurrences struct {
	starts    []int // of each index in positions, and the end
	positions []int
}

// occurrencesOf lists the positions of an order with small indices, in two passes over
// it.
func occurrencesOf(o Order) occurrences {
	top := -1
	for pos := range o.Len() {
		top = max(top, o.At(pos))
	}
	w := occurrences{starts: make([]int, top+2), positions: make([]int, o.Len())}
	for pos := range o.Len() {
		w.starts[o.At(pos)+1]++
	}
	for i := range top + 1 {
		w.starts[i+1] += w.starts[i]
	}
	fill := slices.Clone(w.starts)
	for pos := range o.Len() {
		i := o.At(pos)
		w.positions[fill[i]] = pos
		fill[i]++
	}
	return w
}

func (w occurrences) next(index, after int) (int, bool) {
	if index < 0 || index+1 >= len(w.starts) {
		return 0, false
	}
	positions := w.positions[w.starts[index]:w.starts[index+1]]
	k, _ := slices.BinarySearch(positions, after+1)
	if k == len(positions) {
		return 0, false
	}
	return positions[k], true
}

// Concat returns the concatenation of orders over the same elements.
func Concat(parts ...Order) Order {
	if len(parts) == 1 {
		return parts[0]
	}
	c := concat{parts: slices.Clone(parts)}
	for _, p := range parts {
		c.ends = append(c.ends, c.Len()+p.Len())
	}
	return c
}

type concat struct {
	parts []Order
	ends  []int
}

func (c concat) Len() int {
	if len(c.ends) == 0 {
		return 0
	}
	return c.ends[len(c.ends)-1]
}

// part returns the part that contains a position, and its start.
func (c concat) part(pos int) (k, start int) {
	k, _ = slices.BinarySearch(c.ends, pos+1)
	if k > 0 {
		start = c.ends[k-1]
	}
	return k, start
}

func (c concat) At(pos int) int {
	checkPos(pos, c.Len())
	k, start := c.part(pos)
	return c.parts[k].At(pos - start)
}

func (c concat) Next(index, after int) (int, bool) {
	k, start := c.part(after + 1)
	for ; k < len(c.parts); k++ {
		if pos, ok := c.parts[k].Next(index, after-start); ok {
			return start + pos, true
		}
		start, after = c.ends[k], c.ends[k]-1
	}
	return 0, false
}

// Interleave alternates between orders over the same elements: one position of each, as
// long as it has any.
func Interleave(parts ...Order) Order {
	t := turns{parts: slices.Clone(parts)}
	for _, p := range parts {
		t.n += p.Len()
	}
	return t
}

type turns struct {
	parts []Order
	n     int
}

func (t turns) Len() int { return t.n }

// before returns the number of positions before the turn of part k in a round.
func (t turns) before(k, round int) int {
	n := 0
	for i, p := range t.parts {
		n += min(p.Len(), round)
		if i < k && p.Len() > round {
			n++
		}
	}
	return n
}

func (t turns) At(pos int) int {
	checkPos(pos, t.n)
	// The last round that does not start after pos.
	round := sort.Search(t.n, func(round int) bool { return t.before(0, round+1) > pos })
	left := pos - t.before(0, round)
	for _, p := range t.parts {
		if p.Len() <= round {
			continue
		}
		if left == 0 {
			return p.At(round)
		}
		left--
	}
	panic("order: a round without a turn")
}

func (t turns) Next(index, after int) (best int, ok bool) {
	for k, p := range t.parts {
		late := sort.Search(p.Len(), func(round int) bool { return t.before(k, round) > after })
		if round, found := p.Next(index, late-1); found {
			if pos := t.before(k, round); !ok || pos < best {
				best, ok = pos, true
			}
		}
	}
	return best, ok
}
