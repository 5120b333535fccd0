package codec

import (
	"net/url"
	"reflect"
	"time"

	"github.com/larder-data/larder/internal/values/deepequal"
)

// A plan writes and reads the values of one type. It receives addressable values; values to
// read into are zero. Plans call each other's functions only when they run, so that types
// can contain themselves.
type plan struct {
	typ   reflect.Type
	write func(*cborWriter, reflect.Value) error
	read  func(*cborReader, reflect.Value)
	// least is the smallest encoded size of a value.
	least int
	// plain reports that a value contains nothing that one holder could change for others.
	plain bool
	// key reports that equal values decode to equal values, as keys of a map must.
	key bool
}

// cborValue encodes a T by its plan.
func cborValue[T any](t reflect.Type) (*Value[T], error) {
	const id = "cbor/2"
	m := planner{plans: make(map[reflect.Type]*plan)}
	p, err := m.plan(rootName(t), t)
	if err != nil {
		return nil, err
	}
	return &Value[T]{
		ID: id, Type: fingerprint(id, t), Plain: p.plain,
		Encode: func(dst []byte, v T) ([]byte, error) {
			w := cborWriter{dst: dst, start: len(dst)}
			err := p.write(&w, reflect.ValueOf(&v).Elem())
			if err == nil {
				err = w.mixed(t)
			}
			if err != nil {
				return dst, within(err, rootName(t))
			}
			return w.dst, nil
		},
		Decode: func(b []byte) (v T, err error) {
			r := cborReader{b: b, all: len(b)}
			p.read(&r, reflect.ValueOf(&v).Elem())
			if r.err == nil && len(r.b) > 0 {
				r.fail("data after the value")
			}
			if r.err != nil {
				return *new(T), r.err
			}
			return v, nil
		},
	}, nil
}

func rootName(t reflect.Type) string {
	if t.Name() != "" {
		return t.Name()
	}
	return t.String()
}

// A planner makes the plans of a type and of all types it reaches.
type planner struct {
	plans map[reflect.Type]*plan
	order []reflect.Type // of plans, in the order they were begun
}

// plan returns the plan for t, found at path from the requested type.
func (m *planner) plan(path string, t reflect.Type) (*plan, error) {
	if p, ok := m.plans[t]; ok {
		return p, nil
	}
	began := len(m.order)
	p := &plan{typ: t, least: 1}
	m.plans[t], m.order = p, append(m.order, t)
	if err := m.fill(p, path); err != nil {
		m.forget(began)
		return nil, err
	}
	return p, nil
}

// forget drops the plans begun since began: they may refer to a failed one.
func (m *planner) forget(began int) {
	for _, t := range m.order[began:] {
		delete(m.plans, t)
	}
	m.order = m.order[:began]
}

// fill makes a plan: by the structure of the type, which loses nothing, otherwise by its
// own encoding methods.
func (m *planner) fill(p *plan, path string) error {
	if plan := special[p.typ]; plan != nil {
		plan(p)
		return nil
	}
	if planScalar(p) {
		return nil
	}
	began := len(m.order)
	err := m.structure(p, path)
	if err == nil {
		return nil
	}
	if method, ok := deepequal.MarshalerOf(p.typ); ok {
		m.forget(began)
		*p = plan{typ: p.typ, least: 1}
		planMarshaler(p, method)
		return nil
	}
	return err
}

// special has the plans of standard library types with inaccessible fields.
var special = map[reflect.Type]func(*plan){
	reflect.TypeFor[time.Time]():    planTime,
	reflect.TypeFor[url.Userinfo](): planUserinfo,
}

func (m *planner) structure(p *plan, path string) error {
	switch t := p.typ; t.Kind() {
	case reflect.Slice:
		return m.planSlice(p, path)
	case reflect.Array:
		return m.planArray(p, path)
	case reflect.Map:
		return m.planMap(p, path)
	case reflect.Pointer:
		return m.planPointer(p, path)
	case reflect.Struct:
		return m.planStruct(p, path)
	case reflect.Interface:
		return m.planInterface(p, path)
	}
	return &UnencodableError{Path: path, What: "a " + p.typ.Kind().String(), Type: p.typ, Fix: "leave it out of the result, or cache its inputs instead"}
}
