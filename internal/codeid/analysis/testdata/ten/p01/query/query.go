// Package query parses and evaluates queries such as `fast -slow "dog house"`.
package query

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"programs/p01/copied/suffixarray"
	"programs/p01/index"
	"programs/p01/text"
)

// A clause selects documents.
type clause interface {
	match(ix *index.Index, s index.Scorer) map[int]float64
	fmt.Stringer
}

type (
	termClause   struct{ term string }
	notClause    struct{ clause }
	phraseClause struct{ terms []string }
)

func (c termClause) String() string   { return c.term }
func (c notClause) String() string    { return "-" + c.clause.String() }
func (c phraseClause) String() string { return fmt.Sprintf("%q", strings.Join(c.terms, " ")) }

func (c termClause) match(ix *index.Index, s index.Scorer) map[int]float64 {
	out := map[int]float64{}
	ps := ix.Postings[c.term]
	for _, p := range ps {
		out[p.Doc] = s.Score(ix, p, len(ps))
	}
	return out
}

func (c phraseClause) match(ix *index.Index, s index.Scorer) map[int]float64 {
	out := map[int]float64{}
	first := ix.Postings[c.terms[0]]
	for _, p := range first {
		for _, pos := range p.Positions {
			if c.follows(ix, p.Doc, pos) {
				out[p.Doc] += s.Score(ix, p, len(first)) * float64(len(c.terms))
			}
		}
	}
	return out
}

func (c phraseClause) follows(ix *index.Index, doc, pos int) bool {
	for i, t := range c.terms[1:] {
		j := slices.IndexFunc(ix.Postings[t], func(p index.Posting) bool { return p.Doc == doc })
		if j < 0 || !slices.Contains(ix.Postings[t][j].Positions, pos+i+1) {
			return false
		}
	}
	return true
}

// A Query is a parsed query.
type Query struct{ clauses []clause }

var partRE = regexp.MustCompile(`(-?)(?:"([^"]*)"|(\S+))`)

// Parse parses a query.
func Parse(s string, tok *text.Tokenizer) (*Query, error) {
	q := &Query{}
	for _, m := range partRE.FindAllStringSubmatch(s, -1) {
		var terms []string
		for _, t := range tok.Terms(m[2] + m[3]) {
			terms = append(terms, t)
		}
		var c clause
		switch len(terms) {
		case 0:
			continue
		case 1:
			c = termClause{terms[0]}
		default:
			c = phraseClause{terms}
		}
		if m[1] == "-" {
			c = notClause{c}
		}
		q.clauses = append(q.clauses, c)
	}
	if len(q.clauses) == 0 {
		return nil, fmt.Errorf("query %q: nothing to search for", s)
	}
	return q, nil
}

func (q *Query) String() string {
	var parts []string
	for _, c := range q.clauses {
		parts = append(parts, c.String())
	}
	return strings.Join(parts, " ")
}

// Run evaluates the query.
func (q *Query) Run(ix *index.Index, s index.Scorer, k int) []index.Hit {
	scores := map[int]float64{}
	var not []map[int]float64
	for _, c := range q.clauses {
		m := c.match(ix, s)
		if _, ok := c.(notClause); ok {
			not = append(not, m)
			continue
		}
		for d, v := range m {
			scores[d] += v
		}
	}
	for _, m := range not {
		for d := range m {
			delete(scores, d)
		}
	}
	return ix.Top(scores, k)
}

// Substring finds documents that contain s literally.
func Substring(docs []index.Document, s string) []string {
	var all []byte
	var ends []int
	for _, d := range docs {
		all = append(all, d.Body...)
		all = append(all, 0)
		ends = append(ends, len(all))
	}
	var out []string
	for _, off := range suffixarray.New(all).Lookup([]byte(s), -1) {
		i, _ := slices.BinarySearch(ends, off+1)
		out = append(out, docs[i].ID)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
