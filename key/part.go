package key

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
)

// Kinds of a [Part].
const (
	OpPart    = "operation"
	CodePart  = "code"
	paramPart = "parameter"
	ArgPart   = "argument"
	InputPart = "input"
	ReadPart  = "recorded input" // a dependency found while running
)

// A Part is one component of an action, identified by kind and name. Differences
// between two actions are reported as parts.
type Part struct {
	Kind   string `cbor:"1,keyasint"` // OpPart, CodePart, ...
	Name   string `cbor:"2,keyasint"` // such as "times", "Options.Model.Size" or "image"; for an OpPart see [Op.Detailed]
	Value  string `cbor:"3,keyasint"` // human-readable, at most about 200 bytes
	Digest Digest `cbor:"4,keyasint"` // of the component's encoding: equal if and only if the component is
}

// A Described argument lists its own parts where its type does not: see [Action.Parts].
// They are not part of the key, which consists of its AppendKey alone.
type Described interface {
	Keyer
	Describe() []Part
}

const (
	maxParts     = 4096 // of one action
	maxPartDepth = 8    // nesting of structs whose fields are parts
)

// Parts lists what the key is computed from: operation, code, parameters, arguments
// (structs field by field), inputs. If there are very many, one part represents the
// last ones. Parts encodes the arguments again. It is meant for stored provenance, not
// for every hit.
func (a *Action) Parts() []Part {
	parts := a.argumentParts(slices.Clone(a.op.describe())) // foldParts changes names
	for _, in := range a.inputs {
		parts = append(parts, inputPart(in))
	}
	return foldParts(parts, maxParts)
}

// argumentParts appends the parts of the arguments.
func (a *Action) argumentParts(parts []Part) []Part {
	var names map[string]int
	if len(a.args) > 0 {
		names = map[string]int{}
	}
	for i, v := range a.args {
		if d, ok := v.(Described); ok {
			parts = append(parts, d.Describe()...)
			continue
		}
		name := argName(i, v)
		if names[name]++; names[name] > 1 {
			name += " (argument " + strconv.Itoa(i) + ")"
		}
		parts = appendParts(parts, ArgPart, name, v)
	}
	if a.shares {
		parts = append(parts, sharingPart(ArgPart, func(e *encoder) error { return e.arguments(a.args) })...)
	}
	return parts
}

// describe returns the parts that all actions of an operation have.
func (o *Op) describe() []Part {
	o.described.Do(func() {
		o.fixed = slices.Concat([]Part{
			{Kind: OpPart, Name: clip(o.detail), Value: clip(o.name), Digest: textDigest(o.name)},
			{Kind: CodePart, Value: clip(o.code.String()), Digest: textDigest(o.code.Kind, o.code.ID, o.code.Package)},
		}, o.params)
		for i := range o.fixed {
			o.fixed[i].Name = clip(o.fixed[i].Name)
		}
		o.encoded = appendCBOR(nil, o.fixed)
	})
	return o.fixed
}

// foldParts bounds names, and the number of parts: one part represents the excess.
func foldParts(parts []Part, limit int) []Part {
	for i := range parts {
		parts[i].Name = clip(parts[i].Name)
	}
	if len(parts) <= limit {
		return parts
	}
	rest := parts[limit-1:]
	e := newEncoder(layerValue)
	defer e.free()
	for _, p := range rest {
		e.string(p.Name)
		e.raw(p.Digest[:])
	}
	return append(parts[:limit-1], Part{
		Kind: rest[0].Kind, Name: fmt.Sprintf("(%d more)", len(rest)), Digest: e.digest(),
	})
}

func textDigest(words ...string) Digest {
	e := newEncoder(layerValue)
	defer e.free()
	for _, w := range words {
		e.string(w)
	}
	return e.digest()
}

func inputPart(in Input) Part {
	e := newEncoder(layerValue)
	defer e.free()
	e.input(in)
	var buffer [2*nameBytes + maxText]byte // sized for most kinds, too
	text := in.Ref.append(buffer[:0])
	if in.Kind != "" {
		text = append(append(text, " as "...), in.Kind...)
	}
	return Part{Kind: InputPart, Name: in.Name, Value: clip(string(text)), Digest: e.digest()}
}

func argName(i int, v any) string {
	if t := reflect.TypeOf(v); t != nil && takenApart(t) {
		return typeName(t)
	}
	return "argument " + strconv.Itoa(i)
}

// takenApart reports whether values of type t, or those that it points to, are
// described field by field.
func takenApart(t reflect.Type) bool {
	for t.Kind() == reflect.Pointer && t.Name() == "" {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return false
	}
	p, err := planOf(t)
	return err == nil && p.opaque == ""
}

// appendParts appends the parts of a value that has been encoded before and is known to
// be keyable.
func appendParts(parts []Part, kind, name string, v any) []Part {
	return appendValue(parts, Part{Kind: kind, Name: name}, reflect.ValueOf(v), maxPartDepth)
}

func appendValue(parts []Part, p Part, v reflect.Value, depth int) []Part {
	if v.Kind() == reflect.Interface && !v.IsNil() {
		v = v.Elem()
	}
	at := v
	for range maxPartDepth { // a pointer may point to itself
		if at.Kind() == reflect.Pointer && !at.IsNil() {
			at = at.Elem()
		}
	}
	if depth > 0 && len(parts) < maxParts && at.Kind() == reflect.Struct && takenApart(at.Type()) {
		name := p.Name
		parts = append(parts, shape(p, v))
		for f := range fieldsOf(at.Type()) {
			if !excluded(f) {
				p.Name = name + "." + f.Name
				parts = appendValue(parts, p, at.FieldByIndex(f.Index), depth-1)
			}
		}
		return parts
	}
	var boxed any
	if v.IsValid() {
		boxed = v.Interface()
	}
	p.Digest, _ = Of(boxed) // it was encoded before
	p.Value = clip(text(at))
	return append(parts, p)
}

// shape describes the type of a struct without its fields, so that a change of the type
// alone shows.
func shape(p Part, v reflect.Value) Part {
	if tp, err := planOf(v.Type()); err == nil {
		p.Digest = DigestOf(tp.header)
	}
	p.Value = clip(v.Type().String())
	return p
}
