package key

import (
	"bytes"
	"fmt"
	"math/big"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/fxamacker/cbor/v2"
	"github.com/google/go-cmp/cmp"
)

type Options struct {
	Model  *Model
	Times  int
	Labels []string
	Extra  any
	Logger func() `key:"-"`
}

type Model struct {
	Size    int
	Weights []float32
	Since   time.Time
}

func summary(parts []Part) []string {
	var lines []string
	for _, p := range parts {
		lines = append(lines, p.Kind+" "+p.Name+" = "+p.Value)
	}
	return lines
}

func TestParts(t *testing.T) {
	d := DigestOf([]byte("d"))
	op := mustOp(t, "predict", Version("3"), Param{"model", Model{Size: 3}}, Param{"code a.py", d.String()}, Param{"env", []any{true, "x"}})
	o := Options{Model: &Model{Size: 7, Weights: make([]float32, 1000)}, Times: 2, Labels: []string{"a", "b c"}, Extra: pair{1, 2}}
	a := mustCall(t, op, o, 3*time.Second, &o).WithInputs([]Input{
		{Name: "image", Ref: Content(d), Kind: "png 1"},
		{Name: "mask", Ref: Result(Key(d), "out")},
	})
	got := summary(a.Parts())
	want := []string{
		`operation  = predict`,
		`code  = version 3`,
		`parameter code a.py = ` + d.String(),
		`parameter env = [true "x"]`,
		`parameter model = key.Model`,
		`parameter model.Size = 3`,
		`parameter model.Weights = nil`,
		`parameter model.Since = 0001-01-01T00:00:00Z`,
		`argument Options = key.Options`,
		`argument Options.Model = *key.Model`,
		`argument Options.Model.Size = 7`,
		`argument Options.Model.Weights = []float32, 1000 elements`,
		`argument Options.Model.Since = 0001-01-01T00:00:00Z`,
		`argument Options.Times = 2`,
		`argument Options.Labels = ["a" "b c"]`,
		`argument Options.Extra = key.pair`,
		`argument Options.Extra.A = 1`,
		`argument Options.Extra.B = 2`,
		`argument argument 1 = 3s`,
		`argument Options (argument 2) = *key.Options`,
	}
	if diff := cmp.Diff(want, got[:len(want)]); diff != "" {
		t.Error(diff)
	}
	want = []string{
		"input image = " + d.String() + " as png 1",
		"input mask = " + Key(d).String() + " out",
	}
	if diff := cmp.Diff(want, got[len(got)-2:]); diff != "" {
		t.Error(diff)
	}
}

func TestText(t *testing.T) {
	one := 1
	values := map[string]any{
		"nil": nil, "true": true, "-1": int8(-1), "200": uint8(200), "0.1": float32(0.1), "1e+100": 1e100, "(1+2i)": complex64(1 + 2i),
		`"a b\n"`: word("a b\n"), "1m0s": time.Minute, "[1 2]": [2]int{1, 2}, "[]": []string{}, "[nil 1]": []any{nil, 1}, "1": &one,
		"2026-01-02T00:00:00Z": time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC), `{"a": 1, "b": 2}`: map[string]any{"b": 2, "a": 1}, "map[int]int, 1 entries": map[int]int{1: 1}, "a mapping of 1 entries": map[string][]int{"a": {1}},
		"[][]int, 1 elements": [][]int{{}}, "[]int, 17 elements": make([]int, 17), "*url.URL": &url.URL{}, Key{1}.String(): Key{1}, "[" + Digest{1}.String() + "]": []Digest{{1}},
	}
	for want, v := range values {
		if got := appendParts(nil, paramPart, "a", v)[0].Value; got != want {
			t.Errorf("%T: %s, want %s", v, got, want)
		}
	}
}

// TestPartsAreShort checks values whose text would be long, invalid UTF-8, or run code.
func TestPartsAreShort(t *testing.T) {
	huge := new(big.Int).Lsh(big.NewInt(1), 1<<20)
	values := []any{strings.Repeat("\xff", 1<<20), strings.Repeat("ä", 101), huge, []any{huge}, make([]int, 1<<20), make([]string, 16),
		map[string]string{"a": strings.Repeat("b", 1<<20)}, []string{strings.Repeat("ä", 1<<10)}, &list{1, &list{2, &list{}}}, loud{}, careless("\xff")}
	for _, v := range values {
		op := mustOp(t, "f\xff", Version(strings.Repeat("\xf0", 1000)), Param{strings.Repeat("n\xff", 1000), v})
		a := mustCall(t, op, v)
		for _, p := range a.Parts() {
			if len(p.Value) > maxText+3 || len(p.Name) > maxText+3 || !utf8.ValidString(p.Value) || !utf8.ValidString(p.Name) {
				t.Errorf("%T: part %q = %q", v, p.Name, p.Value)
			}
			if p.Digest.IsZero() {
				t.Errorf("%T: part %q has no digest", v, p.Name)
			}
		}
		for _, d := range []*Description{{}, a.Description()} {
			p, err := ParseProvenance(a.AppendProvenance(nil, d.Key))
			if err != nil || p.Description != d.Key {
				t.Fatalf("%T: %v", v, err)
			}
			back, err := p.All(d.Bytes)
			if err != nil {
				t.Errorf("%T: %v", v, err)
			}
			if diff := cmp.Diff(a.Parts(), back); diff != "" {
				t.Error(diff)
			}
		}
	}
}

// TestProvenanceIsCBOR compares the hand-written bytes with those of an encoder, and what
// is read from them with the parts.
func TestProvenanceIsCBOR(t *testing.T) {
	op := mustOp(t, "f", Version("1"), Param{"text", strings.Repeat("a", 30)})
	for _, n := range []int{0, 1, 21, 22, 23, 253, 254, maxParts/2 - 3, maxParts/2 - 2, 2 * maxParts} {
		inputs := make([]Input, n)
		for i := range inputs {
			inputs[i] = Input{Name: strings.Repeat("n", i%30), Ref: Content(DigestOf([]byte{byte(i)})), Kind: "txt"}
			if i%2 == 1 {
				inputs[i].Ref = Result(Key(DigestOf([]byte{byte(i)})), "out")
			}
		}
		a := mustCall(t, op, i8{1}).WithInputs(inputs)
		more := Part{Kind: ReadPart, Name: "file x", Digest: DigestOf(nil)}
		all := foldParts(append(a.Parts(), more), maxParts)
		check := func(got []byte, want encodedProvenance, description []byte) {
			t.Helper()
			want.Version = provenanceVersion
			encoded, err := cbor.Marshal(want)
			if err != nil || !bytes.Equal(got, encoded) {
				t.Errorf("%d inputs: %v\n%x, want\n%x", n, err, got[:min(len(got), 200)], encoded[:min(len(encoded), 200)])
			}
			p, err := ParseProvenance(got)
			if err != nil {
				t.Fatal(err)
			}
			if parts, err := p.All(description); err != nil || !slices.Equal(parts, all) {
				t.Errorf("%d inputs: %v\n%v, want\n%v", n, err, parts, all)
			}
		}
		empty := []byte{}
		check(a.MarshalProvenance(more), encodedProvenance{Description: empty, Refs: empty, Parts: all}, nil)
		d := a.Description()
		if big := n > maxParts/2-3; (d == nil) != big {
			t.Errorf("%d inputs: a description %v", n, d != nil)
		}
		if d == nil {
			continue
		}
		want := encodedProvenance{Description: d.Key[:], Refs: []byte{}, Parts: append(a.argumentParts(nil), more)}
		for _, in := range inputs {
			want.Refs = append(want.Refs, in.Ref.name[:]...)
		}
		check(a.AppendProvenance(nil, d.Key, more), want, d.Bytes)
	}
}

type i8 struct{ N int8 }

// TestDescriptions checks which actions share a description, and that few are made.
func TestDescriptions(t *testing.T) {
	op := mustOp(t, "f", Version("1"), Param{"a", 1})
	input := func(name, kind string, ref Ref) *Action { return op.Action(Input{Name: name, Kind: kind, Ref: ref}) }
	one, two := Content(DigestOf([]byte("1"))), Content(DigestOf([]byte("2")))
	base := input("a", "png", one).Description()
	if other := input("a", "png", two).Description(); other != base {
		t.Error("another content has another description")
	}
	others := []*Action{
		op.Action(), input("b", "png", one), input("a", "jpg", one), input("a", "png", Result(Key(DigestOf(nil)), "")),
		input("a", "png", Result(Key(DigestOf(nil)), "x")), mustOp(t, "f", Version("2"), Param{"a", 1}).Action(), mustOp(t, "f", Version("1"), Param{"a", 2}).Action(),
	}
	keys := map[Key]bool{base.Key: true}
	for i, a := range others {
		d := a.Description()
		if keys[d.Key] {
			t.Errorf("%d: the description of another action", i)
		}
		keys[d.Key] = true
		p, err := ParseProvenance(a.AppendProvenance(nil, d.Key))
		if err != nil {
			t.Fatal(err)
		}
		if len(a.inputs) == 0 {
			if parts, err := p.All(base.Bytes); err == nil {
				t.Errorf("%d: the description of other inputs gives %v", i, parts)
			}
		}
		if parts, err := p.All(nil); err == nil {
			t.Errorf("%d: no description gives %v", i, parts)
		}
	}
	if d := mustOp(t, "f", Version("1"), Param{"a", 1}).Action(Input{Name: "a", Kind: "png", Ref: two}).Description(); d.Key != base.Key {
		t.Error("an equal operation has another description")
	}
	if input("a\xff", "", one).Description() != nil || input(strings.Repeat("n", maxShape), "", one).Description() != nil {
		t.Error("a description of names that cannot be written")
	}
	some := 0
	for i := range 2 * maxDescriptions {
		if input(fmt.Sprint(i), "", one).Description() != nil {
			some++
		}
	}
	if some == 0 || some > maxDescriptions {
		t.Errorf("%d descriptions", some)
	}
}

type loud struct{ A int }

func (loud) String() string { panic("called") }

// TestDiff checks that each single change is named.
func TestDiff(t *testing.T) {
	digest := func(s string) Digest { return DigestOf([]byte(s)) }
	type action struct {
		name, code string
		params     []Param
		args       []any
		inputs     []Input
	}
	base := func() action {
		return action{
			name: "resize", code: "1",
			params: []Param{{"times", 100}, {"code resize.py", digest("x").String()}},
			args:   []any{Options{Model: &Model{Size: 7}, Times: 2}, 5},
			inputs: []Input{{Name: "image", Ref: Content(digest("a")), Kind: "png"}, {Name: "image", Ref: Content(digest("b"))}},
		}
	}
	cases := []struct {
		change func(*action)
		want   []string
	}{
		{func(a *action) {}, nil},
		{func(a *action) { a.name = "scale" }, []string{"operation: changed (resize -> scale)"}},
		{func(a *action) { a.code = "2" }, []string{"code: changed (version 1 -> version 2)"}},
		{func(a *action) { a.params[0].Value = 3 }, []string{"times: changed (100 -> 3)"}},
		{func(a *action) { a.params[0].Value = int64(100) }, []string{"times: changed (100, 8118... -> b1cb...)"}},
		{func(a *action) { a.params = a.params[1:] }, []string{"times: removed (100)"}},
		{func(a *action) { a.params = append(a.params, Param{"gray", true}) }, []string{"gray: added (true)"}},
		{func(a *action) { a.params[0].Name = "count" }, []string{"count: added (100)", "times: removed (100)"}},
		{func(a *action) { a.params[1].Value = digest("y").String() }, []string{"code resize.py: changed (2d71... -> a1fc...)"}},
		{func(a *action) { a.args[0] = Options{Model: &Model{Size: 8}, Times: 2} }, []string{"Options.Model.Size: changed (7 -> 8)"}},
		{func(a *action) { a.args[0] = Options{Model: &Model{Size: 7}, Times: 2, Logger: func() {}} }, nil},
		{func(a *action) { a.args[1] = 6 }, []string{"argument 1: changed (5 -> 6)"}},
		{func(a *action) { a.args = a.args[:1] }, []string{"argument 1: removed (5)"}},
		{func(a *action) { a.inputs[0].Ref = Content(digest("c")) }, []string{"input image: changed (ca97... as png -> 2e7d... as png)"}},
		{func(a *action) { a.inputs[0].Kind = "jpg" }, []string{"input image: changed (ca97... as png -> ca97... as jpg)"}},
		{func(a *action) { a.inputs = a.inputs[:1] }, []string{"input image: removed (3e23...)"}},
		{func(a *action) { a.inputs[1].Ref = Result(Key(digest("b")), "out") }, []string{"input image: changed (3e23... -> 3e23... out)"}},
	}
	build := func(a action) *Action {
		return mustCall(t, mustOp(t, a.name, Version(a.code), a.params...), a.args...).WithInputs(a.inputs)
	}
	before := build(base())
	for i, c := range cases {
		changed := base()
		c.change(&changed)
		after := build(changed)
		var got []string
		for _, ch := range Diff(before.Parts(), after.Parts()) {
			got = append(got, ch.String())
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%d: %q, want %q", i, got, c.want)
		}
		if (len(got) == 0) != (before.Key() == after.Key()) {
			t.Errorf("%d: a difference without another key, or the reverse", i)
		}
	}
}

// TestEveryKeyDifferenceIsNamed checks that whenever two keys differ, their parts differ.
func TestEveryKeyDifferenceIsNamed(t *testing.T) {
	op := mustOp(t, "f", Version("1"))
	args := []any{nil, 0, int64(0), "0", (*int)(nil), (*Model)(nil), Model{}, &Model{}, Model{Size: 1}, Model{Weights: []float32{}}, Options{}, Options{Extra: Model{}},
		[]Model{}, []Model{{}}, map[string]int{}, map[string]int{"a": 1}, map[string]int{"a": 2}, box[any]{Model{}}, box[Model]{}, box[any]{nil}, box[*list]{&list{}}, box[*list]{&list{1, nil}},
		keyed{1, "a"}, keyed{2, "a"}, time.Unix(0, 0), time.Unix(0, 0).UTC(), Code{Kind: "a b", ID: "c"}, Code{Kind: "a", ID: "b c"}}
	parts := map[string]string{}
	for _, v := range args {
		id := ""
		for _, p := range mustCall(t, op, v).Parts() {
			id += fmt.Sprintln(p.Kind, p.Name, p.Digest)
		}
		name := fmt.Sprintf("%T %+v", v, v)
		if other, ok := parts[id]; ok {
			t.Errorf("%s and %s have the same parts", name, other)
		}
		parts[id] = name
	}
	one := mustOp(t, "f", Code{Kind: "a b", ID: "c"}).Action()
	two := mustOp(t, "f", Code{Kind: "a", ID: "b c"}).Action()
	if len(Diff(one.Parts(), two.Parts())) != 1 {
		t.Error("two identities of code whose strings are equal are not distinguished")
	}
}

func FuzzParseProvenance(f *testing.F) {
	op, err := NewOp("f", Version("1"), Param{"a", 1})
	if err != nil {
		f.Fatal(err)
	}
	a := op.Action(Input{Name: "a", Ref: Content(DigestOf(nil))})
	d := a.Description()
	good := a.AppendProvenance(nil, d.Key)
	f.Add(good, d.Bytes)
	f.Add(a.MarshalProvenance(), []byte{})
	f.Add(good[:len(good)/2], d.Bytes)
	f.Add(good, d.Bytes[:len(d.Bytes)/2])
	f.Add([]byte{}, []byte{})
	for _, b := range badProvenance {
		f.Add(b, d.Bytes)
	}
	f.Fuzz(func(t *testing.T, b, description []byte) {
		p, err := ParseProvenance(b)
		if err != nil {
			return
		}
		parts, err := p.All(description)
		if err == nil && len(parts) > 3*maxParts {
			t.Error("more parts than allowed")
		}
		if err != nil && parts != nil {
			t.Error("parts with an error")
		}
		for _, c := range Diff(parts, nil) {
			_ = c.String()
		}
	})
}

// badProvenance is not a provenance.
var badProvenance = [][]byte{
	nil,
	{0xf6},
	{0x80},
	{0x84, 0x03, 0x40, 0x40, 0x80},       // a later version
	{0x84, 0x02, 0x41, 0x01, 0x40, 0x80}, // a key of one byte
	{0x84, 0x02, 0x40, 0x41, 0x01, 0x80}, // a name of one byte
	{0x84, 0x02, 0x40, 0x40, 0x80, 0x00}, // more bytes
	{0x84, 0x02, 0x40, 0x40, 0x9a, 0xff, 0xff, 0xff, 0xff},       // a list longer than any
	{0x84, 0x02, 0x40, 0x40, 0x81, 0xa1, 0x04, 0x42, 0x02, 0x02}, // a digest of another kind
	{0x84, 0x02, 0x40, 0x40, 0x81, 0xa2, 0x01, 0x60, 0x01, 0x60}, // a duplicate field
}

func TestParseProvenanceErrors(t *testing.T) {
	for _, b := range badProvenance {
		if p, err := ParseProvenance(b); err == nil {
			t.Errorf("%x: read as %v", b, p)
		}
	}
}
