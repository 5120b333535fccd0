// Package index is an inverted index with BM25 ranking.
package index

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"programs/p01/copied/heap"
	"programs/p01/text"
)

// ErrEmpty is returned for a corpus without documents.
var ErrEmpty = errors.New("index: no documents")

// A Document is what can be found.
type Document struct {
	ID    string
	Title string
	Body  string
}

// A Posting is where a term occurs in a document.
type Posting struct {
	Doc       int
	Positions []int
}

// An Index finds documents by their terms.
type Index struct {
	Docs     []string
	Lengths  []int
	Postings map[string][]Posting
	Average  float64
}

// Options of Build.
type Options struct {
	Stem       bool
	Numbers    bool
	TitleBoost int
}

// Tokenizer returns the tokenizer that the options ask for.
func (o Options) Tokenizer() *text.Tokenizer {
	var opts []text.Option
	if o.Stem {
		opts = append(opts, text.WithStemming())
	}
	if o.Numbers {
		opts = append(opts, text.WithNumbers())
	}
	return text.New(opts...)
}

// A builder collects postings.
type builder struct {
	tok      *text.Tokenizer
	index    *Index
	boost    int
	byID     map[string]int
	duplicts []string
}

// Build makes an index.
func Build(docs []Document, o Options) (*Index, error) {
	if len(docs) == 0 {
		return nil, ErrEmpty
	}
	b := &builder{tok: o.Tokenizer(), boost: max(1, o.TitleBoost), byID: map[string]int{},
		index: &Index{Postings: map[string][]Posting{}}}
	for _, d := range docs {
		if err := b.add(d); err != nil {
			return nil, fmt.Errorf("document %q: %w", d.ID, err)
		}
	}
	total := 0
	for _, n := range b.index.Lengths {
		total += n
	}
	b.index.Average = float64(total) / float64(len(docs))
	return b.index, nil
}

// A DuplicateError says that two documents have one ID.
type DuplicateError struct{ ID string }

func (e *DuplicateError) Error() string { return "duplicate ID " + e.ID }

func (b *builder) add(d Document) error {
	if _, ok := b.byID[d.ID]; ok {
		return &DuplicateError{d.ID}
	}
	n := len(b.index.Docs)
	b.byID[d.ID] = n
	b.index.Docs = append(b.index.Docs, d.ID)
	length := 0
	at := map[string][]int{}
	for range b.boost {
		for pos, term := range b.tok.Terms(d.Title) {
			at[term] = append(at[term], -pos-1)
			length++
		}
	}
	for pos, term := range b.tok.Terms(d.Body) {
		at[term] = append(at[term], pos)
		length++
	}
	for _, term := range slices.Sorted(maps.Keys(at)) {
		b.index.Postings[term] = append(b.index.Postings[term], Posting{n, at[term]})
	}
	b.index.Lengths = append(b.index.Lengths, length)
	return nil
}

// A Hit is a document that was found.
type Hit struct {
	ID    string
	Score float64
}

// A Scorer ranks.
type Scorer interface {
	Score(ix *Index, p Posting, df int) float64
}

// BM25 is the usual scorer.
type BM25 struct{ K1, B float64 }

// Score implements Scorer.
func (s BM25) Score(ix *Index, p Posting, df int) float64 {
	n := float64(len(ix.Docs))
	idf := math.Log(1 + (n-float64(df)+0.5)/(float64(df)+0.5))
	tf := float64(len(p.Positions))
	norm := s.K1 * (1 - s.B + s.B*float64(ix.Lengths[p.Doc])/ix.Average)
	return idf * tf * (s.K1 + 1) / (tf + norm)
}

// TFIDF is a simple scorer.
type TFIDF struct{}

// Score implements Scorer.
func (TFIDF) Score(ix *Index, p Posting, df int) float64 {
	return float64(len(p.Positions)) * math.Log(float64(len(ix.Docs))/float64(df))
}

// hits is a heap, the worst on top.
type hits []Hit

func (h hits) Len() int           { return len(h) }
func (h hits) Less(i, j int) bool { return h[i].Score < h[j].Score }
func (h hits) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *hits) Push(x any)        { *h = append(*h, x.(Hit)) }
func (h *hits) Pop() any {
	old := *h
	x := old[len(old)-1]
	*h = old[:len(old)-1]
	return x
}

// Top returns the k best documents by their scores.
func (ix *Index) Top(scores map[int]float64, k int) []Hit {
	h := &hits{}
	for _, d := range slices.Sorted(maps.Keys(scores)) {
		heap.Push(h, Hit{ix.Docs[d], scores[d]})
		if h.Len() > k {
			heap.Pop(h)
		}
	}
	out := slices.Clone(*h)
	slices.SortFunc(out, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID))
	})
	return out
}
