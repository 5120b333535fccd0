// Package numbers has a function for each way in which numbers, or more than
// those, are written to memory of operands. The comment before it says which.
package numbers

import "unsafe"

type T struct {
	n     int
	at    struct{ x, y float64 }
	sum   [2]uint8
	bytes []byte
	count map[int]bool
	text  string
	next  *T
	any   any
	chans chan int
}

type I interface{ M(*T) }

var global *T

// numbers
func WriteNumber(t *T) { t.n = 1 }

// numbers
func WriteStruct(t *T) { t.at = struct{ x, y float64 }{1, 2} }

// numbers
func WriteArray(t *T) { t.sum = [2]uint8{} }

// numbers
func WriteElement(t *T) { t.next.bytes[0]++ }

// numbers
func WriteMap(t *T) { t.count[1] = true }

// numbers
func WriteByCopy(t *T, s string) { copy(t.bytes, s) }

// numbers
func WriteByClear(t *T) { clear(t.bytes); clear(t.count); delete(t.count, 1) }

// numbers
func WriteByAppend(t *T) int { return len(append(t.bytes, 1)) }

// numbers
func WriteByCall(t *T) { t.next.set(1) }

// numbers
func (t *T) set(n int) { t.n = n }

// numbers
func WriteByClosure(t *T) { func() { t.n = 1 }() }

// numbers
func WriteAndGive(t *T) *T { t.n = 1; return t.next }

// more
func Read(t *T) int { return t.n }

// more
func WriteText(t *T) { t.text = "a" }

// more
func WritePointer(t *T) { t.next = nil }

// more
func WriteAny(t *T) { t.any = 1 }

// more
func WriteAll(t *T) { *t = T{} }

// more
func WriteSlice(t *T) { t.bytes = t.bytes[1:] }

// more
func WriteMapOfTexts(m map[string]int) { m["a"] = 1 }

// more
func ClearTexts(m map[int]string) { clear(m) }

// more
func CopyTexts(dst, src []string) { copy(dst, src) }

// more
func AppendPointer(l []*T) int { return len(append(l, nil)) }

// more
func Send(t *T) { t.chans <- 1; t.text = "a" }

// more
func Close(t *T) { close(t.chans) }

// more
func WriteBoth(t *T) { t.n = 1; t.next.next = nil }

// more
func WriteBothByCall(t *T) { t.set(1); WriteText(t.next) }

// more
func WriteByInterface(t *T, i I) { t.n = 1; i.M(t) }

// more
func WriteGeneric[E any](l []E, x E) { l[0] = x }

// more
func Keep(t *T) { t.n = 1; global = t }

// more
func KeepInOther(t, u *T) { t.n = 1; u.any = t }

// more
func Hand(t *T, f func(*T)) { t.n = 1; f(t) }

// more
func Panic(t *T) { t.n = 1; panic(t) }

// more
func Cast(t *T) { *(*uintptr)(unsafe.Pointer(&t.next)) = 0 }

// more
func CastByCall(t *T) { *word(t) = 0 }

// more
func word(t *T) *uintptr { return (*uintptr)(unsafe.Pointer(&t.next)) }
