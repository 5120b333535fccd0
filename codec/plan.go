package codec

import (
	"reflect"
	"time"
)

// A plan writes and reads the values of one type. Values are handed to it
// addressable; those to be read into are zero. Plans call each other's
// functions only when they run, so that types can contain themselves.
type plan struct {
	typ   reflect.Type
	write func(*cborWriter, reflect.Value) error
	read  func(*cborReader, reflect.Value)
	// least is the smallest number of bytes that a value takes.
	least int
	// plain says that a value holds nothing one holder could change.
	plain bool
	// key says that equal values come back equal, as keys of a map must.
	key bool
	// recursive says that a value may contain values of the same type. It
	// may also be set for types that lead to such types.
	recursive bool
}

// cborValue keeps a T by its plan.
func cborValue[T any](t reflect.Type) (*Value[T], error) {
	const id = "cbor/1"
	m := planner{plans: make(map[reflect.Type]*plan)}
	p, err := m.plan(rootName(t), t)
	if err != nil {
		return nil, err
	}
	return &Value[T]{
		ID: id, Type: fingerprint(id, t), Plain: p.plain,
		Encode: func(dst []byte, v T) ([]byte, error) {
			w := cborWriter{dst: dst, start: len(dst)}
			if err := p.write(&w, reflect.ValueOf(&v).Elem()); err != nil {
				return dst, err
			}
			return w.dst, nil
		},
		Decode: func(b []byte) (v T, err error) {
			r := cborReader{b: b, all: len(b)}
			p.read(&r, reflect.ValueOf(&v).Elem())
			if r.err == nil && len(r.b) > 0 {
				r.fail("more follows after the value")
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

// A planner makes the plans of a type and of all it reaches.
type planner struct {
	plans map[reflect.Type]*plan
	open  []*plan // being made, outermost first
}

// plan returns the plan for t, found at path from the type asked for.
func (m *planner) plan(path string, t reflect.Type) (*plan, error) {
	if p, ok := m.plans[t]; ok {
		m.markRecursive(p)
		return p, nil
	}
	p := &plan{typ: t, least: 1}
	m.plans[t] = p
	m.open = append(m.open, p)
	err := m.fill(p, path)
	m.open = m.open[:len(m.open)-1]
	return p, err
}

// markRecursive notes that the innermost open plan leads to p: if p is open
// too, that is a cycle; if p is done and on or before a cycle, so may be all
// that are open.
func (m *planner) markRecursive(p *plan) {
	onCycle := p.recursive
	for _, open := range m.open {
		onCycle = onCycle || open == p
		open.recursive = open.recursive || onCycle
	}
}

func (m *planner) fill(p *plan, path string) error {
	t := p.typ
	switch {
	case t == reflect.TypeFor[time.Time]():
		planTime(p)
		return nil
	case planScalar(p):
		return nil
	case marshalsItself(t):
		planMarshaler(p)
		return nil
	}
	switch t.Kind() {
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
	return &UnencodableError{path, "a " + t.Kind().String(), t, "leave it out of the result, or keep what it is made from"}
}
