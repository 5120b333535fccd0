// Package inventory says what a store holds, in terms of what made it, and
// removes it or moves it elsewhere by the same terms.
//
// A store knows keys. What a record is the result of stands in its provenance:
// the name of the operation is the record's node ([Node]). Records that are
// not results are named for what they are: see [Kind].
//
// # The stream that Export writes
//
// Results move between machines as a stream of bytes. Numbers are
// little-endian, keys are their 33 bytes, digests are SHA-256. A stream is
//
//	7 bytes  "LARDEXP"
//	1        version of the format, 1
//
// followed by any number of records,
//
//	  0  1  'R'
//	  1 33  key
//	 34 33  key linked to, or zeros
//	 67  8  type
//	 75  8  cost, ns
//	 83  8  created, ns since 1970
//	 91  8  bytes of provenance, at most 16 MiB
//	 99  8  bytes of payload, at most 16 GiB; 0 for a link
//	107 32  digest of bytes 0 to 107
//	139     provenance, payload
//	    32  digest of the digest before, the provenance and the payload
//
// and the end mark, after which nothing follows:
//
//	 0  1  'E'
//	 1  8  number of records
//	 9  8  bytes of payload of all records
//	17 32  digest of bytes 0 to 17
//
// A link comes after the record that it leads to, and no key comes twice.
// Digests of files are not exported: they are true on one machine only.
package inventory

import (
	"context"
	"errors"
	"iter"
	"strings"
	"unicode"

	"github.com/larder-data/larder/internal/app/records"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store"
)

// A Kind says what a record is.
type Kind string

// The kinds.
const (
	// Value is the result of a computation.
	Value Kind = "value"
	// Link says under which key a result is kept that was asked for by
	// another. It takes next to no room.
	Link Kind = "link"
	// RecordedInputs says what a computation read while it ran, and so under which key
	// its result is kept now.
	RecordedInputs Kind = "recorded inputs"
	// FileDigest notes the content of a file, so that a file that did not
	// change is not read again. It is true on one machine only.
	FileDigest Kind = "file digest"
	// Unexplained is a value without provenance.
	Unexplained Kind = "unexplained"
)

// Names that stand for nodes of records that have none.
const (
	FileDigestNode  = "(file digests)"
	UnexplainedNode = "(unexplained)"
)

// A Record is a kept record and what it belongs to.
type Record struct {
	store.Info
	Node string // the operation that made it, FileDigestNode or UnexplainedNode
	// Detail tells operations of one name apart, such as those of mapper exec by their
	// commands; empty where the name says all.
	Detail string
	Kind   Kind
}

// Label is what a record's node is called, with its detail.
func (r Record) Label() string { return label(r.Node, r.Detail) }

func label(node, detail string) string {
	if detail == "" {
		return node
	}
	if r := []rune(detail); len(r) > maxDetail {
		detail = string(r[:maxDetail-3]) + "..."
	}
	return node + " " + detail
}

// maxDetail is how many characters of a detail a label has.
const maxDetail = 48

// kindOf tells the kind of a record from what the store knows of it; of an
// unexplained record it says Value.
func kindOf(i store.Info) Kind {
	switch {
	case !i.Link.IsZero():
		return Link
	case i.Type == records.Recorded:
		return RecordedInputs
	case i.Type == records.FileDigest:
		return FileDigest
	}
	return Value
}

// Records yields the selected records, in the store's order. It is one pass
// over the store that holds on to nothing; provenance is read only of records
// that have one.
func Records(ctx context.Context, s store.Records, sel Selection) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		for info, err := range s.Records(ctx) {
			if err != nil {
				yield(Record{}, err)
				return
			}
			if len(sel.nodes) == 0 && !sel.hasPrefixOf(info.Key) {
				continue
			}
			r, err := explain(ctx, s, info)
			if errors.Is(err, store.ErrNotFound) {
				continue // it went, or was found damaged
			}
			if err != nil {
				yield(Record{}, err)
				return
			}
			if sel.has(r) && !yield(r, nil) {
				return
			}
		}
	}
}

// explain finds out what a record belongs to.
func explain(ctx context.Context, s store.Records, info store.Info) (Record, error) {
	r := Record{Info: info, Kind: kindOf(info)}
	if r.Kind == FileDigest {
		r.Node = FileDigestNode
		return r, nil
	}
	p, err := s.Provenance(ctx, info.Key)
	if err != nil {
		return r, err
	}
	if r.Node, r.Detail = operation(p); r.Node == "" {
		r.Node = UnexplainedNode
		if r.Kind == Value {
			r.Kind = Unexplained
		}
	}
	return r, nil
}

// operation returns the name of the operation in a provenance, and what tells it from
// others of its name; "" if there is none that can be read. A terminal can be shown it: a name that came with an
// import may be anything.
func operation(provenance []byte) (name, detail string) {
	parts, err := key.UnmarshalProvenance(provenance)
	if err != nil {
		return "", ""
	}
	for _, p := range parts {
		if p.Kind == key.OpPart {
			return strings.Map(visible, p.Value), strings.Map(visible, strings.Join(strings.Fields(p.Name), " "))
		}
	}
	return "", ""
}

// visible replaces characters that do not show, but may act on a terminal.
func visible(r rune) rune {
	if unicode.IsPrint(r) {
		return r
	}
	return unicode.ReplacementChar
}
