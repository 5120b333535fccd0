package key

import (
	"crypto/sha256"
	"reflect"
	"sync"
	"unsafe"

	"github.com/larder-data/larder/internal/values/deepequal"
)

// A plan says how to encode values of one type. It is computed once.
type plan struct {
	typ    reflect.Type
	encode func(e *encoder, p unsafe.Pointer) error // p points to the value
	flat   bool                                     // the encoding equals the memory, so runs of values are encoded together
	opaque string                                   // how it is encoded if not by its structure
	header []byte                                   // identifies the type in front of a value
	direct bool                                     // an interface holds the value itself, not a pointer to it
}

// plans holds a *plan or an *UnkeyableError for each type encoded so far.
var plans sync.Map // reflect.Type -> any

func planOf(t reflect.Type) (*plan, error) {
	found, ok := plans.Load(t)
	if !ok {
		found, _ = plans.LoadOrStore(t, newPlan(t))
	}
	if p, ok := found.(*plan); ok {
		return p, nil
	}
	err := *found.(*UnkeyableError) // a copy, as callers add to the path
	return nil, &err
}

// newPlan returns a complete *plan, or an *UnkeyableError. Plans of the parts of t are
// not used for other types, because they may refer to a plan that turned out to be
// impossible.
func newPlan(t reflect.Type) any {
	c := &compiler{plans: map[reflect.Type]*plan{}}
	p, err := c.compile(t)
	if err != nil {
		return err
	}
	p.direct = isDirect(t)
	if p.header, err = c.header(t); err != nil {
		return err
	}
	return p
}

// isDirect asks the runtime instead of repeating its rules: an interface with a zero
// value holds nil only if it holds the value itself.
func isDirect(t reflect.Type) bool {
	if t.Size() != unsafe.Sizeof(uintptr(0)) {
		return false
	}
	zero := reflect.Zero(t).Interface()
	return (*face)(unsafe.Pointer(&zero)).data == nil
}

// A compiler holds the plans of the parts of one type. Some may be unfinished, because
// parts of a recursive type refer to it.
type compiler struct {
	plans map[reflect.Type]*plan
	order []reflect.Type // keys of plans, in the order of their creation
}

func (c *compiler) compile(t reflect.Type) (*plan, *UnkeyableError) {
	if p := c.plans[t]; p != nil {
		return p, nil
	}
	p, began := &plan{typ: t}, len(c.order)
	c.plans[t], c.order = p, append(c.order, t)
	if err := c.fill(p); err != nil {
		c.forget(began)
		return nil, err
	}
	return p, nil
}

// forget drops the plans from index began on: they may refer to an impossible one.
func (c *compiler) forget(began int) {
	for _, t := range c.order[began:] {
		delete(c.plans, t)
	}
	c.order = c.order[:began]
}

func (c *compiler) fill(p *plan) *UnkeyableError {
	t := p.typ
	if encode := special(t); encode != nil {
		p.opaque, p.encode = "special", encode
		return nil
	}
	if keyers.Declared(t) {
		p.opaque, p.encode = "keyer", encodeKeyer(t)
		return nil
	}
	began := len(c.order)
	err := c.structure(p)
	if err == nil {
		return nil
	}
	if m, ok := deepequal.MarshalerOf(t); ok {
		c.forget(began)
		p.opaque, p.encode, err = m.Name, encodeMarshaler(m, t), nil
	} else if images.Declared(t) {
		c.forget(began)
		p.opaque, p.encode, err = "pixels", encodePixels(t), nil
	}
	return err
}

func fieldsOf(t reflect.Type) func(yield func(reflect.StructField) bool) {
	return func(yield func(reflect.StructField) bool) {
		for i := range t.NumField() {
			if !yield(t.Field(i)) {
				return
			}
		}
	}
}

func excluded(f reflect.StructField) bool {
	return f.Name == "_" || f.Tag.Get("key") == "-"
}

// header returns the bytes that identify t: the kind of a predeclared type, or else the
// hash of the description.
func (c *compiler) header(t reflect.Type) ([]byte, *UnkeyableError) {
	if t.PkgPath() == "" && t.Name() != "" { // predeclared: the kind identifies it
		return []byte{byte(t.Kind())}, nil
	}
	d := description{plans: c.plans, named: map[reflect.Type]int{}}
	d.describe(t)
	if d.namesake != nil {
		return nil, &UnkeyableError{
			Type: d.namesake, Reason: "it, or another type with its name, is declared in a function, so the name is ambiguous",
			Fix: "declare types outside of functions, or give them unique names",
		}
	}
	text := string(d.text)
	if owner, _ := owners.LoadOrStore(text, t); owner != t {
		return nil, &UnkeyableError{
			Type: t, Reason: "another function declares a type of this name and definition, which is in use",
			Fix: "rename one of them, or declare it outside of the function",
		}
	}
	sum := sha256.Sum256(d.text)
	return append([]byte{describedType}, sum[:]...), nil
}

// describedType precedes the hash of a type's description. It is not a valid kind.
const describedType = 0xff

// owners maps descriptions to types. It detects two types with one description.
var owners sync.Map // string -> reflect.Type
