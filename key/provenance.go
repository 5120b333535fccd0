package key

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/fxamacker/cbor/v2"
)

// provenanceVersion precedes the parts and changes with their format.
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

// MarshalProvenance returns [Action.Parts] and more parts as CBOR (RFC 8949), to be
// stored with the result. It is written by hand, because a general encoder took longer
// than all other work on them.
func (a *Action) MarshalProvenance(more ...Part) ([]byte, error) {
	return a.AppendProvenance(nil, more...)
}

// AppendProvenance is [Action.MarshalProvenance], but appends to b.
func (a *Action) AppendProvenance(b []byte, more ...Part) ([]byte, error) {
	fixed := a.op.describe()
	var room [4]Part // most actions have few
	own := append(a.ownParts(room[:0]), more...)
	if len(fixed)+len(own) > maxParts {
		own = foldParts(append(a.Parts(), more...))
		return appendCBOR(provenanceHead(b, len(own), own), own), nil
	}
	for i := range own {
		own[i].Name = clip(own[i].Name)
	}
	b = provenanceHead(b, len(fixed)+len(own), own, len(a.op.encoded))
	return appendCBOR(append(b, a.op.encoded...), own), nil
}

// provenanceHead appends the head of n parts to b, and reserves memory for parts and
// for more bytes.
func provenanceHead(b []byte, n int, parts []Part, more ...int) []byte {
	size := 16
	for _, p := range parts {
		size += 64 + len(p.Kind) + len(p.Name) + len(p.Value)
	}
	for _, m := range more {
		size += m
	}
	return appendHead(append(slices.Grow(b, size), cborArray|2, provenanceVersion), cborArray, n)
}

func appendCBOR(b []byte, parts []Part) []byte {
	for _, p := range parts {
		b = append(b, cborMap|4)
		for i, text := range [...]string{p.Kind, p.Name, p.Value} {
			b = append(b, byte(i+1))
			b = append(appendHead(b, cborText, len(text)), text...)
		}
		b = append(b, 4)
		b = append(appendHead(b, cborBytes, len(p.Digest)), p.Digest[:]...)
	}
	return b
}

// Major types of CBOR, in the top three bits of a head.
const (
	cborBytes = 2 << 5
	cborText  = 3 << 5
	cborArray = 4 << 5
	cborMap   = 5 << 5
)

// appendHead appends the shortest head for n.
func appendHead(b []byte, major byte, n int) []byte {
	switch {
	case n < 24:
		return append(b, major|byte(n))
	case n < 1<<8:
		return append(b, major|24, byte(n))
	case n < 1<<16:
		return binary.BigEndian.AppendUint16(append(b, major|25), uint16(n))
	default:
		return binary.BigEndian.AppendUint32(append(b, major|26), uint32(n))
	}
}

// UnmarshalProvenance parses the output of [Action.MarshalProvenance]. Anything else is
// an error.
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
