package codec

import (
	"bytes"
	"reflect"
	"slices"
)

// planSlice keeps a slice as null if it is nil, as numbers in one piece, or as
// an array.
func (m *planner) planSlice(p *plan, path string) error {
	elem, err := m.plan(path+"[]", p.typ.Elem())
	if err != nil {
		return err
	}
	if n, ok := numbersOf(p.typ.Elem()); ok {
		p.write = func(w *cborWriter, v reflect.Value) error {
			if v.IsNil() {
				w.null()
			} else {
				n.write(w, memory(v.UnsafePointer(), v.Len()*n.size))
			}
			return nil
		}
		p.read = func(r *cborReader, v reflect.Value) {
			if r.null() {
				return
			}
			data := n.read(r)
			if r.err != nil {
				return
			}
			s := reflect.MakeSlice(p.typ, len(data)/n.size, len(data)/n.size)
			n.copy(memory(s.UnsafePointer(), len(data)), data)
			v.Set(s)
		}
		return nil
	}
	p.write = func(w *cborWriter, v reflect.Value) error {
		if v.IsNil() {
			w.null()
			return nil
		}
		if p.recursive && v.Len() > 0 {
			at := visit{v.UnsafePointer(), v.Len(), p}
			if err := w.enter(at); err != nil {
				return err
			}
			defer w.leave(at)
		}
		w.head(majorArray, uint64(v.Len()))
		for i := range v.Len() {
			if err := elem.write(w, v.Index(i)); err != nil {
				return err
			}
		}
		return nil
	}
	p.read = func(r *cborReader, v reflect.Value) {
		if r.null() {
			return
		}
		n := r.count(majorArray, elem.least)
		if !r.enter() {
			return
		}
		defer r.leave()
		s := reflect.MakeSlice(p.typ, n, n)
		for i := range n {
			if elem.read(r, s.Index(i)); r.err != nil {
				return
			}
		}
		v.Set(s)
	}
	return nil
}

// planArray is as planSlice for an array, which is never nil. One that takes
// no memory is a null, however many elements it has.
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
		for i := range v.Len() {
			if err := elem.write(w, v.Index(i)); err != nil {
				return err
			}
		}
		return nil
	}
	p.read = func(r *cborReader, v reflect.Value) {
		r.exactly(v.Len())
		for i := 0; i < v.Len() && r.err == nil; i++ {
			elem.read(r, v.Index(i))
		}
	}
	return nil
}

// planMap keeps a map as null if it is nil, or with its entries in the order
// of their encoded bytes. NaNs are keys as any other.
func (m *planner) planMap(p *plan, path string) error {
	key, err := m.plan(path+"[key]", p.typ.Key())
	if err != nil {
		return err
	}
	if !key.key {
		return &UnencodableError{path + "[key]", "a key", p.typ.Key(), "use keys made of strings and numbers: pointers and interfaces are not equal when they come back"}
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
		if p.recursive {
			at := visit{v.UnsafePointer(), 0, p}
			if err := w.enter(at); err != nil {
				return err
			}
			defer w.leave(at)
		}
		w.head(majorMap, uint64(v.Len()))
		return w.sorted(v, key, elem)
	}
	p.read = func(r *cborReader, v reflect.Value) {
		if r.null() {
			return
		}
		n := r.count(majorMap, key.least+elem.least)
		if !r.enter() {
			return
		}
		defer r.leave()
		out := reflect.MakeMapWithSize(p.typ, n)
		for range n {
			k, e := reflect.New(key.typ).Elem(), reflect.New(elem.typ).Elem()
			key.read(r, k)
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

// sorted writes the entries of a map, and then puts them in order.
func (w *cborWriter) sorted(v reflect.Value, key, elem *plan) error {
	start := len(w.dst)
	ends := make([]int, 0, v.Len())
	k, e := reflect.New(key.typ).Elem(), reflect.New(elem.typ).Elem()
	for it := v.MapRange(); it.Next(); {
		k.SetIterKey(it)
		if err := key.write(w, k); err != nil {
			return err
		}
		e.SetIterValue(it)
		if err := elem.write(w, e); err != nil {
			return err
		}
		ends = append(ends, len(w.dst))
	}
	if len(ends) < 2 {
		return nil
	}
	unsorted := bytes.Clone(w.dst[start:])
	entries := make([][]byte, len(ends))
	from := 0
	for i, end := range ends {
		entries[i], from = unsorted[from:end-start], end-start
	}
	slices.SortFunc(entries, bytes.Compare)
	w.dst = w.dst[:start]
	for _, entry := range entries {
		w.dst = append(w.dst, entry...)
	}
	return nil
}

// planPointer keeps a pointer as null if it is nil, or as an array of one, so
// that a pointer to a nil pointer differs from it.
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
		if p.recursive {
			at := visit{v.UnsafePointer(), 0, p}
			if err := w.enter(at); err != nil {
				return err
			}
			defer w.leave(at)
		}
		w.head(majorArray, 1)
		return elem.write(w, v.Elem())
	}
	p.read = func(r *cborReader, v reflect.Value) {
		if r.null() {
			return
		}
		r.exactly(1)
		if !r.enter() {
			return
		}
		defer r.leave()
		to := reflect.New(elem.typ)
		if elem.read(r, to.Elem()); r.err == nil {
			v.Set(to)
		}
	}
	return nil
}
