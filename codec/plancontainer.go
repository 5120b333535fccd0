package codec

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
)

// planSlice encodes a slice as null if it is nil, as one block of numbers, or as an array.
func (m *planner) planSlice(p *plan, path string) error {
	elem, err := m.plan(path+"[]", p.typ.Elem())
	if err != nil {
		return err
	}
	if n, ok := numbersOf(p.typ.Elem()); ok {
		p.write = func(w *cborWriter, v reflect.Value) error {
			if v.IsNil() {
				w.null()
			} else if v.Len() == 0 || !w.again(v.UnsafePointer(), v.Len(), p.typ) {
				n.write(w, memory(v.UnsafePointer(), v.Len()*n.size))
			}
			return nil
		}
		p.read = func(r *cborReader, v reflect.Value) {
			if r.null() || r.again(v) {
				return
			}
			data := n.read(r)
			if r.err != nil {
				return
			}
			s := reflect.MakeSlice(p.typ, len(data)/n.size, len(data)/n.size)
			n.copy(memory(s.UnsafePointer(), len(data)), data)
			v.Set(s)
			if s.Len() > 0 {
				r.part(s)
			}
		}
		return nil
	}
	if elem.typ.Size() == 0 {
		planLength(p)
		return nil
	}
	p.write = func(w *cborWriter, v reflect.Value) error {
		if v.IsNil() {
			w.null()
			return nil
		}
		if v.Len() > 0 && w.again(v.UnsafePointer(), v.Len(), p.typ) {
			return nil
		}
		if err := w.enter(p.typ); err != nil {
			return err
		}
		defer w.leave()
		w.head(majorArray, uint64(v.Len()))
		return w.elements(elem, v)
	}
	p.read = func(r *cborReader, v reflect.Value) {
		if r.null() || r.again(v) {
			return
		}
		n := r.count(majorArray, elem.least)
		if !r.enter() {
			return
		}
		defer r.leave()
		s := reflect.MakeSlice(p.typ, n, n)
		if n > 0 {
			r.part(s)
		}
		for i := range n {
			if elem.read(r, s.Index(i)); r.err != nil {
				return
			}
		}
		v.Set(s)
	}
	return nil
}

// planLength encodes a slice of zero-size elements as its length.
func planLength(p *plan) {
	p.write = func(w *cborWriter, v reflect.Value) error {
		if v.IsNil() {
			w.null()
		} else {
			w.head(majorUint, uint64(v.Len()))
		}
		return nil
	}
	p.read = func(r *cborReader, v reflect.Value) {
		if r.null() {
			return
		}
		n := r.uint()
		if n > math.MaxInt {
			r.fail("a length of %d", n)
			return
		}
		v.Set(reflect.MakeSlice(p.typ, int(n), int(n)))
	}
}

func (w *cborWriter) elements(elem *plan, v reflect.Value) error {
	for i := range v.Len() {
		if err := elem.write(w, v.Index(i)); err != nil {
			return within(err, "["+strconv.Itoa(i)+"]")
		}
		if err := w.space(v.Type()); err != nil {
			return err
		}
	}
	return nil
}

// planArray is planSlice for an array, which is never nil. A zero-size array is a null,
// whatever its length.
func (m *planner) planArray(p *plan, path string) error {
	elem, err := m.plan(path+"[]", p.typ.Elem())
	if err != nil {
		return err
	}
	p.plain, p.key = elem.plain, elem.key
	if p.typ.Size() == 0 {
		p.write = func(w *cborWriter, _ reflect.Value) error { w.null(); return nil }
		p.read = func(r *cborReader, _ reflect.Value) {
			if !r.null() {
				r.fail("no null for a %v", p.typ)
			}
		}
		return nil
	}
	size := int(p.typ.Size())
	if n, ok := numbersOf(p.typ.Elem()); ok {
		p.least += size
		p.write = func(w *cborWriter, v reflect.Value) error {
			n.write(w, memory(v.Addr().UnsafePointer(), size))
			return nil
		}
		p.read = func(r *cborReader, v reflect.Value) {
			data := n.read(r)
			if r.err == nil && len(data) != size {
				r.fail("%d bytes for a %v", len(data), p.typ)
			}
			if r.err == nil {
				n.copy(memory(v.Addr().UnsafePointer(), size), data)
			}
		}
		return nil
	}
	p.least += p.typ.Len() * elem.least
	p.write = func(w *cborWriter, v reflect.Value) error {
		w.head(majorArray, uint64(v.Len()))
		return w.elements(elem, v)
	}
	p.read = func(r *cborReader, v reflect.Value) {
		r.exactly(v.Len())
		for i := 0; i < v.Len() && r.err == nil; i++ {
			elem.read(r, v.Index(i))
		}
	}
	return nil
}

// planMap encodes a map as null if it is nil, or with its entries in the order of their
// encoded bytes. NaNs are keys like others.
func (m *planner) planMap(p *plan, path string) error {
	key, err := m.plan(path+"[key]", p.typ.Key())
	if err != nil {
		return err
	}
	if !key.key {
		return &UnencodableError{Path: path + "[key]", What: "a key", Type: p.typ.Key(), Fix: "use keys of strings and numbers; pointers and interfaces differ after decoding"}
	}
	elem, err := m.plan(path+"[]", p.typ.Elem())
	if err != nil {
		return err
	}
	p.write = func(w *cborWriter, v reflect.Value) error {
		if v.IsNil() {
			w.null()
			return nil
		}
		if w.again(v.UnsafePointer(), 0, p.typ) {
			return nil
		}
		if err := w.enter(p.typ); err != nil {
			return err
		}
		defer w.leave()
		w.head(majorMap, uint64(v.Len()))
		return w.sorted(v, key, elem)
	}
	p.read = func(r *cborReader, v reflect.Value) {
		if r.null() || r.again(v) {
			return
		}
		n := r.count(majorMap, key.least+elem.least)
		if !r.enter() {
			return
		}
		defer r.leave()
		out := reflect.MakeMapWithSize(p.typ, n)
		r.part(out)
		for range n {
			k, e := reflect.New(key.typ).Elem(), reflect.New(elem.typ).Elem()
			r.apart = true
			key.read(r, k)
			r.apart = false
			if elem.read(r, e); r.err != nil {
				return
			}
			out.SetMapIndex(k, e)
		}
		if out.Len() != n {
			r.fail("two keys of a %v came back equal", p.typ)
			return
		}
		v.Set(out)
	}
	return nil
}

// sorted writes the entries of a map in the order of their encoded keys, which contain no
// references.
func (w *cborWriter) sorted(m reflect.Value, key, elem *plan) error {
	type entry struct {
		key   []byte
		index int
	}
	keys := cborWriter{apart: true, depth: w.depth}
	entries := make([]entry, 0, m.Len())
	elems := reflect.MakeSlice(reflect.SliceOf(elem.typ), m.Len(), m.Len())
	k := reflect.New(key.typ).Elem()
	for it := m.MapRange(); it.Next() && len(entries) < elems.Len(); {
		k.SetIterKey(it)
		start := len(keys.dst)
		if err := key.write(&keys, k); err != nil {
			return within(err, fmt.Sprintf("[key %v]", k))
		}
		elems.Index(len(entries)).SetIterValue(it)
		entries = append(entries, entry{keys.dst[start:len(keys.dst):len(keys.dst)], len(entries)})
	}
	w.opaque.Add(&keys.opaque)
	var failed error
	slices.SortFunc(entries, func(a, b entry) int {
		if c := bytes.Compare(a.key, b.key); c != 0 || a.index == b.index {
			return c
		}
		// NaNs with the same bits are ordered by their elements.
		var x, y cborWriter
		failed = cmp.Or(failed, elem.write(&x, elems.Index(a.index)), elem.write(&y, elems.Index(b.index)))
		return bytes.Compare(x.dst, y.dst)
	})
	if failed != nil {
		return failed
	}
	for _, e := range entries {
		w.dst = append(w.dst, e.key...)
		if err := elem.write(w, elems.Index(e.index)); err != nil {
			return within(err, "["+keyText(e.key)+"]")
		}
		if err := w.space(m.Type()); err != nil {
			return err
		}
	}
	return nil
}

// keyText returns the text of an encoded key: for a string, the string.
func keyText(encoded []byte) string {
	r := cborReader{b: encoded, all: len(encoded)}
	if s := r.string(); r.err == nil {
		return strconv.Quote(s)
	}
	return fmt.Sprintf("% x", encoded)
}

// planPointer encodes a pointer as null if it is nil, otherwise as an array of one, so that
// a pointer to a nil pointer is distinct.
func (m *planner) planPointer(p *plan, path string) error {
	elem, err := m.plan(path, p.typ.Elem())
	if err != nil {
		return err
	}
	p.write = func(w *cborWriter, v reflect.Value) error {
		if v.IsNil() {
			w.null()
			return nil
		}
		if elem.typ.Size() > 0 && w.again(v.UnsafePointer(), 0, p.typ) {
			return nil
		}
		if err := w.enter(p.typ); err != nil {
			return err
		}
		defer w.leave()
		w.head(majorArray, 1)
		return elem.write(w, v.Elem())
	}
	p.read = func(r *cborReader, v reflect.Value) {
		if r.null() || r.again(v) {
			return
		}
		r.exactly(1)
		if !r.enter() {
			return
		}
		defer r.leave()
		to := reflect.New(elem.typ)
		if elem.typ.Size() > 0 {
			r.part(to.Convert(p.typ))
		}
		if elem.read(r, to.Elem()); r.err == nil {
			v.Set(to)
		}
	}
	return nil
}
