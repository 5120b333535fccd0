package loader

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"math"

	"github.com/larder-data/larder/order"
)

// fingerprint hashes the options in a fixed order.
func (p *Plan) fingerprint() (f Fingerprint) {
	var w printer
	w.begin("samples")
	w.number(uint64(len(p.Parts)))
	for _, part := range p.Parts {
		w.text(part.Name)
		w.text(part.Identity)
		w.number(uint64(part.Len))
		w.indices(part.Only)
		w.numbers(part.Lengths)
	}
	f.Data = w.sum()

	w.begin("order")
	w.number(uint64(p.Order))
	w.number(uint64(p.Draws))
	w.number(uint64(p.Stop))
	if p.Order == WithReplacement || p.Order == Mixed {
		for _, part := range p.Parts {
			w.number(math.Float64bits(part.Weight))
		}
	}
	f.Order = w.sum()

	w.begin("batches")
	b := p.Batch
	if b.byNumber() {
		b.Size, b.LastBatch = 0, KeepLastBatch // a state may continue with batches of another size
	}
	for _, n := range []int{b.Size, b.Tokens, b.Row, b.Window, int(b.LastBatch)} {
		w.number(uint64(n))
	}
	for _, is := range []bool{b.CountPadding, b.Split} {
		w.number(map[bool]uint64{true: 1}[is])
	}
	w.numbers(b.Buckets)
	f.Batches = w.sum()
	return f
}

// A printer encodes the content of a fingerprint without ambiguity.
type printer struct {
	hash hash.Hash
	b    []byte
}

func (w *printer) begin(what string) {
	w.hash = sha256.New()
	w.text(what)
}

func (w *printer) number(n uint64) {
	if w.b = binary.LittleEndian.AppendUint64(w.b, n); len(w.b) >= 4096 {
		w.flush()
	}
}

func (w *printer) text(s string) {
	w.number(uint64(len(s)))
	w.b = append(w.b, s...)
}

func (w *printer) flush() {
	_, _ = w.hash.Write(w.b)
	w.b = w.b[:0]
}

func (w *printer) numbers(list []int) {
	w.number(uint64(len(list)))
	for _, n := range list {
		w.number(uint64(n))
	}
}

// indices writes the indices of an order, which may be nil.
func (w *printer) indices(o order.Order) {
	if o == nil {
		w.text("all")
		return
	}
	w.text("only")
	w.number(uint64(o.Len()))
	for pos := range o.Len() {
		w.number(uint64(o.At(pos)))
	}
}

func (w *printer) sum() (s [5]byte) {
	w.flush()
	copy(s[:], w.hash.Sum(nil))
	return s
}
