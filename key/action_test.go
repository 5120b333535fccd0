package key

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func mustOp(t testing.TB, name string, code Code, params ...Param) *Op {
	t.Helper()
	op, err := NewOp(name, code, params...)
	if err != nil {
		t.Fatal(err)
	}
	return op
}

func mustCall(t testing.TB, op *Op, args ...any) *Action {
	t.Helper()
	a, err := op.Call(args...)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestActionKeys checks that no two of these actions share a key. Moving data between components, or across their
// border, gives another computation.
func TestActionKeys(t *testing.T) {
	v1 := Version("1")
	plain := mustOp(t, "f", v1)
	d, e := DigestOf([]byte("d")), DigestOf([]byte("e"))
	k := Key(d)
	actions := map[string]*Action{
		"no arguments":       mustCall(t, plain),
		"no inputs":          plain.Action(),
		"other name":         mustOp(t, "g", v1).Action(),
		"other version":      mustOp(t, "f", Version("2")).Action(),
		"other kind of code": mustOp(t, "f", Code{Kind: "source", ID: "1"}).Action(),
		"borders":            mustOp(t, "fversion", Code{Kind: "1", ID: "1"}).Action(),
		"parameter":          mustOp(t, "f", v1, Param{"a", 5}).Action(),
		"its type":           mustOp(t, "f", v1, Param{"a", int64(5)}).Action(),
		"its name":           mustOp(t, "f", v1, Param{"b", 5}).Action(),
		"two":                mustOp(t, "f", v1, Param{"a", 5}, Param{"b", 6}).Action(),
		"swapped":            mustOp(t, "f", v1, Param{"a", 6}, Param{"b", 5}).Action(),
		"argument":           mustCall(t, plain, 5),
		"named argument":     mustCall(t, plain, Param{"a", 5}),
		"arguments":          mustCall(t, plain, 1, 2),
		"in other order":     mustCall(t, plain, 2, 1),
		"as a list":          mustCall(t, plain, []any{1, 2}),
		"as ints":            mustCall(t, plain, []int{1, 2}),
		"strings":            mustCall(t, plain, "a", "b"),
		"one string":         mustCall(t, plain, "ab"),
		"nil":                mustCall(t, plain, nil),
		"equal twice":        mustCall(t, plain, 3, 3),
		"equal twice, other": mustCall(t, plain, 7, 7),
		"digest argument":    mustCall(t, plain, d),
		"key argument":       mustCall(t, plain, k),
		"input":              plain.Action(Input{Name: "a", Ref: Content(d)}),
		"its content":        plain.Action(Input{Name: "a", Ref: Content(e)}),
		"its result":         plain.Action(Input{Name: "a", Ref: Result(k, "")}),
		"its output":         plain.Action(Input{Name: "a", Ref: Result(k, "out")}),
		"its nothing":        plain.Action(Input{Name: "a"}),
		"its name as kind":   plain.Action(Input{Kind: "a", Ref: Content(d)}),
		"its kind":           plain.Action(Input{Name: "a", Kind: "png", Ref: Content(d)}),
		"kind and name":      plain.Action(Input{Name: "ap", Kind: "ng", Ref: Content(d)}),
		"input's other name": plain.Action(Input{Name: "b", Ref: Content(d)}),
		"inputs":             plain.Action(Input{Name: "a", Ref: Content(d)}, Input{Name: "b", Ref: Content(e)}),
		"inputs, swapped":    plain.Action(Input{Name: "a", Ref: Content(e)}, Input{Name: "b", Ref: Content(d)}),
		"inputs, ordered":    plain.Action(Input{Name: "b", Ref: Content(e)}, Input{Name: "a", Ref: Content(d)}),
		"argument and input": mustCall(t, plain, 5).WithInputs([]Input{{Name: "a", Ref: Content(d)}}),
	}
	for i := range 3 { // closures over different values, given as such
		actions[fmt.Sprint("closure ", i)] = mustCall(t, mustOp(t, "closure", v1, Param{"captured", i}), 10)
	}
	for _, loaded := range []string{"weights 1", "weights 2"} {
		actions[loaded] = mustOp(t, "model", v1, Param{"weights", DigestOf([]byte(loaded))}).Action()
	}
	seen := map[Key]string{}
	for name, a := range actions {
		if other, ok := seen[a.Key()]; ok {
			t.Errorf("%q and %q share a key", name, other)
		}
		seen[a.Key()] = name
		if a.Key().IsZero() {
			t.Errorf("%q has no key", name)
		}
	}
}

func TestParamOrder(t *testing.T) {
	a := mustOp(t, "f", Version("1"), Param{"a", 1}, Param{"b", 2})
	if a.Name() != "f" || a.Code() != Version("1") {
		t.Errorf("operation %s, code %v", a.Name(), a.Code())
	}
	b := mustOp(t, "f", Version("1"), Param{"b", 2}, Param{"a", 1})
	if a.Action().Key() != b.Action().Key() {
		t.Error("the order of parameters is in the key")
	}
}

func TestNewOpErrors(t *testing.T) {
	cases := []struct {
		name   string
		code   Code
		params []Param
		want   string
	}{
		{"", Version("1"), nil, "needs a name"},
		{"f", Code{}, nil, "identity of its code"},
		{"f", Version(""), nil, "identity of its code"},
		{"f", Version("1"), []Param{{"a", 1}, {"b", 1}, {"a", 2}}, `two parameters named "a"`},
		{"f", Version("1"), []Param{{"opt", model{}}}, "operation f, parameter opt: model.fn: func value"},
	}
	for _, c := range cases {
		if _, err := NewOp(c.name, c.code, c.params...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
}

func TestCallErrors(t *testing.T) {
	_, err := NewAction("f", Version("1"), 1, []any{func() {}})
	var u *UnkeyableError
	if !errors.As(err, &u) || u.Path != "[]interface {}[0].(func())" || !strings.Contains(err.Error(), "operation f, argument 1") {
		t.Errorf("error %v", err)
	}
	if _, err := NewAction("", Version("1")); err == nil {
		t.Error("an action without a name")
	}
}

func TestWithInputs(t *testing.T) {
	op := mustOp(t, "f", Version("1"))
	d, k := DigestOf([]byte("d")), Key(DigestOf([]byte("k")))
	known := []Input{{Name: "a", Ref: Content(d)}, {Name: "b", Ref: Content(d)}}
	deep := op.Action(known[0], Input{Name: "b", Ref: Result(k, "out")})
	if deep.Resolved() || !op.Action(known...).Resolved() || !op.Action().Resolved() {
		t.Error("Resolved is wrong")
	}
	if op.Action(Input{Name: "a"}).Resolved() || op.Action(Input{Ref: Content(Digest{})}).Resolved() || op.Action(Input{Ref: Result(Key{}, "a")}).Resolved() {
		t.Error("an input that names nothing is taken to be resolved")
	}
	resolved := deep.WithInputs(known)
	if resolved.Key() != op.Action(known...).Key() || resolved.Key() == deep.Key() || resolved.Op() != op {
		t.Error("WithInputs gives another action than Action")
	}
	key := resolved.Key()
	known[0].Name = "changed"
	if resolved.Inputs()[0].Name != "a" || resolved.Key() != key {
		t.Error("an action changes with the slice that it was made from")
	}
	call := mustCall(t, op, 5)
	if call.WithInputs(nil).Key() != call.Key() {
		t.Error("WithInputs forgets the arguments")
	}
}

func TestRef(t *testing.T) {
	d, k := DigestOf([]byte("d")), Key(DigestOf([]byte("k")))
	if r := Content(d); !r.IsContent() || r.Digest() != d || r.String() != d.String() {
		t.Error("content", r)
	}
	if r := Result(k, "out"); r.IsContent() || !r.Digest().IsZero() || r.String() != k.String()+" out" {
		t.Error("result", r)
	}
	if r := (Ref{}); r.IsContent() || r.String() != "nothing" {
		t.Error("zero", r)
	}
}

func TestBuild(t *testing.T) {
	a, err := Build()
	if err != nil {
		t.Fatal(err)
	}
	b, err := Build()
	if err != nil || a != b || a.Kind != "build" {
		t.Errorf("%v, %v, %v", a, b, err)
	}
	if _, err := ParseDigest(a.ID); err != nil {
		t.Error(err)
	}
}

// TestActionFormat pins keys that are on disk.
func TestActionFormat(t *testing.T) {
	op := mustOp(t, "resize", Version("1"), Param{"width", 224})
	d := DigestOf([]byte("d"))
	cases := []struct {
		a    *Action
		want string
	}{
		{op.Action(Input{Name: "image", Ref: Content(d), Kind: "png"}, Input{Name: "mask", Ref: Result(Key(d), "mask")}), "k1-11bdfd81b382105c584bad373e0a657b6a47d203b5ca75430ad8ccb4bac483b5"},
		{mustCall(t, op, "a", 1.5), "k1-100352ef3a0f6579b5830b7448fffc32e0c61a027ccad38c1db72ef7fc50a091"},
	}
	for _, c := range cases {
		if got := c.a.Key().String(); got != c.want {
			t.Errorf("key %s, want %s", got, c.want)
		}
	}
}

// TestInputLaw checks that keys are equal if and only if the lists of inputs are.
func TestInputLaw(t *testing.T) {
	op := mustOp(t, "f", Version("1"))
	text := rapid.SampledFrom([]string{"", "a", "b", "ab", "\x01"})
	digest := rapid.Map(text, func(s string) Digest { return DigestOf([]byte(s)) })
	input := rapid.Custom(func(t *rapid.T) Input {
		in := Input{Name: text.Draw(t, "name"), Kind: text.Draw(t, "kind")}
		if rapid.Bool().Draw(t, "content") {
			in.Ref = Content(digest.Draw(t, "digest"))
		} else {
			in.Ref = Result(Key(digest.Draw(t, "key")), text.Draw(t, "output"))
		}
		return in
	})
	inputs := rapid.SliceOfN(input, 0, 3)
	rapid.Check(t, func(t *rapid.T) {
		a, b := inputs.Draw(t, "a"), inputs.Draw(t, "b")
		equal := fmt.Sprint(a) == fmt.Sprint(b)
		if keys := op.Action(a...).Key() == op.Action(b...).Key(); keys != equal {
			t.Fatalf("equal: %v, equal keys: %v", equal, keys)
		}
	})
}

func TestManyInputs(t *testing.T) {
	op := mustOp(t, "f", Version("1"))
	inputs := make([]Input, 10_000)
	for i := range inputs {
		inputs[i] = Input{Name: fmt.Sprint(i), Ref: Content(DigestOf([]byte{byte(i)}))}
	}
	a := op.Action(inputs...)
	inputs[9_999].Name = "last"
	b := op.Action(inputs...)
	if a.Key() == b.Key() {
		t.Error("the last of many inputs is not in the key")
	}
	before, after := a.Parts(), b.Parts()
	if len(before) != maxParts {
		t.Errorf("%d parts, want %d", len(before), maxParts)
	}
	if changes := Diff(before, after); len(changes) != 1 {
		t.Errorf("changes %v", changes)
	}
}

func TestArgumentNaN(t *testing.T) {
	op := mustOp(t, "f", Version("1"))
	if mustCall(t, op, math.NaN()).Key() == mustCall(t, op, -math.NaN()).Key() {
		t.Error("two NaNs of different bits, one key")
	}
}

// TestCallIsSealedAgain compares the key of a call, whose encoder has encoded the arguments, with the key from a new
// encoder.
func TestCallIsSealedAgain(t *testing.T) {
	op := mustOp(t, "f", Version("1"))
	for _, args := range [][]any{nil, {1}, {"a", 2}, {make([]byte, 2*spillAt)}, {make([]string, spillAt), map[string]int{"a": 1}}} {
		a := mustCall(t, op, args...)
		if b := a.WithInputs(nil); a.Key() != b.Key() {
			t.Errorf("%d arguments: %s and %s", len(args), a.Key(), b.Key())
		}
	}
}

// TestChangedParameters checks that an action detects changes of its operation.
func TestChangedParameters(t *testing.T) {
	list := []int{1, 2}
	op, err := NewOp("f", Version("1"), Param{"list", list}, Param{"n", 3})
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range []*Action{op.Action(), mustCall(t, op, "a")} {
		if err := a.Changed(); err != nil {
			t.Error(err)
		}
		list[0] = 9
		if err := a.Changed(); err == nil || !strings.Contains(err.Error(), "operation f: a parameter has changed") {
			t.Error(err)
		}
		list[0] = 1
	}
}

// TestDetails checks that details do not affect keys or differences.
func TestDetails(t *testing.T) {
	plain, other := mustOp(t, "f", Version("1")).Action(), mustOp(t, "f", Version("1")).Detailed("x = 1").Action()
	if plain.Key() != other.Key() {
		t.Error("a detail is part of the key")
	}
	if changes := Diff(plain.Parts(), other.Parts()); len(changes) > 0 {
		t.Errorf("a detail is a difference: %v", changes)
	}
	if got := other.Parts()[0].Name; got != "x = 1" {
		t.Errorf("the detail is %q", got)
	}
}
