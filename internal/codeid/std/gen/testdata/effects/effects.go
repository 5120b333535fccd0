// Package effects has a function for each way in which memory of operands can be
// written to, kept or handed out. The comment before it says what has to be found.
package effects

import "sync/atomic"

type T struct {
	n    int
	next *T
	list []*T
	m    map[string]*T
	f    func()
	any  any
}

type I interface{ M(*T) }

var global *T
var globals []*T

// reads
func Sum(s []int) (n int) {
	for _, v := range s {
		n += v
	}
	return n
}

// reads
func Deep(t *T) int { return t.next.next.list[3].m["a"].n }

// reads
func CopyOfValue(t *T) int { u := *t; u.n = 3; return u.n }

// first
func WriteField(t *T) { t.n = 1 }

// first
func WriteDeep(t *T) { t.next.list[0].n = 1 }

// first
func WriteThroughCopy(t *T) { u := *t; u.next.n = 1 }

// first
func WriteThroughLocal(t *T) { l := []*T{t}; l[0].n = 1 }

// first
func WriteThroughMap(t *T) {
	m := map[int]*T{1: t}
	for _, v := range m {
		v.n++
	}
}

// first
func WriteThroughInterface(t *T) { var a any = t; a.(*T).n = 1 }

// first
func WriteThroughChannel(t *T) { c := make(chan *T, 1); c <- t; (<-c).n = 1 }

// first
func WriteThroughSelect(t *T) {
	c := make(chan *T, 1)
	select {
	case c <- t:
	default:
	}
	select {
	case u := <-c:
		u.n = 1
	default:
	}
}

// first
func WriteInClosure(t *T) { func() { t.n = 1 }() }

// first
func WriteInStoredClosure(t *T) { f := func() { t.n = 1 }; g := f; g() }

// first
func WriteInDefer(t *T) { defer func() { t.n = 1 }() }

// first
func WriteInGo(t *T) { go func() { t.n = 1 }() }

// first
func WriteInLaterClosure(t *T) func() { return func() { t.n = 1 } }

// first
func WriteByRecursion(t *T) {
	if t != nil {
		t.n = 1
		WriteByRecursion(t.next)
	}
}

// first
func WriteByRecursiveClosure(t *T) {
	var walk func(*T)
	walk = func(t *T) {
		if t != nil {
			t.n++
			walk(t.next)
		}
	}
	walk(t)
}

// first
func WriteByCallback(t []*T) { each(t, func(t *T) { t.n = 1 }) }

// returns
func each(t []*T, f func(*T)) {
	for _, v := range t {
		f(v)
	}
}

// reads
func ReadByCallback(t []*T) (n int) { each(t, func(t *T) { n += t.n }); return n }

// returns
func KeepByCallback(t []*T) (last *T) { each(t, func(t *T) { last = t }); return last }

// first
func KeepAndWriteByCallback(t []*T) { var last *T; each(t, func(t *T) { last = t }); last.n = 1 }

// first
func WriteByMethodValue(t *T) { f := t.Set; f() }

// receiver
func (t *T) Set() { t.n = 1 }

// first
func WriteByMethodExpression(t *T) { f := (*T).Set; f(t) }

// writes
func WriteByOwnInterface(i I, t *T) { i.M(t) }

// first
func WriteByAtomic(t *int64) { atomic.AddInt64(t, 1) }

// first
func WriteByAppend(s []int) { _ = append(s, 1) }

// first
func WriteByAppendOfPart(s []int) []int { return append(s[:1], 2) }

// reads
func AppendToOwn(s []int) []int { return append([]int(nil), s...) }

// returns
func AppendToOwnOfPointers(s []*T) []*T { return append([]*T(nil), s...) }

// first
func AppendThenWrite(s []*T) { u := append([]*T(nil), s...); u[0].n = 1 }

// first
func WriteByCopy(dst, src []int) { copy(dst, src) }

// writes
func KeepByCopy(dst, src []*T) { copy(dst, src) }

// first
func WriteByDelete(m map[string]int) { delete(m, "a") }

// first
func WriteByClear(m map[string]int) { clear(m) }

// first
func WriteByRangeAddress(s []T) {
	for i := range s {
		p := &s[i]
		p.n = 1
	}
}

// first
func WriteByArrayPointer(s []int) { (*[2]int)(s)[0] = 1 }

// first
func KeepInGlobal(t *T) { global = t }

// first
func KeepInGlobals(t *T) { globals = append(globals, t) }

// first
func KeepBehindGlobal(t *T) { global.next = t }

// first
func KeepInGlobalByClosure(t *T) { global.f = func() { _ = t.n } }

// writes
func KeepInOther(t, u *T) { t.next = u }

// writes
func KeepInOtherByHelper(t, u *T) { link(t, u) }

// writes
func link(t, u *T) { t.next = u }

// returns
func LinkOwn(u *T) *T { t := &T{}; link(t, u); return t }

// first
func LinkOwnAndWrite(u *T) { t := &T{}; link(t, u); t.next.n = 1 }

// returns
func Return(t *T) *T { return t }

// returns
func ReturnNamed(t *T) (u *T) { defer func() { u = t }(); return nil }

// returns
func ReturnInside(t *T) any { return map[string]any{"a": []any{t}} }

// first
func ReturnByPanic(t *T) (r any) {
	defer func() { r = recover() }()
	panic(t)
}

// first
func WriteByPanic(t *T) {
	defer func() { recover().(*T).n = 1 }()
	panic(t)
}

// returns
func ReturnPart(s []int) []int { return s[1:] }

// returns
func ReturnAddress(t *T) *int { return &t.n }

// reads
func ReturnString(t []string) string { return t[0] }

// returns
func Iterate(s []*T) func(func(*T) bool) {
	return func(yield func(*T) bool) {
		for _, v := range s {
			if !yield(v) {
				return
			}
		}
	}
}

// first
func WriteByIterator(s []*T) {
	for t := range Iterate(s) {
		t.n = 1
	}
}

// reads
func ReadByIterator(s []*T) (n int) {
	for t := range Iterate(s) {
		n += t.n
	}
	return n
}

// first
func WriteGeneric(s []*T) { set(s, func(t **T) { (*t).n = 1 }) }

// returns
func set[E any](s []E, f func(*E)) {
	for i := range s {
		f(&s[i])
	}
}

// first
func WriteByGeneric(s []int) { fill(s, 1) }

// first
func fill[E any](s []E, v int) {
	var zero E
	s[0] = zero
}

// writes
func KeepByGeneric[E any](s []E, v E) { s[0] = v }

// receiver
func (t *T) Grow() *T { t.list = append(t.list, &T{}); return t.list[0] }

// first
func (t *T) Fill(s []int) { s[0] = t.n }

// writes
func (t *T) Add(u *T) { t.list = append(t.list, u) }

// reads
func (t *T) Len() int { return len(t.list) }

// returns
func (t *T) Next() *T { return t.next }

// What functions do that operands hold is their affair; what is handed to them is
// a result.
//
// reads
func CallHeld(t *T) { t.f() }

// returns
func UnknownFunction(t *T, u *T) { u.any.(func(*T))(t) }

type box struct{ t *T }

// first
func WriteInStruct(b box) { b.t.n = 1 }

// first
func WriteInArray(a [2]*T) { a[1].n = 1 }

type embeds struct{ *T }

// first
func WritePromoted(e embeds) { e.Set() }

// first
func WriteByPromotedInterface(e embeds) { var s interface{ Set() } = e; s.Set() }

var hook func(*T)

// first
func CallHook(t *T) { hook(t) }

// returns
func MakeIterator(s []*T) func(func(*T) bool) {
	inner := Iterate(s)
	return func(yield func(*T) bool) { inner(yield) }
}

// first
func WriteByMadeIterator(s []*T) {
	for t := range MakeIterator(s) {
		t.n = 1
	}
}

// first
func WriteByFunctionInStruct(t *T) {
	b := struct{ f func(*T) }{func(t *T) { t.n = 1 }}
	b.f(t)
}

// first
func WriteByFunctionInMap(t *T) { map[string]func(*T){"a": WriteField}["a"](t) }

// first
func WriteByPassedFunctionInStruct(t *T) { T2{f: WriteField}.run(t) }

type T2 struct{ f func(*T) }

// returns
func (t T2) run(u *T) { t.f(u) }

// first
func WriteByReturnedFunction(t *T) { setter()(t) }

// reads
func setter() func(*T) { return func(t *T) { t.n = 1 } }

// reads
func ReadByCurried(t *T) { curried(t)() }

// returns
func curried(t *T) func() { u := t; return func() { print(u.n) } }

// first
func HandOn(t []*T) { each(t, func(t *T) { each(t.list, WriteField) }) }
