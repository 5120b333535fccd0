package key

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/fxamacker/cbor/v2"
)

// Versions of the encodings of a [Provenance] and of a [Description].
const (
	provenanceVersion  = 2
	descriptionVersion = 1
)

// Bounds of the descriptions of one operation. Other actions have a complete provenance.
const (
	maxDescriptions = 32
	maxShape        = 64 << 10 // bytes of names and kinds of inputs
)

// A Description is what many actions of an operation have in common: operation, code and
// parameters, and names and kinds of the inputs. It is stored once, and the provenance of
// each result refers to it.
type Description struct {
	Key   Key    // identifies it
	Bytes []byte // CBOR; read-only
}

// A Provenance is the decoded provenance of a result: see [Action.AppendProvenance].
type Provenance struct {
	Description Key    // the key of a stored [Description], or zero if Parts is complete
	Parts       []Part // those that the description does not hold
	refs        []byte // the names of the inputs
}

// The encodings are CBOR arrays.
type (
	encodedProvenance struct {
		_           struct{} `cbor:",toarray"`
		Version     int
		Description []byte // a key, or empty
		Refs        []byte
		Parts       []Part
	}
	encodedDescription struct {
		_       struct{} `cbor:",toarray"`
		Version int
		Parts   []Part
		Inputs  []encodedInput
	}
	encodedInput struct { // all of an input but the name of its Ref
		_      struct{} `cbor:",toarray"`
		Name   string
		Kind   string
		Ref    refKind
		Output string
	}
)

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

// Description returns the description of the action, the same one for all actions of its
// operation whose inputs have the same names and kinds. It returns nil if there are too
// many parts, or too many other descriptions of the operation.
func (a *Action) Description() *Description {
	var buffer [256]byte
	shape := appendHead(buffer[:0], cborArray, len(a.inputs))
	for _, in := range a.inputs {
		shape = append(shape, cborArray|4)
		shape = appendText(appendText(shape, in.Name), in.Kind)
		shape = appendText(append(shape, byte(in.Ref.kind)), in.Ref.output)
	}
	o := a.op
	o.describing.Lock()
	defer o.describing.Unlock()
	if d, ok := o.descriptions[string(shape)]; ok {
		return d
	}
	fixed := o.describe()
	if len(fixed)+len(a.inputs) > maxParts/2 || len(o.descriptions) >= maxDescriptions || len(shape) > maxShape || !a.isText() {
		return nil
	}
	b := append(make([]byte, 0, 8+len(o.encoded)+len(shape)), cborArray|3, descriptionVersion)
	b = append(appendHead(b, cborArray, len(fixed)), o.encoded...)
	d := &Description{Bytes: append(b, shape...)}
	e := newEncoder(layerValue)
	defer e.free()
	e.string("description of an operation")
	e.raw(d.Bytes)
	d.Key = Key(e.digest())
	if o.descriptions == nil {
		o.descriptions = map[string]*Description{}
	}
	o.descriptions[string(shape)] = d
	return d
}

// isText reports whether names and kinds of the inputs can be strings of CBOR.
func (a *Action) isText() bool {
	return !slices.ContainsFunc(a.inputs, func(in Input) bool {
		return !utf8.ValidString(in.Name) || !utf8.ValidString(in.Kind) || !utf8.ValidString(in.Ref.output)
	})
}

// MarshalProvenance returns [Action.Parts] and more parts as CBOR (RFC 8949), without a
// stored description.
func (a *Action) MarshalProvenance(more ...Part) []byte {
	return a.AppendProvenance(nil, Key{}, more...)
}

// AppendProvenance appends [Action.Parts] and more parts as CBOR (RFC 8949), to be stored
// with the result. It leaves out what the description under the given key holds, which
// must be that of [Action.Description], or in a namespace the key that represents it; with
// the zero Key it leaves out nothing. It is written by hand, because a general encoder
// took longer than all other work on them.
func (a *Action) AppendProvenance(b []byte, description Key, more ...Part) []byte {
	var buffer [4]Part // most actions have few
	parts, refs := append(a.argumentParts(buffer[:0]), more...), len(a.inputs)*Size
	if len(parts) > maxParts/2 {
		description = Key{}
	}
	if description.IsZero() {
		parts, refs = append(a.Parts(), more...), 0
	}
	parts = foldParts(parts, maxParts)
	b = slices.Grow(b, sizeOf(parts)+refs)
	b = append(b, cborArray|4, provenanceVersion)
	if description.IsZero() {
		b = appendHead(b, cborBytes, 0)
	} else {
		b = append(appendHead(b, cborBytes, Size), description[:]...)
	}
	b = appendHead(b, cborBytes, refs)
	if refs > 0 {
		for _, in := range a.inputs {
			b = append(b, in.Ref.name[:]...)
		}
	}
	return appendCBOR(appendHead(b, cborArray, len(parts)), parts)
}

// sizeOf returns about how many bytes the parts take.
func sizeOf(parts []Part) int {
	size := 2*Size + 16
	for _, p := range parts {
		size += 64 + len(p.Kind) + len(p.Name) + len(p.Value)
	}
	return size
}

func appendText(b []byte, text string) []byte {
	return append(appendHead(b, cborText, len(text)), text...)
}

func appendCBOR(b []byte, parts []Part) []byte {
	for _, p := range parts {
		b = append(b, cborMap|4)
		for i, text := range [...]string{p.Kind, p.Name, p.Value} {
			b = appendText(append(b, byte(i+1)), text)
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

// ParseProvenance parses the output of [Action.AppendProvenance]. Anything else is an
// error. The result does not refer to b.
func ParseProvenance(b []byte) (Provenance, error) {
	var p encodedProvenance
	if err := decodeProvenance.Unmarshal(b, &p); err != nil {
		return Provenance{}, fmt.Errorf("key: provenance: %w", err)
	}
	switch {
	case p.Version != provenanceVersion:
		return Provenance{}, fmt.Errorf("key: provenance has version %d; this program reads version %d", p.Version, provenanceVersion)
	case len(p.Description) != 0 && len(p.Description) != Size, len(p.Refs)%Size != 0, len(p.Description) == 0 && len(p.Refs) > 0:
		return Provenance{}, errors.New("key: provenance: a name has another length")
	}
	var description Key
	copy(description[:], p.Description)
	return Provenance{Description: description, Parts: p.Parts, refs: p.Refs}, checkParts(p.Parts)
}

// All returns all parts; description is the stored [Description.Bytes]. Without a
// description, or with that of other inputs, it is an error.
func (p Provenance) All(description []byte) ([]Part, error) {
	if p.Description.IsZero() {
		return p.Parts, nil
	}
	d, err := parseDescription(description)
	if err != nil {
		return nil, err
	}
	if len(d.Inputs)*Size != len(p.refs) {
		return nil, errors.New("key: provenance: it has other inputs than the description of its operation")
	}
	// Arguments, inputs, recorded inputs: as in Action.Parts, and then more.
	at := slices.IndexFunc(p.Parts, func(p Part) bool { return p.Kind == ReadPart })
	if at < 0 {
		at = len(p.Parts)
	}
	parts := append(slices.Clip(d.Parts), p.Parts[:at]...)
	for i, in := range d.Inputs {
		ref := Ref{kind: in.Ref, output: in.Output, name: [Size]byte(p.refs[i*Size:])}
		part := inputPart(Input{Name: in.Name, Kind: in.Kind, Ref: ref})
		part.Name = clip(part.Name)
		parts = append(parts, part)
	}
	return append(parts, p.Parts[at:]...), nil
}

// DescribedParts returns the parts in a stored [Description.Bytes]: those of the operation.
func DescribedParts(description []byte) ([]Part, error) {
	d, err := parseDescription(description)
	return d.Parts, err
}

func parseDescription(b []byte) (d encodedDescription, err error) {
	if err := decodeProvenance.Unmarshal(b, &d); err != nil {
		return encodedDescription{}, fmt.Errorf("key: description of an operation: %w", err)
	}
	if d.Version != descriptionVersion {
		return encodedDescription{}, fmt.Errorf("key: description of an operation has version %d; this program reads version %d", d.Version, descriptionVersion)
	}
	if err := checkParts(d.Parts); err != nil {
		return encodedDescription{}, err
	}
	return d, nil
}

func checkParts(parts []Part) error {
	for _, part := range parts {
		if part.Digest[0] != tagDigest {
			return fmt.Errorf("key: provenance: part %s %s has no digest", part.Kind, part.Name)
		}
	}
	return nil
}
