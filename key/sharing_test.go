package key

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"math/big"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

type (
	twoPointers struct{ A, B *int }
	intPointer  *int
	linked      struct {
		N       int8
		P, Q    *linked
		List    []int8
		Links   []*linked
		Map     map[int8]*linked
		Any     any
		Nothing *struct{}
		Leaf    *int8
		ByLeaf  map[*int8]*int8
	}
)

func ints(list ...int) []int { return list }

// TestSharing checks that lists of values of equal type and contents have equal encodings if and only if they share
// memory alike. The lists are grouped by their sharing.
func TestSharing(t *testing.T) {
	x, y := new(int), new(int)
	a, b := ints(1, 2, 3), ints(1, 2, 3)
	m, n := map[string]int{"a": 1}, map[string]int{"a": 1}
	big1, big2 := big.NewInt(1), big.NewInt(1)
	pix, other := make([]byte, 4), make([]byte, 4)
	gray := func(pix []byte) image.Gray { return image.Gray{Pix: pix, Stride: 2, Rect: image.Rect(0, 0, 2, 2)} }
	part := func(pix []byte) image.Gray { return image.Gray{Pix: pix, Stride: 2, Rect: image.Rect(0, 0, 1, 2)} }
	knot := func(n int) *linked {
		list := make([]*linked, n)
		for i := range list {
			list[i] = &linked{}
		}
		for i := range list {
			list[i].P = list[(i+1)%n]
		}
		return list[0]
	}
	self := func() []any {
		s := []any{nil}
		s[0] = s
		return s
	}
	twice := self()
	twice[0] = []any{twice}
	loop := map[string]any{}
	loop["me"] = loop
	two := map[string]any{"me": loop}
	many := func(n int, same bool) []*int {
		list := make([]*int, n)
		for i := range list {
			list[i] = new(int)
		}
		if same {
			list[n-1] = list[n/2]
		}
		return list
	}
	type pixels struct {
		Pix   []byte
		Image image.Gray
		After []byte
	}
	cases := map[string][][]any{
		"pointers":            {{twoPointers{x, y}, twoPointers{y, x}, twoPointers{new(int), new(int)}}, {twoPointers{x, x}, twoPointers{y, y}}},
		"nil pointers":        {{twoPointers{}}},
		"pointers in a list":  {{[]*int{x, y, x}, []*int{y, x, y}}, {[]*int{x, y, y}}, {[]*int{x, x, y}}, {[]*int{x, x, x}}, {[]*int{x, y, new(int)}}},
		"many pointers":       {{many(100, false), many(100, false)}, {many(100, true), many(100, true)}},
		"slices":              {{[][]int{a, b}, [][]int{b, a}, [][]int{slices.Clone(a), slices.Clone(a)}}, {[][]int{a, a}, [][]int{a, slices.Grow(a, 0)[:3:3]}}},
		"empty slices":        {{[][]int{a[:0], a[:0]}, [][]int{{}, {}}, [][]int{a[:0], b[:0]}}},
		"elements of no size": {{[][]struct{}{make([]struct{}, 2), make([]struct{}, 2)}}},
		"pointers to nothing": {{[]*struct{}{{}, {}}, func() any { n := new(struct{}); return []*struct{}{n, n} }()}},
		"maps":                {{[]map[string]int{m, n}}, {[]map[string]int{m, m}, []map[string]int{n, n}}},
		"empty maps":          {{[]map[string]int{{}, {}}}, {func() any { e := map[string]int{}; return []map[string]int{e, e} }()}},
		"interfaces":          {{[]any{x, y}}, {[]any{x, x}}},
		"a named pointer":     {{[]any{intPointer(x), y}}, {[]any{intPointer(x), x}}},
		"numbers of any size": {{[]*big.Int{big1, big2}}, {[]*big.Int{big1, big1}}},
		"times":               {{[]*time.Time{{}, {}}}, {func() any { at := new(time.Time); return []*time.Time{at, at} }()}},
		"texts":               {{[]string{"a", "a"}, []string{"a", strings.Clone("a")}}},
		"images":              {{[]image.Gray{gray(pix), gray(other)}}, {[]image.Gray{gray(pix), gray(pix)}, []image.Gray{gray(other), gray(other)}}},
		"parts of images":     {{[]image.Gray{gray(pix), part(other)}}, {[]image.Gray{gray(pix), part(pix)}}},
		"pixels and bytes": {
			{pixels{pix, gray(other), make([]byte, 4)}},
			{pixels{pix, gray(pix), other}},
			{pixels{pix, gray(other), other}, pixels{other, gray(pix), pix}},
			{pixels{pix, gray(other), pix}},
			{pixels{pix, gray(pix), pix}},
		},
		"keys of a map": {
			{map[any]*int{[1]*int{x}: y, 1: new(int)}},
			{map[any]*int{[1]*int{x}: x, 1: y}, map[any]*int{[1]*int{y}: y, 1: x}},
			{map[any]*int{[1]*int{x}: y, 1: x}},
			{map[any]*int{[1]*int{x}: y, 1: y}},
		},
		"rings":                {{knot(1), knot(1)}, {knot(2), knot(2)}, {knot(3)}},
		"a list in itself":     {{self(), self()}, {twice}},
		"a map in itself":      {{loop}, {two}},
		"of one and of others": {{&linked{P: knot(1), Q: knot(1)}}, {func() any { k := knot(1); return &linked{P: k, Q: k} }()}},
	}
	for name, groups := range cases {
		seen := map[string]int{}
		for i, group := range groups {
			first := encoded(t, group[0])
			if at, taken := seen[string(first)]; taken {
				t.Errorf("%s: values %d and %d share in different ways and have one encoding", name, at, i)
			}
			seen[string(first)] = i
			for _, v := range group[1:] {
				if !bytes.Equal(encoded(t, v), first) {
					t.Errorf("%s: value %d: two encodings of values that share alike", name, i)
				}
			}
		}
	}
}

// TestPixelsOutside checks that bytes shared with an image are encoded in full later, as those outside the image's
// bounds were not encoded.
func TestPixelsOutside(t *testing.T) {
	type both struct {
		Image image.Gray
		Pix   []byte
		Again []byte
	}
	of := func(last byte) []byte {
		pix := []byte{1, 2, 3, last}
		return encoded(t, both{image.Gray{Pix: pix, Stride: 2, Rect: image.Rect(0, 0, 1, 1)}, pix, pix})
	}
	if !bytes.Equal(of(4), of(4)) || bytes.Equal(of(4), of(5)) {
		t.Error("a byte outside of the bounds of an image is not in the key of the bytes")
	}
}

// TestContents checks that, without sharing, shared memory is encoded like separate memory.
func TestContents(t *testing.T) {
	x, y := new(int), new(int)
	apart := encoded(t, twoPointers{x, y})
	for _, v := range []any{twoPointers{x, y}, twoPointers{x, x}} {
		if b, err := encodeContents(nil, v); err != nil || !bytes.Equal(b, apart) {
			t.Errorf("%x, %v; want %x", b, err, apart)
		}
	}
	ring := &linked{}
	ring.P = ring
	if _, err := encodeContents(nil, ring); err == nil {
		t.Error("what contains itself is encoded without end")
	}
}

// TestSharingOverArguments checks sharing between arguments of a call and between parameters of an operation. Earlier
// encodings of the same memory do not count.
func TestSharingOverArguments(t *testing.T) {
	x, y := new(int), new(int)
	call := func(args ...any) *Action {
		op, err := NewOp("op", Version("1"))
		if err != nil {
			t.Fatal(err)
		}
		a, err := op.Call(args...)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	if call(x, x).Key() == call(x, y).Key() {
		t.Error("two pointers that are one argument twice, and two pointers, give one key")
	}
	if call(x, x).Key() != call(y, y).Key() || call(x, y).Key() != call(y, x).Key() {
		t.Error("the key tells addresses")
	}
	op := func(a, b *int) Key {
		op, err := NewOp("op", Version("1"), Param{"a", a}, Param{"b", b})
		if err != nil {
			t.Fatal(err)
		}
		return op.Key()
	}
	if op(x, x) == op(x, y) || op(x, x) != op(y, y) {
		t.Error("the key does not tell which parameters are one pointer")
	}
}

// TestSharingIsExplained checks that a difference only in sharing is reported as such.
func TestSharingIsExplained(t *testing.T) {
	x, y := new(int), new(int)
	parts := func(v any, param any) []Part {
		op, err := NewOp("op", Version("1"), Param{"p", param})
		if err != nil {
			t.Fatal(err)
		}
		a, err := op.Call(v)
		if err != nil {
			t.Fatal(err)
		}
		return a.WithInputs(nil).Parts()
	}
	apart := parts(twoPointers{x, y}, []*int{x, y})
	if d := Diff(apart, parts(twoPointers{y, x}, []*int{y, x})); len(d) > 0 {
		t.Errorf("between values that share alike: %v", d)
	}
	for _, other := range [][]Part{parts(twoPointers{x, x}, []*int{x, y}), parts(twoPointers{x, y}, []*int{x, x})} {
		d := fmt.Sprint(Diff(apart, other))
		if want := "what is shared: added (1 times what came before)]"; !strings.HasSuffix(d, want) {
			t.Errorf("%s; want %s", d, want)
		}
	}
	first, second := parts([]*int{x, x, y}, nil), parts([]*int{x, y, y}, nil)
	if d := Diff(first, second); len(d) == 0 {
		t.Error("that others are shared is not reported")
	}
	type knots *knots
	var knot knots
	knot = &knot
	ring := &linked{}
	ring.P = ring
	if p := parts(ring, knot); len(p) == 0 {
		t.Error("what contains itself has no parts")
	}
}

// graph describes values that share: each node has its number, and links to others by their positions.
type graph []vertex

type vertex struct {
	N                int8
	P, Q, Any        int // positions of nodes; -1: none
	List, Links, Map int // positions of nodes that have their own ones
	Leaf, Key, Value int // positions of leaves
	Items            []int
}

var graphs = rapid.Custom(func(t *rapid.T) graph {
	n := rapid.IntRange(1, 5).Draw(t, "nodes")
	link := rapid.IntRange(-1, n-1)
	small := rapid.Int8Range(0, 1)
	g := make(graph, n)
	for i := range g {
		g[i] = vertex{
			small.Draw(t, "n"), link.Draw(t, "p"), link.Draw(t, "q"), link.Draw(t, "any"),
			link.Draw(t, "list"), link.Draw(t, "links"), link.Draw(t, "map"),
			link.Draw(t, "leaf"), link.Draw(t, "key"), link.Draw(t, "value"),
			rapid.SliceOfN(link, 0, 3).Draw(t, "items"),
		}
	}
	return g
})

// build makes the value that a graph describes, in new memory.
func (g graph) build() *linked {
	nodes := make([]*linked, len(g))
	lists, links, maps := make([][]int8, len(g)), make([][]*linked, len(g)), make([]map[int8]*linked, len(g))
	for i, v := range g {
		nodes[i] = &linked{N: v.N}
		lists[i] = make([]int8, 1+int(v.N), 8)
		links[i] = make([]*linked, len(v.Items))
		maps[i] = map[int8]*linked{}
	}
	leaves := make([]int8, len(g))
	at := func(i int) *linked {
		if i < 0 {
			return nil
		}
		return nodes[i]
	}
	for i, v := range g {
		for k, to := range v.Items {
			links[i][k] = at(to)
			maps[i][int8(k)] = at(to)
		}
		n := nodes[i]
		n.P, n.Q = at(v.P), at(v.Q)
		if v.Any >= 0 {
			n.Any = []any{at(v.Any), lists[v.Any], maps[v.Any]}[v.Any%3]
		}
		if v.List >= 0 {
			n.List = lists[v.List]
		}
		if v.Links >= 0 {
			n.Links = links[v.Links]
		}
		if v.Map >= 0 {
			n.Map = maps[v.Map]
		}
		if v.Leaf >= 0 {
			n.Leaf = &leaves[v.Leaf]
		}
		if v.Key >= 0 && v.Value >= 0 {
			n.ByLeaf = map[*int8]*int8{&leaves[v.Key]: &leaves[v.Value]}
		}
	}
	return nodes[0]
}

// alike reports whether values are equal and share alike: the memory of one maps one to one to the memory of the other.
type alike struct{ there, back map[referent]referent }

func (m alike) same(a, b reflect.Value) bool {
	if !a.IsValid() || !b.IsValid() {
		return a.IsValid() == b.IsValid()
	}
	if a.Type() != b.Type() {
		return false
	}
	switch a.Kind() {
	case reflect.Interface:
		return m.same(a.Elem(), b.Elem())
	case reflect.Struct:
		for i := range a.NumField() {
			if !m.same(a.Field(i), b.Field(i)) {
				return false
			}
		}
		return true
	case reflect.Pointer, reflect.Slice, reflect.Map:
	default:
		return a.Interface() == b.Interface()
	}
	if a.IsNil() || b.IsNil() {
		return a.IsNil() == b.IsNil()
	}
	n := 0
	if a.Kind() != reflect.Pointer {
		n = a.Len()
		if n != b.Len() {
			return false
		}
	}
	if n > 0 || a.Kind() != reflect.Slice && a.Type().Elem().Size() > 0 {
		p, q := referent{a.Pointer(), n, typeID(a.Type())}, referent{b.Pointer(), n, typeID(b.Type())}
		to, met := m.there[p]
		from, taken := m.back[q]
		if met || taken {
			return met && taken && to == q && from == p
		}
		m.there[p], m.back[q] = q, p
	}
	return m.inside(a, b)
}

func (m alike) inside(a, b reflect.Value) bool {
	switch a.Kind() {
	case reflect.Pointer:
		return m.same(a.Elem(), b.Elem())
	case reflect.Slice:
		for i := range a.Len() {
			if !m.same(a.Index(i), b.Index(i)) {
				return false
			}
		}
		return true
	}
	if a.Type().Key().Kind() == reflect.Pointer { // with one entry
		k, l := a.MapKeys()[0], b.MapKeys()[0]
		return m.same(k, l) && m.same(a.MapIndex(k), b.MapIndex(l))
	}
	for _, k := range slices.SortedFunc(slices.Values(a.MapKeys()), func(k, l reflect.Value) int { return int(k.Int() - l.Int()) }) {
		if v := b.MapIndex(k); !v.IsValid() || !m.same(a.MapIndex(k), v) {
			return false
		}
	}
	return true
}

// TestSharingLaw checks that encodings are equal if and only if contents and sharing are.
func TestSharingLaw(t *testing.T) {
	equal, different := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		g := graphs.Draw(t, "a")
		h := slices.Clone(g)
		if rapid.Bool().Draw(t, "related") {
			v := &h[rapid.IntRange(0, len(h)-1).Draw(t, "where")]
			field := []*int{&v.P, &v.Q, &v.Any, &v.List, &v.Links, &v.Map, &v.Leaf, &v.Key, &v.Value}[rapid.IntRange(0, 8).Draw(t, "what")]
			*field = rapid.IntRange(-1, len(h)-1).Draw(t, "to")
		} else {
			h = graphs.Draw(t, "b")
		}
		a, again, b := g.build(), g.build(), h.build()
		x, err := Encode(nil, a)
		if err != nil {
			t.Fatal(err)
		}
		y, err := Encode(nil, again)
		if err != nil || !bytes.Equal(x, y) {
			t.Fatalf("%v: two encodings of one graph (%v)", g, err)
		}
		if y, err = Encode(nil, b); err != nil {
			t.Fatal(err)
		}
		same := alike{map[referent]referent{}, map[referent]referent{}}.same(reflect.ValueOf(a), reflect.ValueOf(b))
		if bytes.Equal(x, y) != same {
			t.Fatalf("%v\n%v\nalike: %v, equal encodings: %v", g, h, same, !same)
		}
		if len(x) != len(y) && (bytes.HasPrefix(x, y) || bytes.HasPrefix(y, x)) {
			t.Fatalf("the encoding of one begins that of the other:\n%v\n%v", g, h)
		}
		if same {
			equal++
		} else {
			different++
		}
	})
	t.Logf("%d alike, %d not", equal, different)
	if equal == 0 || different == 0 {
		t.Error("one of the two was never drawn")
	}
}

// opaqueList is a list that marshals itself.
type opaqueList struct{ n []int }

func (o opaqueList) MarshalBinary() ([]byte, error) {
	b := []byte{}
	for _, n := range o.n {
		b = append(b, byte(n))
	}
	return b, nil
}

func (o *opaqueList) UnmarshalBinary(b []byte) error {
	o.n = nil
	for _, n := range b {
		o.n = append(o.n, int(n))
	}
	return nil
}

// TestOpaqueSharing checks that a value that marshals itself has no key if it shares memory with other parts, as the
// bytes do not show that.
func TestOpaqueSharing(t *testing.T) {
	list := []int{1, 2}
	own, shared := opaqueList{[]int{1, 2}}, opaqueList{list}
	for _, c := range []struct {
		name string
		v    any
		ok   bool
	}{
		{"one", shared, true},
		{"two with memory of their own", []opaqueList{own, shared}, true},
		{"two of one memory", []opaqueList{shared, shared}, false},
		{"two of memory that overlaps", []opaqueList{{list}, {list[1:]}}, false},
		{"one whose memory is a list's", struct {
			O opaqueList
			L []int
		}{shared, list}, false},
		{"one whose memory is not a list's", struct {
			O opaqueList
			L []int
		}{own, list}, true},
		{"in a map", map[string]opaqueList{"a": shared, "b": shared}, false},
		{"by one pointer", []*opaqueList{&shared, &shared}, true},
		{"two empty ones", []opaqueList{{}, {}}, true},
	} {
		_, err := Of(c.v)
		var unkeyable *UnkeyableError
		if c.ok && err != nil || !c.ok && !errors.As(err, &unkeyable) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	op, err := NewOp("op", Version("1"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := op.Call(shared, shared); err == nil {
		t.Error("two arguments of one memory have a key")
	}
	if _, err := op.Call(own, shared); err != nil {
		t.Error(err)
	}
}
