package flow

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"math"
	"os"
	"slices"
	"time"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store"
	"github.com/zeebo/xxh3"
)

// A sink of rows whose input changed in places is written anew in these places. What
// it wrote the last time for a stretch of samples is a piece of its output. A piece
// stands for whatever input has such a stretch, as long as each sample on the way
// is made of the one in the same place by mappers whose results are kept: they, the
// program and the sink are the key of a [pastPieces]. The output itself need not be
// what it was; each piece has a sum, and is taken if its bytes are there.
//
// Manifests keep what they say of samples that are not looked at. So these stand
// only where the manifests are those of the run that wrote them.

// pastPieces says in what pieces a sink wrote its output.
type pastPieces struct {
	Head      int64               `json:"head"`
	Pieces    []byte              `json:"pieces"`
	Manifests map[string][16]byte `json:"manifests"` // what the nodes above kept then: a sum of each manifest
	Nodes     []writtenNode       `json:"nodes"`

	byName map[string]writtenNode
}

// piecesType is the type of records that hold a [pastPieces].
var piecesType = xxh3.HashString("larder pieces 1")

// piecesIn describes how a sink writes what it is given, or returns nil if it does
// not do so in pieces: also where something is wrong, as that is met again where it
// can be said.
func (r *run) piecesIn(ctx context.Context, w *writing, in component.Data) *component.Pieces {
	p, ok := w.sink.Params.(component.Piecer)
	if !ok || in.Names != nil || len(in.Parts) != 1 || !w.alone {
		return nil
	}
	on, ok, err := p.Pieces(ctx, in.Parts[0])
	if !ok || err != nil {
		return nil
	}
	stretches, err := dataset.Stretches(ctx, in.Parts[0])
	left := in.Parts[0].Len()
	for _, s := range stretches {
		left -= s.Samples
	}
	if stretches == nil || err != nil || left != 0 {
		return nil
	}
	op, err := key.NewOp("pieces of "+w.sink.Component.Name, w.build, slices.Concat(w.does, []key.Param{
		{Name: "flow", Value: r.id()}, {Name: "rows", Value: on},
	})...)
	if err != nil {
		return nil
	}
	w.rows = op.Action()
	return &component.Pieces{Stretches: stretches}
}

// pieces describes how a sink writes what it is given, and what it wrote the last
// time, or returns nil if it does not write in pieces. In doubt it wrote nothing
// before.
func (r *run) pieces(ctx context.Context, w *writing, in component.Data) *component.Pieces {
	p := r.piecesIn(ctx, w, in)
	w.pieces = p
	if p == nil {
		return nil
	}
	if slices.ContainsFunc(w.nodes, func(s *state) bool { return s.tally.Loose.Load() }) {
		return p
	}
	rec, err := r.Larder.Store().Get(ctx, w.rows.Key())
	if err != nil || rec.Type != piecesType {
		return p
	}
	var past pastPieces
	if json.Unmarshal(rec.Payload, &past) != nil {
		return p
	}
	for _, m := range w.manifests() {
		if _, ok := r.sameManifest(ctx, m, past.Manifests[m.name]); !ok {
			return p
		}
	}
	if pieces, ok := decodePieces(past.Pieces); ok {
		w.past = &past
		p.Before = component.Layout{Head: past.Head, Pieces: pieces}
	}
	return p
}

// manifests lists those of the nodes that a sink depends on.
func (w *writing) manifests() (all []*manifest) {
	for _, s := range w.nodes {
		all = append(all, s.manifest...)
	}
	return all
}

// sameManifest returns what is kept under the name of a manifest, if it has a sum.
// None has the zero sum.
func (r *run) sameManifest(ctx context.Context, m *manifest, sum [16]byte) (store.Manifest, bool) {
	was, err := r.Larder.Store().Manifest(ctx, m.name)
	if errors.Is(err, store.ErrNotFound) {
		return was, sum == [16]byte{}
	}
	return was, err == nil && sumOf(was) == sum
}

// tellCopied has manifests and reports of the nodes above a sink say of the samples
// that were not looked at what they said before.
func (r *run) tellCopied(ctx context.Context, w *writing, copied []component.Copy) {
	for _, c := range copied {
		w.sink.copied += int64(c.Samples)
	}
	if w.past == nil || len(copied) == 0 {
		return
	}
	for _, s := range w.nodes {
		for _, m := range s.manifest {
			was, _ := r.sameManifest(ctx, m, w.past.Manifests[m.name])
			n := int64(0)
			for range moved(was, copied) {
				n++
			}
			m.stands(copied, w.past.Manifests[m.name])
			if !s.tally.Settled.Load() {
				s.tally.Stand(n)
				s.tally.Save(w.past.saved(s.Name, n))
			}
		}
	}
}

// saved is how long so many of the results of a node took to compute, if they took
// as long as the others.
func (p *pastPieces) saved(node string, results int64) time.Duration {
	if p.byName == nil {
		p.byName = make(map[string]writtenNode, len(p.Nodes))
		for _, n := range p.Nodes {
			p.byName[n.Name] = n
		}
	}
	n := p.byName[node]
	if n.Results == 0 {
		return 0
	}
	return time.Duration(float64(n.Saved) * float64(results) / float64(n.Results))
}

// maxPieces bounds what is noted of a sink: some 100 MB.
const maxPieces = 1 << 20

// notePieces notes in what pieces a sink wrote its output.
func (r *run) notePieces(ctx context.Context, w *writing, nodes []writtenNode) error {
	if w.pieces == nil || len(w.pieces.After.Pieces) == 0 || len(w.pieces.After.Pieces) > maxPieces {
		return nil
	}
	past := pastPieces{
		Head: w.pieces.After.Head, Pieces: encodePieces(w.pieces.After.Pieces), Nodes: nodes, Manifests: map[string][16]byte{},
	}
	for _, m := range w.manifests() {
		if m.lost {
			return nil // as what was used is not known the next time
		}
		past.Manifests[m.name] = m.sum
	}
	payload, err := json.Marshal(past)
	if err != nil {
		return err
	}
	return r.putNote(ctx, store.Record{Key: w.rows.Key(), Type: piecesType, Payload: payload}, w.rows, nodes)
}

// copiedPieces finds out which samples a sink would copy.
func (r *run) copiedPieces(ctx context.Context, w *writing, in component.Data) (copied []component.Copy) {
	p := r.pieces(ctx, w, in)
	if p == nil || len(p.Before.Pieces) == 0 {
		return nil
	}
	if files, ok := w.sink.Params.(component.Stander); ok {
		copied, _ = files.Standing(r.bareEnv(w.sink.Node), p)
		return copied
	}
	old, err := os.Open(r.outputs(w.sink)[0].Path)
	if err != nil {
		return nil
	}
	defer old.Close()
	pieces, first := component.PieceReader{File: old}, 0
	for i, at := range p.Known() {
		if at != nil {
			if _, ok := pieces.Read(at); ok {
				copied = append(copied, component.Copy{Was: at.First, Now: first, Samples: at.Samples})
			}
		}
		first += p.Stretches[i].Samples
	}
	return copied
}

// encodePieces writes of each piece its digest, its sum, and the numbers of its
// samples and bytes as unsigned varints.
func encodePieces(pieces []component.Piece) (b []byte) {
	for _, p := range pieces {
		b = append(append(b, p.Digest[:]...), p.Sum[:]...)
		b = binary.AppendUvarint(binary.AppendUvarint(b, uint64(p.Samples)), uint64(p.Bytes))
	}
	return b
}

// decodePieces reads what encodePieces wrote.
func decodePieces(b []byte) (pieces []component.Piece, ok bool) {
	for len(b) > 0 {
		var p component.Piece
		head := len(p.Digest) + len(p.Sum)
		if len(b) < head {
			return nil, false
		}
		copy(p.Digest[:], b)
		copy(p.Sum[:], b[len(p.Digest):])
		samples, n := binary.Uvarint(b[head:])
		if n <= 0 {
			return nil, false
		}
		bytes, k := binary.Uvarint(b[head+n:])
		if k <= 0 || samples > math.MaxInt32 || bytes > math.MaxInt64/2 {
			return nil, false
		}
		p.Samples, p.Bytes = int(samples), int64(bytes)
		pieces, b = append(pieces, p), b[head+n+k:]
	}
	return pieces, true
}
