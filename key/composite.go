package key

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"unsafe"
)

// Bounds on the traversal of a value. A value that contains itself through pointers,
// slices or maps stays within them, because each of these is traversed once. So does
// one that shares its parts very often.
const (
	maxDepth = 10_000
	maxSteps = 1 << 28
)

// enter begins and leave ends the inside of a pointer, slice, map or interface. Only
// through these can a value be deep or contain itself.
func (e *encoder) enter(t reflect.Type) error {
	e.depth++
	e.steps++
	if e.depth <= maxDepth && e.steps <= maxSteps {
		return nil
	}
	reason := fmt.Sprintf("nested deeper than %d levels", maxDepth)
	if e.depth <= maxDepth {
		reason = fmt.Sprintf("more than %d pointers, slices, maps and interfaces, or some shared too often", maxSteps)
	}
	return &UnkeyableError{Type: t, Reason: reason, Fix: fixKeyer}
}

func (e *encoder) leave() { e.depth-- }

func encodeInterface(t reflect.Type) func(*encoder, unsafe.Pointer) error {
	methods := t.NumMethod() > 0
	return func(e *encoder, p unsafe.Pointer) error {
		if err := e.enter(t); err != nil {
			return err
		}
		defer e.leave()
		var v any
		if methods { // then the interface value has a method table in place of the type
			v = *(*interface{ M() })(p)
		} else {
			v = *(*any)(p)
		}
		if err := e.value(v); err != nil {
			return within(err, ".("+typeName(reflect.TypeOf(v))+")")
		}
		return nil
	}
}

func (c *compiler) pointer(p *plan) *UnkeyableError {
	elem, err := c.compile(p.typ.Elem())
	if err != nil {
		return err
	}
	t, id, sized := p.typ, typeID(p.typ.Elem()), p.typ.Elem().Size() > 0
	p.encode = func(e *encoder, p unsafe.Pointer) error {
		to := *(*unsafe.Pointer)(p)
		if to == nil {
			e.buf = append(e.buf, 0)
			return nil
		}
		if sized {
			if n, before := e.meet(referent{uintptr(to), byPointer, id}, wholly); before != never {
				e.buf = append(e.buf, 2)
				e.length(n)
				return nil
			}
		}
		e.buf = append(e.buf, 1)
		if err := e.enter(t); err != nil {
			return err
		}
		defer e.leave()
		return elem.encode(e, to)
	}
	return nil
}

// sliceHeader is the layout of a slice in memory.
type sliceHeader struct {
	data     unsafe.Pointer
	len, cap int
}

func (c *compiler) slice(p *plan) *UnkeyableError {
	elem, err := c.compile(p.typ.Elem())
	if err != nil {
		err.Path = "[]" + err.Path
		return err
	}
	t, id, sized := p.typ, typeID(p.typ.Elem()), p.typ.Elem().Size() > 0
	p.encode = func(e *encoder, p unsafe.Pointer) error {
		s := (*sliceHeader)(p)
		if s.data == nil {
			e.length(0)
			return nil
		}
		if sized && s.len > 0 {
			switch n, before := e.meet(referent{uintptr(s.data), s.len, id}, wholly); before {
			case wholly:
				e.uvarint(lengthAgain)
				e.length(n)
				return nil
			case partly:
				e.uvarint(lengthPart)
				e.length(n)
			}
		}
		e.length(s.len + 1)
		if err := e.enter(t); err != nil {
			return err
		}
		defer e.leave()
		return e.elements(elem, s.data, s.len)
	}
	return nil
}

func (c *compiler) array(p *plan) *UnkeyableError {
	elem, err := c.compile(p.typ.Elem())
	if err != nil {
		err.Path = "[]" + err.Path
		return err
	}
	n := p.typ.Len()
	p.flat = elem.flat || n == 0
	p.encode = func(e *encoder, p unsafe.Pointer) error { return e.elements(elem, p, n) }
	return nil
}

func (e *encoder) elements(elem *plan, p unsafe.Pointer, n int) error {
	size := elem.typ.Size()
	if elem.flat {
		e.raw(unsafe.Slice((*byte)(p), size*uintptr(n)))
		return nil
	}
	for i := range n {
		if err := elem.encode(e, unsafe.Add(p, uintptr(i)*size)); err != nil {
			return within(err, "["+strconv.Itoa(i)+"]")
		}
		e.spill()
	}
	return nil
}

type field struct {
	name   string
	offset uintptr
	plan   *plan
}

func (c *compiler) structFields(p *plan) *UnkeyableError {
	t := p.typ
	var fields []field
	for f := range fieldsOf(t) {
		if excluded(f) {
			continue
		}
		fp, err := c.compile(f.Type)
		if err == nil && !f.IsExported() {
			err = &UnkeyableError{
				Type: f.Type, Reason: "unexported field cannot be keyed",
				Fix: "export it, or " + fixExclude,
			}
		}
		if err != nil {
			err.Path = "." + f.Name + err.Path
			return err
		}
		fields = append(fields, field{f.Name, f.Offset, fp})
	}
	p.encode = func(e *encoder, p unsafe.Pointer) error {
		for i := range fields {
			f := &fields[i]
			if err := f.plan.encode(e, unsafe.Add(p, f.offset)); err != nil {
				return within(err, "."+f.name)
			}
		}
		return nil
	}
	p.flat = fill(fields, t.Size())
	return nil
}

// fill reports whether fields that are encoded as their memory fill a struct of that
// size.
func fill(fields []field, size uintptr) bool {
	end := uintptr(0)
	for _, f := range fields {
		if !f.plan.flat || f.offset != end {
			return false
		}
		end += f.plan.typ.Size()
	}
	return end == size
}

// mapping encodes a map's entries in the order of their encoded keys.
func (c *compiler) mapping(p *plan) *UnkeyableError {
	t := p.typ
	k, err := c.compile(t.Key())
	if err == nil {
		p.encode, err = c.entries(t, k)
	}
	if err != nil {
		err.Path = "[]" + err.Path
	}
	return err
}

func (c *compiler) entries(t reflect.Type, k *plan) (func(*encoder, unsafe.Pointer) error, *UnkeyableError) {
	v, err := c.compile(t.Elem())
	if err != nil {
		return nil, err
	}
	return func(e *encoder, p unsafe.Pointer) error {
		id := *(*unsafe.Pointer)(p)
		if id == nil {
			e.length(0)
			return nil
		}
		if n, before := e.meet(referent{uintptr(id), byMap, 0}, wholly); before != never {
			e.uvarint(lengthAgain)
			e.length(n)
			return nil
		}
		if slices.Contains(e.maps, id) {
			return &UnkeyableError{Type: t, Reason: "map contains itself", Fix: fixKeyer}
		}
		if err := e.enter(t); err != nil {
			return err
		}
		defer e.leave()
		e.maps = append(e.maps, id)
		defer func() { e.maps = e.maps[:len(e.maps)-1] }()
		return e.entries(reflect.NewAt(t, p).Elem(), k, v)
	}, nil
}

func (e *encoder) entries(m reflect.Value, k, v *plan) error {
	n := m.Len()
	e.length(n + 1)
	if n == 0 {
		return nil
	}
	keys := reflect.MakeSlice(reflect.SliceOf(k.typ), n, n)
	values := reflect.MakeSlice(reflect.SliceOf(v.typ), n, n)
	it := m.MapRange()
	for i := 0; i < n && it.Next(); i++ {
		keys.Index(i).SetIterKey(it)
		values.Index(i).SetIterValue(it)
	}
	sorted, refer, err := e.sortKeys(k, keys)
	if err != nil {
		return err
	}
	for i, s := range sorted {
		if i > 0 && bytes.Equal(s.encoded, sorted[i-1].encoded) {
			return &UnkeyableError{Type: m.Type(), Reason: "map with two keys of equal content cannot be keyed", Fix: fixKeyer}
		}
		if !refer {
			e.raw(s.encoded)
		} else if err := k.encode(e, keys.Index(s.index).Addr().UnsafePointer()); err != nil {
			return within(err, "[key "+keyText(keys.Index(s.index))+"]")
		}
		if err := v.encode(e, values.Index(s.index).Addr().UnsafePointer()); err != nil {
			return within(err, "["+keyText(keys.Index(s.index))+"]")
		}
		e.spill()
	}
	return nil
}

type mapKey struct {
	encoded []byte
	index   int
}

// sortKeys encodes the keys of a map and sorts them by encoding. It encodes each key
// separately, because references to earlier referents depend on the order. It reports
// whether a key refers to a referent.
func (e *encoder) sortKeys(k *plan, keys reflect.Value) (sorted []mapKey, refer bool, err error) {
	sub := encoder{depth: e.depth, steps: e.steps, maps: e.maps}
	ends := make([]int, keys.Len())
	for i := range ends {
		if err := k.encode(&sub, keys.Index(i).Addr().UnsafePointer()); err != nil {
			return nil, false, within(err, "[key "+keyText(keys.Index(i))+"]")
		}
		ends[i] = len(sub.buf)
		refer = refer || sub.referents.any() || sub.opaque != nil
		sub.referents.reset()
		sub.opaque = nil // the keys are encoded again
	}
	e.steps = sub.steps
	start := 0
	sorted = make([]mapKey, len(ends))
	for i, end := range ends {
		sorted[i] = mapKey{sub.buf[start:end], i}
		start = end
	}
	slices.SortFunc(sorted, func(a, b mapKey) int { return bytes.Compare(a.encoded, b.encoded) })
	return sorted, refer, nil
}
