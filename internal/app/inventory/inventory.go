// Package inventory lists the content of a store by the operations that computed
// it, and removes or transfers it by the same names.
//
// A store knows only keys. The provenance of a record says which operation computed
// it; the name of the operation is the record's node ([Node]). Records other than
// results are named after their kind: see [Kind].
//
// # The stream that Export writes
//
// Results move between machines as a stream of bytes. Numbers are little-endian,
// keys are their 33 bytes, digests are SHA-256. A stream is
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
// A link comes after its target, and no key comes twice. Digests of files are not
// exported, because they are valid on one machine only.
package inventory

import (
	"context"
	"errors"
	"iter"
	"strings"
	"unicode"

	"github.com/larder-data/larder/internal/app/records"
	"github.com/larder-data/larder/store"
)

// A Kind is the kind of a record.
type Kind string

// The kinds.
const (
	// Value is the result of a computation.
	Value Kind = "value"
	// Link leads from the key of a request to the key of the stored result. It
	// takes almost no space.
	Link Kind = "link"
	// RecordedInputs lists the dynamic dependencies of a computation, which
	// determine the key of its result.
	RecordedInputs Kind = "recorded inputs"
	// FileDigest is the digest of a file, so that an unchanged file is not read
	// again. It is valid on one machine only.
	FileDigest Kind = "file digest"
	// Operation describes the operation of many results, whose provenance refers to it.
	Operation Kind = "operation"
	// Unexplained is a value without provenance.
	Unexplained Kind = "unexplained"
)

// Names of nodes for records without one.
const (
	FileDigestNode  = "(file digests)"
	OperationsNode  = "(operations)"
	UnexplainedNode = "(unexplained)"
)

// A Record is a stored record with its node.
type Record struct {
	store.Info
	Node string // the operation that computed it, or one of the constants
	// Detail distinguishes operations with the same name, such as those of mapper
	// exec by their commands; empty if the name suffices.
	Detail string
	Kind   Kind
}

// isResult reports whether the cost of r is that of a computation, and of no other record.
func (r Record) isResult() bool {
	return r.Kind != Link && r.Kind != RecordedInputs && r.Kind != Operation
}

// Label returns the name of the record's node with its detail.
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

const maxDetail = 48

// kindOf returns the kind of a record by the information of the store; for an
// unexplained record it returns Value.
func kindOf(i store.Info) Kind {
	switch {
	case !i.Link.IsZero():
		return Link
	case i.Type == records.Recorded:
		return RecordedInputs
	case i.Type == records.FileDigest:
		return FileDigest
	case i.Type == records.Description:
		return Operation
	}
	return Value
}

// Records yields the selected records, in the store's order. It makes one pass
// without holding records. It reads provenance only of records that have one.
func Records(ctx context.Context, s store.Records, sel Selection) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		reader := records.ProvenanceReader{Store: s}
		for info, err := range s.Records(ctx) {
			if err != nil {
				yield(Record{}, err)
				return
			}
			if len(sel.nodes) == 0 && !sel.hasPrefixOf(info.Key) {
				continue
			}
			r, err := explain(ctx, &reader, info)
			if errors.Is(err, store.ErrNotFound) {
				continue // it was removed, or is damaged
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

// explain finds the node of a record.
func explain(ctx context.Context, reader *records.ProvenanceReader, info store.Info) (Record, error) {
	r := Record{Info: info, Kind: kindOf(info)}
	switch r.Kind {
	case FileDigest:
		r.Node = FileDigestNode
		return r, nil
	case Operation:
		r.Node = OperationsNode
		return r, nil
	default:
		p, err := reader.Store.Provenance(ctx, info.Key)
		if err != nil {
			return r, err
		}
		r.Node, r.Detail = reader.Operation(ctx, p)
	}
	// Safe for a terminal: a name in an imported record may be arbitrary.
	r.Node, r.Detail = strings.Map(visible, r.Node), strings.Map(visible, strings.Join(strings.Fields(r.Detail), " "))
	if r.Node == "" {
		r.Node = UnexplainedNode
		if r.Kind == Value {
			r.Kind = Unexplained
		}
	}
	return r, nil
}

// visible replaces unprintable characters, which may control a terminal.
func visible(r rune) rune {
	if unicode.IsPrint(r) {
		return r
	}
	return unicode.ReplacementChar
}
