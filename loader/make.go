package loader

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/internal/proc/timing"
	"github.com/larder-data/larder/pool"
)

// A job builds a batch. Its methods must not be called concurrently.
type job struct {
	loader  *Loader
	edition edition
	content Content
	numbers []int // of the samples to read
	own     int   // their number; the other samples repeat them
	again   bool
	fields  []FieldOptions
	items   []string // items that the fields need

	samples []dataset.Sample // that were read
	taken   []bool           // from the shelf
	errs    []error
	cells   [][]cell // by field, for each sample
	skipped []Skip
	columns []column
	bytes   int64 // size of the batch
}

func (l *Loader) job(e edition, c Content) *job {
	j := &job{loader: l, edition: e, content: c, own: len(c.Samples) - c.Padding, again: c.Padding == len(c.Samples)}
	if j.again {
		j.own = len(c.Samples)
	}
	j.numbers = c.Samples[:j.own]
	j.samples, j.taken, j.errs = make([]dataset.Sample, j.own), make([]bool, j.own), make([]error, j.own)
	return j
}

// end releases the samples.
func (j *job) end() {
	for i, taken := range j.taken {
		if taken {
			j.loader.shelf.give(place{j.edition.number, j.numbers[i]})
		}
	}
	clear(j.taken)
}

// read reads all samples, and lays them out.
func (j *job) read(ctx context.Context) error {
	if err := j.declare(ctx); err != nil {
		return err
	}
	j.cells = make([][]cell, len(j.fields))
	for f := range j.cells {
		j.cells[f] = make([]cell, j.own)
	}
	if err := j.loader.pool.AtLeast(j.loader.batch).Ranges(ctx, j.own, j.load); err != nil {
		return err
	}
	if err := j.dropUnreadable(ctx); err != nil {
		return err
	}
	return j.layOut()
}

// declare sets the fields: the declared ones, or the items of the first
// readable sample.
func (j *job) declare(ctx context.Context) error {
	j.fields = j.loader.options.Fields
	for i := 0; len(j.fields) == 0 && i < j.own; i++ {
		if j.find(ctx, i); j.errs[i] != nil {
			continue
		}
		for _, k := range j.samples[i].Keys() {
			j.fields = append(j.fields, FieldOptions{Item: k})
		}
		if len(j.fields) == 0 {
			return fmt.Errorf("%s has no items", j.loader.plan.describe(j.content.Samples[i]))
		}
	}
	for i := range j.fields {
		if !slices.Contains(j.items, j.fields[i].Item) {
			j.items = append(j.items, j.fields[i].Item)
		}
	}
	return nil
}

// find gets a sample without reading its items.
func (j *job) find(ctx context.Context, i int) {
	if !j.taken[i] {
		j.taken[i] = true
		ctx, leave := timing.Enter(ctx, timing.Find, "")
		defer leave()
		j.samples[i], j.errs[i] = j.loader.sample(ctx, j.edition, j.numbers[i])
	}
}

// load reads as many samples as possible within some milliseconds.
func (j *job) load(ctx context.Context, from, to int) (int, error) {
	ctx, leave := timing.Enter(ctx, timing.Collate, "")
	defer leave()
	start, end := time.Now(), from
	for least := from + max(1, j.loader.batch); end < to && (end < least || time.Since(start) < pool.Patience); end++ {
		j.find(ctx, end)
		if j.loader.batch <= 1 && !j.makes(end) {
			j.fill(ctx, end)
		}
		if ctx.Err() != nil {
			return end - from, context.Cause(ctx)
		}
	}
	return end - from, j.together(ctx, from, end)
}

// makes reports whether an item of a sample may have to be computed.
func (j *job) makes(i int) bool {
	for f := range j.samples[i].Fields() {
		if _, ok := dataset.ExecutionOf(f.Item); ok {
			return true
		}
	}
	return false
}

// together computes samples as a batch, and then reads them.
func (j *job) together(ctx context.Context, from, to int) error {
	var places []int
	var samples []dataset.Sample
	for i := from; i < to; i++ {
		if j.errs[i] == nil && (j.loader.batch > 1 || j.makes(i)) {
			places, samples = append(places, i), append(samples, j.samples[i].Only(j.items...))
		}
	}
	for len(places) > 0 {
		n, err := dataset.Make(ctx, samples)
		for _, i := range places[:n] {
			j.fill(ctx, i)
		}
		if n < len(places) && err != nil {
			j.errs[places[n]] = err
			n++
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		places, samples = places[n:], samples[n:]
	}
	return nil
}

func (j *job) fill(ctx context.Context, i int) {
	for f := range j.fields {
		if j.errs[i] != nil {
			return
		}
		it, err := j.samples[i].Item(j.fields[f].Item)
		if err != nil {
			j.errs[i] = err
			return
		}
		c, err := cellOf(ctx, &j.fields[f], it)
		if err == nil && j.fields[f].Collate == ItemKey {
			c.data, err = j.loader.keyed(c.data)
		}
		if j.cells[f][i] = c; err != nil {
			j.errs[i] = fmt.Errorf("item %s: %w", j.fields[f].Item, err)
		}
	}
}

// dropUnreadable removes the samples that could not be read, or returns the first error
// that must not be skipped.
func (j *job) dropUnreadable(ctx context.Context) error {
	l, retained, places := j.loader, 0, make([]int, j.own)
	for i, err := range j.errs {
		number := j.numbers[i]
		if err == nil {
			places[i] = retained
			retained++
			continue
		}
		err = fmt.Errorf("%s: %w", l.plan.describe(number), err)
		if l.options.Skip == 0 || ctx.Err() != nil || errors.Is(err, dataset.ErrChanged) || errors.Is(err, context.Canceled) {
			return err
		}
		places[i] = -1
		k := l.plan.key(number)
		s := Skip{Key: k, Part: l.plan.Parts[k.Part].Name, Epoch: j.content.Epoch, Position: j.content.From + i, Err: err}
		if l.plan.Batch.Split {
			s.Position = j.content.From
		}
		j.skipped = append(j.skipped, s)
	}
	if retained == 0 {
		return fmt.Errorf("no sample of the batch can be read; the first: %w", j.skipped[0].Err)
	}
	if retained < j.own {
		j.leaveOut(places, retained)
	}
	return nil
}

// leaveOut continues without the removed samples: places has the new indexes of
// the others.
func (j *job) leaveOut(places []int, retained int) {
	c := &j.content
	samples := make([]int, retained)
	for i, to := range places {
		if to < 0 {
			continue
		}
		samples[to] = c.Samples[i]
		for f := range j.cells {
			j.cells[f][to] = j.cells[f][i]
		}
	}
	for f := range j.cells {
		j.cells[f] = j.cells[f][:retained]
	}
	c.Rows = slices.Clone(c.Rows)
	for r, row := range c.Rows {
		c.Rows[r] = nil
		for _, p := range row {
			if p.Sample = places[p.Sample]; p.Sample >= 0 {
				c.Rows[r] = append(c.Rows[r], p)
			}
		}
	}
	c.Samples, c.Padding = samples, 0
	if b := j.loader.plan.Batch; j.again {
		c.Padding = retained
	} else if b.LastBatch == PadLastBatch && b.Row == 0 {
		c.fill(b.Size - retained)
	}
}

func (j *job) layOut() error {
	var l layout
	j.columns = make([]column, len(j.fields))
	for f := range j.columns {
		c := &j.columns[f]
		*c = column{options: &j.fields[f], cells: j.cells[f], of: j.describe, rows: j.content.Rows, row: j.loader.plan.Batch.Row}
		own := len(c.cells)
		for k := own; k < len(j.content.Samples); k++ {
			c.cells = append(c.cells, c.cells[k%own])
		}
		collation, err := j.collation(c)
		if err != nil {
			return err
		}
		if collation == Packed {
			if err := j.lengths(c); err != nil {
				return err
			}
		}
		if err := c.layOut(&l, collation); err != nil {
			return err
		}
	}
	j.bytes = l.bytes
	return nil
}

// lengths refuses packed samples whose length differs from that in the plan.
func (j *job) lengths(c *column) error {
	for i := range c.cells {
		shape, planned := c.cells[i].shape, j.loader.plan.lengths
		if n := j.content.Samples[i]; len(shape) > 0 && len(planned) > n && shape[0] != planned[n] {
			return fmt.Errorf("%s has %d tokens, but the plan has length %d", j.describe(i), shape[0], planned[n])
		}
	}
	return nil
}

// describe names a sample of the batch for an error message.
func (j *job) describe(i int) string { return j.loader.plan.describe(j.content.Samples[i]) }

// collation returns the collation of a field: for packed samples, Packed for sequences of
// the sample's length.
func (j *job) collation(c *column) (Collation, error) {
	if c.options.Collate == Auto && len(c.rows) > 0 && j.sequences(c) {
		return Packed, nil
	}
	if c.options.Collate == ItemKey {
		return Stack, nil
	}
	return collationOf(c)
}

func (j *job) sequences(c *column) bool {
	for i := range c.cells {
		in := &c.cells[i]
		if in.natural != Stack && in.natural != Bytes || len(in.shape) == 0 || in.shape[0] != j.loader.plan.lengths[j.content.Samples[i]] {
			return false
		}
	}
	return true
}

// smallBatch is the largest batch that is written without concurrency.
const smallBatch = 256 << 10

// write writes the batch into memory of its size.
func (j *job) write(ctx context.Context, data []byte) (*Batch, error) {
	parts := 0
	for f := range j.columns {
		parts = max(parts, j.columns[f].parts())
	}
	write := func(ctx context.Context, part int) error {
		_, leave := timing.Enter(ctx, timing.Collate, "")
		defer leave()
		for f := range j.columns {
			if c := &j.columns[f]; part < c.parts() {
				if err := c.write(part, data); err != nil {
					return err
				}
			}
		}
		return nil
	}
	if len(data) <= smallBatch {
		for part := range parts {
			if err := write(ctx, part); err != nil {
				return nil, err
			}
		}
	} else if err := j.loader.pool.Each(ctx, parts, write); err != nil {
		return nil, err
	}
	return j.batch(data), nil
}

func (j *job) batch(data []byte) *Batch {
	c := j.content
	b := &Batch{Epoch: c.Epoch, From: c.From, To: c.To, Padding: c.Padding, Skipped: j.skipped, Rows: c.Rows, Data: data}
	b.Samples, b.Fields = make([]Key, len(c.Samples)), make([]Field, len(j.columns))
	for i, number := range c.Samples {
		b.Samples[i] = j.loader.plan.key(number)
	}
	for f := range j.columns {
		j.columns[f].finish(data)
		b.Fields[f] = j.columns[f].Field
	}
	return b
}
