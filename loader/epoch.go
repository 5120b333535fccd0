package loader

import (
	"fmt"
	"slices"

	"github.com/larder-data/larder/order"
)

// An Epoch says which samples each batch of one epoch has. Callers count
// batches from any position where they start. It is safe for concurrent use.
type Epoch struct {
	plan   *Plan
	number uint64
	drawn  order.Order
	table  *table // nil: batches by number
}

// cachedTables is the number of cached tables: ranks may be an epoch apart.
const cachedTables = 2

// Epoch returns one of the plan's epochs. Where batches depend on lengths, it
// needs time and memory for each sample; the plan caches the two epochs
// requested last.
func (p *Plan) Epoch(number uint64) (*Epoch, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, e := range p.recent {
		if e.number == number {
			return e, nil
		}
	}
	drawn, err := p.drawn(number)
	if err != nil {
		return nil, fmt.Errorf("epoch %d: %w", number, err)
	}
	e := &Epoch{plan: p, number: number, drawn: drawn}
	if !p.Batch.byNumber() {
		e.table = p.Batch.tabulate(drawn.Len(), func(pos int) int { return p.lengths[drawn.At(pos)] })
	}
	if e.Batches(0) == 0 {
		return nil, fmt.Errorf("epoch %d has %d samples and no batch: the rest is dropped, and it is all there is", number, drawn.Len())
	}
	p.recent = append(p.recent, e)
	if len(p.recent) > cachedTables {
		p.recent = append(p.recent[:0], p.recent[1:]...)
	}
	return e, nil
}

// Batches returns the number of batches from a position on.
func (e *Epoch) Batches(from int) int {
	b := e.plan.Batch
	switch n := e.drawn.Len(); {
	case e.table != nil:
		k, _ := slices.BinarySearch(e.table.starts, from)
		return max(0, len(e.table.starts)-1-k)
	case b.LastBatch == DropLastBatch:
		return max(0, n-from) / b.Size
	default:
		return (max(0, n-from) + b.Size - 1) / b.Size
	}
}

// start returns the position of the k-th batch from a position on; that of the
// batch after the last is the end.
func (e *Epoch) start(from, k int) int {
	if e.table != nil {
		first, _ := slices.BinarySearch(e.table.starts, from)
		return e.table.starts[first+k]
	}
	return min(from+k*e.plan.Batch.Size, e.drawn.Len())
}

// checkPosition refuses a state with a position where no batch begins.
func (p *Plan) checkPosition(s State) error {
	if s.Position == 0 {
		return nil
	}
	e, err := p.Epoch(s.Epoch)
	if err != nil {
		return err
	}
	if e.table == nil {
		if s.Position > e.drawn.Len() {
			return fmt.Errorf("it is at position %d, and the epoch has %d samples", s.Position, e.drawn.Len())
		}
		return nil
	}
	if _, begins := slices.BinarySearch(e.table.starts, s.Position); !begins {
		return fmt.Errorf("no batch begins at position %d", s.Position)
	}
	return nil
}

// A Content is the content of one batch.
type Content struct {
	Epoch uint64
	// From and To are the range of the batch in the epoch's order, as in
	// [State].
	From, To int
	// Samples are the numbers of its samples, counted over all parts. They are
	// those of the positions from From on; for split rows, those with a token
	// in the batch.
	Samples []int
	// Padding is the number of samples at the end that only fill up the batch.
	Padding int
	// Rows are the positions of packed samples.
	Rows []Row
}

// A Row lists the pieces in one row of packed samples, from its first token on.
type Row []Piece

// A Piece is the tokens of a sample in the range [From, To).
type Piece struct {
	Sample int `json:"sample"` // index in the batch
	From   int `json:"from"`
	To     int `json:"to"`
}

// Content returns the k-th batch from a position on.
func (e *Epoch) Content(from, k int) Content {
	c := Content{Epoch: e.number, From: e.start(from, k)}
	c.To = e.start(c.From, 1)
	b := e.plan.Batch
	if b.Split {
		e.cut(&c)
		return c
	}
	c.Samples = make([]int, 0, max(c.To-c.From, 0))
	for pos := c.From; pos < c.To; pos++ {
		c.Samples = append(c.Samples, e.at(pos))
	}
	switch own := len(c.Samples); {
	case b.Row > 0:
		e.rows(&c)
	case b.LastBatch == PadLastBatch:
		c.fill(b.Size - own)
	}
	return c
}

// fill appends the first n samples again.
func (c *Content) fill(n int) {
	own := len(c.Samples) - c.Padding
	for i := range n {
		c.Samples = append(c.Samples, c.Samples[i%own])
	}
	c.Padding += n
}

// at returns the number of the sample at an output position.
func (e *Epoch) at(pos int) int {
	if e.table != nil && e.table.emitted != nil {
		pos = e.table.emitted[pos]
	}
	return e.drawn.At(pos)
}

// rows assigns the samples of a batch to rows.
func (e *Epoch) rows(c *Content) {
	first, _ := slices.BinarySearch(e.table.rows, c.From)
	for r := first; r+1 < len(e.table.rows) && e.table.rows[r] < c.To; r++ {
		var row Row
		for pos := e.table.rows[r]; pos < e.table.rows[r+1]; pos++ {
			i := pos - c.From
			row = append(row, Piece{Sample: i, To: e.plan.lengths[c.Samples[i]]})
		}
		c.Rows = append(c.Rows, row)
	}
	c.fillRows(e.plan.Batch)
}

// cut cuts the tokens of a batch into rows.
func (e *Epoch) cut(c *Content) {
	b := e.plan.Batch
	for start := c.From; start < c.To; start += b.Row {
		end := min(start+b.Row, c.To)
		var row Row
		pos, _ := slices.BinarySearch(e.table.tokens, start+1)
		for at := start; at < end; pos++ {
			until := min(e.table.tokens[pos], end)
			if until == at {
				continue // it has no tokens
			}
			number := e.drawn.At(pos)
			begin := e.table.tokens[pos] - e.plan.lengths[number]
			continues := at > begin && len(c.Samples) > 0 && at > c.From
			if !continues {
				c.Samples = append(c.Samples, number)
			}
			row = append(row, Piece{Sample: len(c.Samples) - 1, From: at - begin, To: until - begin})
			at = until
		}
		c.Rows = append(c.Rows, row)
	}
	c.fillRows(b)
}

func (c *Content) fillRows(b BatchOptions) {
	for b.LastBatch == PadLastBatch && len(c.Rows) < b.Size {
		c.Rows = append(c.Rows, nil)
	}
}

// Reads returns the order in which all ranks together read the samples from a
// position on, as numbers over all parts, for use by caches. ok is false for
// split rows.
func (e *Epoch) Reads(from int) (o order.Order, ok bool) {
	if e.plan.Batch.Split {
		return nil, false
	}
	n := e.drawn.Len()
	o = e.drawn
	if t := e.table; t != nil {
		n = t.starts[len(t.starts)-1]
		if t.emitted != nil {
			emitted, err := order.Index(e.drawn.Len(), t.emitted[:n])
			if err != nil {
				return nil, false // impossible: they are positions
			}
			o = order.Then(emitted, o)
		}
	}
	return order.Then(order.Affine{Start: from, Step: 1, N: max(0, n-from)}, o), true
}

// Reads returns the order in which the samples of a number of epochs are read from
// a state on, like [Epoch.Reads]. It returns false if the order of one is unknown.
func (p *Plan) Reads(from State, epochs int) (order.Order, bool) {
	var parts []order.Order
	for k := range uint64(max(epochs, 0)) {
		e, err := p.Epoch(from.Epoch + k)
		if err != nil {
			return nil, false
		}
		o, ok := e.Reads(from.Position)
		if !ok {
			return nil, false
		}
		parts, from.Position = append(parts, o), 0
	}
	if p.Order == Sequential || p.Order == Shuffled {
		return passes{order.Concat(parts...)}, true
	}
	return order.Concat(parts...), true
}

// passes is an order that has each sample once per epoch.
type passes struct{ order.Order }

// OncePerPass implements [order.Passes].
func (passes) OncePerPass() bool { return true }
