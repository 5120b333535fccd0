package deepequal

import (
	"math"
	"math/big"
	"reflect"
	"sync"
	"testing"
	"time"
)

type ring struct {
	next *ring
	n    int
}

func circle(n ...int) *ring {
	first := &ring{n: n[0]}
	last := first
	for _, i := range n[1:] {
		last.next = &ring{n: i}
		last = last.next
	}
	last.next = first
	return first
}

func TestValues(t *testing.T) {
	quiet, signalling := math.NaN(), math.Float64frombits(0x7ff0000000000001)
	zero := 0.0
	for _, c := range []struct {
		a, b any
		path string
		same bool
	}{
		{1, 1, "", true}, {1, 2, "", false}, {quiet, quiet, "", true}, {quiet, signalling, "", false}, {zero, math.Copysign(0, -1), "", false},
		{"a", "a", "", true}, {[]int(nil), []int{}, "", false}, {[]int{}, make([]int, 0, 5), "", true}, {[]int{1, 2}, []int{1, 3}, "[1]", false},
		{map[string][]int{"a": {1}}, map[string][]int{"a": {2}}, "[a][0]", false}, {map[string]int{}, map[string]int(nil), "", false}, {map[int]int{1: 1}, map[int]int{2: 1}, "[1]", false},
		{circle(1, 2), circle(1, 2), "", true}, {circle(1, 2), circle(1, 3), ".next.n", false}, {circle(1, 1), circle(1), "", true},
		{any(1), any(int8(1)), "", false}, {[]any{1}, []any{int8(1)}, "[0]", false}, {[]any{ring{}}, []any{ring{n: 1}}, "[0].(deepequal.ring).n", false},
		{time.Unix(1, 0), time.Unix(1, 0).UTC(), "", false}, {time.Unix(1, 0).In(time.FixedZone("a", 1)), time.Unix(1, 0).In(time.FixedZone("a", 1)), "", true},
		{big.NewInt(0), new(big.Int), "", true}, {big.NewFloat(1), big.NewFloat(1).SetPrec(10), "", false}, {*big.NewRat(1, 2), *big.NewRat(2, 4), "", true},
		{map[float64]int{quiet: 1, signalling: 2}, map[float64]int{signalling: 2, quiet: 1}, "", true}, {map[float64]int{quiet: 1, signalling: 2}, map[float64]int{signalling: 1, quiet: 2}, "", false},
		{map[float64]int{zero: 1}, map[float64]int{math.Copysign(0, -1): 1}, "[0]", false},
		{func() {}, func() {}, "", false}, {(func())(nil), (func())(nil), "", true}, {[2]struct{}{}, [2]struct{}{}, "", true}, {[]byte{1}, []byte{2}, "", false},
	} {
		x, y := reflect.New(reflect.TypeOf(&c.a).Elem()), reflect.New(reflect.TypeOf(&c.a).Elem())
		x.Elem().Set(reflect.ValueOf(&c.a).Elem())
		y.Elem().Set(reflect.ValueOf(&c.b).Elem())
		path, same := Values(x, y)
		if same != c.same || same && path != "" {
			t.Errorf("%#v and %#v: same %v, %s", c.a, c.b, same, path)
		}
		if want := ".(" + reflect.TypeOf(c.a).String() + ")" + c.path; c.path != "" && path != want {
			t.Errorf("%#v and %#v differ at %s, want %s", c.a, c.b, path, want)
		}
	}
}

func TestSumSeesEachWrite(t *testing.T) {
	type inner struct{ list []int }
	type outer struct {
		hidden map[string]*inner
		box    any
		self   *outer
		f      func()
		texts  []string
		buffer []int
	}
	o := &outer{buffer: make([]int, 1, 4), hidden: map[string]*inner{"a": {[]int{1, 2}}, "b": {}}, box: []*inner{{[]int{3}}}, texts: []string{"x"}}
	o.self = o
	for i := range 100 {
		o.hidden[string(rune('c'+i))] = &inner{}
	}
	sum := func() Sum {
		t.Helper()
		s, sight := SumOf(o)
		if again, _ := SumOf(o); sight != Seen || s != again {
			t.Fatal("two sums of one memory")
		}
		return s
	}
	before := sum()
	for i, write := range []func(){
		func() { o.hidden["a"].list[1]++ },
		func() { _ = append(o.buffer[:1], 7) },
		func() { o.hidden["new"] = nil },
		func() { delete(o.hidden, "b") },
		func() { o.box.([]*inner)[0].list[0]++ },
		func() { o.texts[0] = "y" },
		func() { o.f = func() {} },
		func() { o.box = nil },
	} {
		write()
		after := sum()
		if after == before {
			t.Errorf("write %d is not seen", i)
		}
		before = after
	}
	for _, v := range []any{&sync.Mutex{}, []any{struct{ c chan int }{}}, map[string]*sync.Map{}, []any{sum, &sync.Mutex{}}} {
		if _, sight := SumOf(v); sight != Shared {
			t.Errorf("of a %T there is %d", v, sight)
		}
	}
	for v, want := range map[any]Sight{&[]any{sum}: Hidden, &[1]func() Sum{sum}: Hidden, &o.f: Seen, new(func()): Seen, &struct{ f func(reflect.Type) bool }{refers}: Seen} {
		if _, sight := SumOf(v); sight != want {
			t.Errorf("of a %T there is %d", v, sight)
		}
	}
	long := &ring{}
	for range 1 << 16 {
		long = &ring{next: long}
	}
	if _, sight := SumOf(long); sight != Seen {
		t.Error("a long list is not watched")
	}
}
