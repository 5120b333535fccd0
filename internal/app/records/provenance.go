package records

import (
	"context"

	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store"
)

// A ProvenanceReader reads the provenance of records. It reads each description of an
// operation once. It is not safe for concurrent use.
type ProvenanceReader struct {
	Store      store.Records
	operations map[key.Key]described
}

// described is a description of an operation; it is empty if none is stored.
type described struct {
	bytes        []byte
	name, detail string
}

// Parts returns the parts of the record under k. It returns [store.ErrNotFound] if there is
// no such record, and another error if its provenance, or the description of its operation,
// is missing or unreadable.
func (r *ProvenanceReader) Parts(ctx context.Context, k key.Key) ([]key.Part, error) {
	b, err := r.Store.Provenance(ctx, k)
	if err != nil {
		return nil, err
	}
	return r.Read(ctx, b)
}

// Read returns the parts of a provenance.
func (r *ProvenanceReader) Read(ctx context.Context, provenance []byte) ([]key.Part, error) {
	p, err := key.ParseProvenance(provenance)
	if err != nil {
		return nil, err
	}
	return p.All(r.described(ctx, p.Description).bytes)
}

// Operation returns the name and the detail of the operation in a provenance, or "" if they
// cannot be read.
func (r *ProvenanceReader) Operation(ctx context.Context, provenance []byte) (name, detail string) {
	p, err := key.ParseProvenance(provenance)
	if err != nil {
		return "", ""
	}
	if p.Description.IsZero() {
		return operation(p.Parts)
	}
	d := r.described(ctx, p.Description)
	return d.name, d.detail
}

func (r *ProvenanceReader) described(ctx context.Context, k key.Key) described {
	if k.IsZero() {
		return described{}
	}
	d, ok := r.operations[k]
	if ok {
		return d
	}
	if rec, err := r.Store.Get(ctx, k); err == nil && rec.Type == Description {
		if parts, err := key.DescribedParts(rec.Payload); err == nil {
			d.bytes = rec.Payload
			d.name, d.detail = operation(parts)
		}
	}
	if r.operations == nil {
		r.operations = map[key.Key]described{}
	}
	r.operations[k] = d
	return d
}

func operation(parts []key.Part) (name, detail string) {
	for _, p := range parts {
		if p.Kind == key.OpPart {
			return p.Value, p.Name
		}
	}
	return "", ""
}
