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

// A sink of rows rewrites only the chunks of its output whose input changed.
// What it wrote for a chunk of samples is a piece of its output. A piece is
// valid for any input with the same chunk, if each sample depends only on the
// one at the same position, through mappers whose results are cached. These
// mappers, the program and the sink form the key of a [pastPieces]. The rest of
// the output may change; each piece has a checksum and is reused if its bytes
// are present.
//
// Manifests keep their entries for samples that are not read. So pieces are
// reused only while the manifests are those of the run that wrote them.

// pastPieces lists the pieces in which a sink wrote its output.
type pastPieces struct {
	Head      int64               `json:"head"`
	Pieces    []byte              `json:"pieces"`
	Manifests map[string][16]byte `json:"manifests"` // sums of the manifests of the upstream nodes, as they were then
	Nodes     []writtenNode       `json:"nodes"`

	byName map[string]writtenNode
}

var piecesType = xxh3.HashString("larder pieces 1")

// piecesIn describes how a sink writes its input, or returns nil if it does not
// write in pieces. It also returns nil on errors, because they occur again
// where they can be reported.
func (r *run) piecesIn(ctx context.Context, w *writing, in component.Data) *component.OutputChunks {
	p, ok := component.As[component.IncrementalSink](w.sink.Params)
	if !ok || in.Names != nil || len(in.Parts) != 1 || !w.alone {
		return nil
	}
	on, ok, err := p.Pieces(ctx, in.Parts[0])
	if !ok || err != nil {
		return nil
	}
	chunks, err := dataset.Chunks(ctx, in.Parts[0])
	left := in.Parts[0].Len()
	for _, s := range chunks {
		left -= s.Samples
	}
	if chunks == nil || err != nil || left != 0 {
		return nil
	}
	op, err := key.NewOp("pieces of "+w.sink.Component.Name, w.build, slices.Concat(w.does, []key.Param{
		{Name: "flow", Value: r.id()}, {Name: "rows", Value: on},
	})...)
	if err != nil {
		return nil
	}
	w.rows = op.Action()
	return &component.OutputChunks{Chunks: chunks}
}

// pieces describes how a sink writes its input and what it wrote the last time.
// It returns nil if the sink does not write in pieces. In doubt, nothing was
// written before.
func (r *run) pieces(ctx context.Context, w *writing, in component.Data) *component.OutputChunks {
	p := r.piecesIn(ctx, w, in)
	w.pieces = p
	if p == nil {
		return nil
	}
	if slices.ContainsFunc(w.nodes, func(s *state) bool { return s.stats.Loose.Load() }) {
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

// manifests lists the manifests of the nodes that a sink depends on.
func (w *writing) manifests() (all []*manifest) {
	for _, s := range w.nodes {
		all = append(all, s.manifest...)
	}
	return all
}

// sameManifest returns the stored manifest of the same name if it has this sum.
// A missing manifest has the zero sum.
func (r *run) sameManifest(ctx context.Context, m *manifest, sum [16]byte) (store.Manifest, bool) {
	was, err := r.Larder.Store().Manifest(ctx, m.name)
	if errors.Is(err, store.ErrNotFound) {
		return was, sum == [16]byte{}
	}
	return was, err == nil && sumOf(was) == sum
}

// reportCopied makes the manifests and reports of the nodes upstream of a sink repeat
// their old entries for the samples that were not read.
func (r *run) reportCopied(ctx context.Context, w *writing, copied []component.Copy) {
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
			m.setReused(copied, w.past.Manifests[m.name])
			if !s.stats.Settled.Load() {
				s.stats.Stand(n)
				s.stats.Save(w.past.saved(s.Name, n))
			}
		}
	}
}

// saved estimates how long this number of results of a node took to compute,
// from the average of all.
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

// maxPieces bounds the pieces recorded of a sink: some 100 MB.
const maxPieces = 1 << 20

// notePieces records the pieces in which a sink wrote its output.
func (r *run) notePieces(ctx context.Context, w *writing, nodes []writtenNode) error {
	if w.pieces == nil || len(w.pieces.After.Pieces) == 0 || len(w.pieces.After.Pieces) > maxPieces {
		return nil
	}
	past := pastPieces{
		Head: w.pieces.After.Head, Pieces: encodePieces(w.pieces.After.Pieces), Nodes: nodes, Manifests: map[string][16]byte{},
	}
	for _, m := range w.manifests() {
		if m.lost {
			return nil // the next run would not know what was used
		}
		past.Manifests[m.name] = m.sum
	}
	payload, err := json.Marshal(past)
	if err != nil {
		return err
	}
	return r.putNote(ctx, store.Record{Key: w.rows.Key(), Type: piecesType, Payload: payload}, w.rows, nodes)
}

// copiedPieces finds the samples that a sink would copy.
func (r *run) copiedPieces(ctx context.Context, w *writing, in component.Data) (copied []component.Copy) {
	p := r.pieces(ctx, w, in)
	if p == nil || len(p.Before.Pieces) == 0 {
		return nil
	}
	if files, ok := w.sink.Params.(component.ReusableFiles); ok {
		copied, _ = files.Standing(r.bareEnv(w.sink.Node), p)
		return copied
	}
	old, err := os.Open(r.outputs(w.sink)[0].Path)
	if err != nil {
		return nil
	}
	defer old.Close()
	pieces, first := component.PieceReader{File: old}, 0
	for i, at := range p.Places() {
		if at != nil {
			if _, ok := pieces.Read(at); ok {
				copied = append(copied, component.Copy{Was: at.First, Now: first, Samples: at.Samples})
			}
		}
		first += p.Chunks[i].Samples
	}
	return copied
}

// encodePieces writes the digest and the sum of each piece, and the numbers of
// its samples and bytes as unsigned varints.
func encodePieces(pieces []component.Piece) (b []byte) {
	for _, p := range pieces {
		b = append(append(b, p.Digest[:]...), p.Sum[:]...)
		b = binary.AppendUvarint(binary.AppendUvarint(b, uint64(p.Samples)), uint64(p.Bytes))
	}
	return b
}

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
