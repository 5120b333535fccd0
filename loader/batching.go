package loader

import (
	"errors"
	"fmt"
	"slices"
)

// BatchOptions says how drawn samples are put into batches. The zero BatchOptions is
// refused, because it has no bound.
type BatchOptions struct {
	// Size is the maximum number of samples in a batch, or of rows.
	Size int
	// Tokens bounds the sum of the lengths of a batch's samples, if it is more
	// than 0. With CountPadding it bounds the number of samples times the
	// longest length.
	Tokens       int
	CountPadding bool
	// Buckets are ascending upper bounds of lengths. Each bucket collects the
	// samples below its bound and at or above the one before; a last bucket
	// collects the rest. A full bucket becomes a batch, and at the end of the
	// epoch so do the others.
	Buckets []int
	// Row packs samples into rows of this many tokens. Each sample goes into
	// the first open row where it fits, or opens a new row. If Window rows are
	// open (0 means 32), the oldest is closed first.
	Row, Window int
	// Split fills rows to the last token: samples follow each other, and are
	// cut where a row ends. The remainder continues in the next row, which may
	// be in the next batch.
	Split bool
	// LastBatch says what the last batches are; for rows, PadLastBatch adds empty ones.
	LastBatch LastBatch
}

// byNumber reports whether a batch is a fixed number of consecutive draws.
func (b BatchOptions) byNumber() bool { return b.Tokens == 0 && len(b.Buckets) == 0 && b.Row == 0 }

const defaultWindow = 32

func (p *Plan) checkBatches() error {
	b := p.Batch
	switch {
	case b.Size < 0 || b.Tokens < 0 || b.Row < 0 || b.Window < 0:
		return errors.New("batches: a number is below 0")
	case b.Size > 1<<30 || b.Row > 1<<30 || b.Window > 1<<20:
		return errors.New("batches: a number is too large; 2^30 samples, rows and tokens of a row and 2^20 open rows are the most")
	case b.Size == 0 && b.Tokens == 0:
		return errors.New("batches have no bound; give a number of samples or of tokens")
	case b.LastBatch < KeepLastBatch || b.LastBatch > PadLastBatch:
		return fmt.Errorf("batches: there is no last batch %d", b.LastBatch)
	case b.CountPadding && b.Tokens == 0:
		return errors.New("batches: padding is counted of a number of tokens; give that, too")
	case b.LastBatch == PadLastBatch && b.Tokens > 0:
		return errors.New("batches of a number of tokens have no size to pad the last one to; keep or drop it")
	case b.Row > 0 && (b.Tokens > 0 || len(b.Buckets) > 0):
		return errors.New("batches of rows have a size and no number of tokens or buckets; leave these out")
	case b.Row == 0 && (b.Split || b.Window > 0):
		return errors.New("batches: split and window are valid only with rows; give the number of tokens of a row")
	case b.Split && b.Window > 0:
		return errors.New("batches: rows that are split are filled one by one; leave out the window")
	case !slices.IsSorted(b.Buckets) || len(slices.Compact(slices.Clone(b.Buckets))) != len(b.Buckets):
		return fmt.Errorf("batches: the bounds of buckets %v do not ascend", b.Buckets)
	case b.byNumber():
		_, err := p.Epoch(0)
		return err
	case p.lengths == nil:
		return errors.New("batches by length need the lengths of all samples; see Lengths")
	}
	return p.checkLengths()
}

func (p *Plan) checkLengths() error {
	most, what := p.Batch.Tokens, "a batch"
	if p.Batch.Row > 0 && !p.Batch.Split {
		most, what = p.Batch.Row, "a row"
	}
	total := 0
	for pos := range p.samples {
		i := p.pick.At(pos)
		n := p.lengths[i]
		switch {
		case n < 0 || n > maxPosition-total:
			return fmt.Errorf("%s has length %d", p.describe(i), n)
		case most > 0 && n > most:
			return fmt.Errorf("%s has length %d, but %s holds at most %d; raise that limit, or omit the sample", p.describe(i), n, what, most)
		}
		total += n
	}
	return nil
}

// A table lists the batches of an epoch that depend on lengths.
type table struct {
	emitted []int // drawn positions in the order of output; nil means the order of draws
	starts  []int // output position where each batch starts, and the end of the last
	rows    []int // for each row, likewise
	tokens  []int // for split rows: the end of each sample in the sequence of all tokens
}

func (b BatchOptions) tabulate(n int, length func(pos int) int) *table {
	switch {
	case b.Split:
		return b.chain(n, length)
	case b.Row > 0:
		return b.pack(n, length)
	}
	return b.fill(n, length)
}

type heap struct {
	positions      []int
	total, longest int
}

// fits reports whether a sample of this length may be added.
func (b BatchOptions) fits(h *heap, length int) bool {
	switch {
	case b.Size > 0 && len(h.positions) == b.Size:
		return false
	case b.Tokens == 0:
		return true
	case b.CountPadding:
		return max(h.longest, length) <= b.Tokens/(len(h.positions)+1)
	}
	return h.total+length <= b.Tokens
}

// fill puts samples into batches, by bucket.
func (b BatchOptions) fill(n int, length func(pos int) int) *table {
	t := &table{starts: []int{0}, emitted: make([]int, 0, n)}
	heaps := make([]heap, len(b.Buckets)+1)
	emit := func(h *heap) {
		t.emitted = append(t.emitted, h.positions...)
		t.starts = append(t.starts, len(t.emitted))
		*h = heap{positions: h.positions[:0]}
	}
	for pos := range n {
		l := length(pos)
		k, exact := slices.BinarySearch(b.Buckets, l)
		if exact {
			k++
		}
		h := &heaps[k]
		if !b.fits(h, l) {
			emit(h)
		}
		h.positions, h.total, h.longest = append(h.positions, pos), h.total+l, max(h.longest, l)
		if len(h.positions) == b.Size {
			emit(h)
		}
	}
	for k := range heaps {
		if len(heaps[k].positions) > 0 && b.LastBatch != DropLastBatch {
			emit(&heaps[k])
		}
	}
	if len(b.Buckets) == 0 {
		t.emitted = nil
	}
	return t
}

// pack puts samples into rows, first fit.
func (b BatchOptions) pack(n int, length func(pos int) int) *table {
	t := &table{rows: []int{0}, starts: []int{0}, emitted: make([]int, 0, n)}
	window := b.Window
	if window == 0 {
		window = defaultWindow
	}
	close := func(h heap) {
		t.emitted = append(t.emitted, h.positions...)
		t.rows = append(t.rows, len(t.emitted))
		if (len(t.rows)-1)%b.Size == 0 {
			t.starts = append(t.starts, len(t.emitted))
		}
	}
	var open []heap
	for pos := range n {
		l := length(pos)
		k := slices.IndexFunc(open, func(h heap) bool { return h.total+l <= b.Row })
		if k < 0 && len(open) == window {
			close(open[0])
			open = append(open[:0], open[1:]...)
		}
		if k < 0 {
			k, open = len(open), append(open, heap{})
		}
		open[k].positions, open[k].total = append(open[k].positions, pos), open[k].total+l
	}
	for _, h := range open {
		close(h)
	}
	if last := t.starts[len(t.starts)-1]; last < len(t.emitted) && b.LastBatch != DropLastBatch {
		t.starts = append(t.starts, len(t.emitted))
	}
	return t
}

// chain puts samples one after another; positions are tokens.
func (b BatchOptions) chain(n int, length func(pos int) int) *table {
	t := &table{tokens: make([]int, n), starts: []int{0}}
	total := 0
	for pos := range n {
		total += length(pos)
		t.tokens[pos] = total
	}
	for end := b.Size * b.Row; end <= total; end += b.Size * b.Row {
		t.starts = append(t.starts, end)
	}
	if t.starts[len(t.starts)-1] < total && b.LastBatch != DropLastBatch {
		t.starts = append(t.starts, total)
	}
	return t
}
