package key

import (
	"fmt"

	"github.com/fxamacker/cbor/v2"
)

// provenanceVersion is in front of the parts, and changes with their form.
const provenanceVersion = 1

type provenance struct {
	_       struct{} `cbor:",toarray"`
	Version int
	Parts   []Part
}

var decodeProvenance = func() cbor.DecMode {
	m, err := cbor.DecOptions{
		DupMapKey:         cbor.DupMapKeyEnforcedAPF,
		IndefLength:       cbor.IndefLengthForbidden,
		TagsMd:            cbor.TagsForbidden,
		MaxNestedLevels:   4,
		MaxArrayElements:  maxParts,
		MaxMapPairs:       16,
		ExtraReturnErrors: cbor.ExtraDecErrorUnknownField,
	}.DecMode()
	if err != nil {
		panic(err) // the options are constant
	}
	return m
}()

// MarshalProvenance returns [Action.Parts] and what else is to be said as CBOR
// (RFC 8949), to be kept with the result.
func (a *Action) MarshalProvenance(more ...Part) ([]byte, error) {
	b, err := cbor.Marshal(provenance{Version: provenanceVersion, Parts: foldParts(append(a.Parts(), more...))})
	if err != nil {
		return nil, fmt.Errorf("key: provenance of %s: %w", a.op.name, err)
	}
	return b, nil
}

// UnmarshalProvenance reads what [Action.MarshalProvenance] wrote. Anything
// else is an error.
func UnmarshalProvenance(b []byte) ([]Part, error) {
	var p provenance
	if err := decodeProvenance.Unmarshal(b, &p); err != nil {
		return nil, fmt.Errorf("key: provenance: %w", err)
	}
	if p.Version != provenanceVersion {
		return nil, fmt.Errorf("key: provenance has version %d; this program reads version %d", p.Version, provenanceVersion)
	}
	for _, part := range p.Parts {
		if part.Digest[0] != tagDigest {
			return nil, fmt.Errorf("key: provenance: part %s %s has no digest", part.Kind, part.Name)
		}
	}
	return p.Parts, nil
}
