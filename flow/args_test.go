package flow_test

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/flow"
	_ "github.com/larder-data/larder/mapper"
)

// argParams has a parameter of every kind.
type argParams struct {
	Text   string             `param:"text"`
	Mode   string             `param:"mode" default:"a" enum:"a|b"`
	Path   component.Path     `param:"path"`
	Truth  bool               `param:"truth"`
	Whole  int                `param:"whole" default:"7"`
	Number float64            `param:"number"`
	Maybe  *int               `param:"maybe"`
	List   []int              `param:"list" default:"[1, 2]"`
	Words  []string           `param:"words"`
	Sizes  map[string]float64 `param:"sizes"`
	Any    any                `param:"any"`
	Lists  [][]int            `param:"lists"`
	Step   *component.Step    `param:"step"`
	Steps  []component.Step   `param:"steps"`
}

var argComponent = component.NewSink("test", "takes everything", func(context.Context, *component.Env, argParams, component.Data) error { return nil })

// args reads NAME VALUE NAME VALUE...
func args(pairs ...string) (list []flow.Arg) {
	for pair := range slices.Chunk(pairs, 2) {
		list = append(list, flow.Arg{Name: pair[0], Text: pair[1], Flag: "--" + pair[0]})
	}
	return list
}

func TestParams(t *testing.T) {
	three := 3
	for _, c := range []struct {
		args []flow.Arg
		set  func(p *argParams)
	}{
		{args(), func(*argParams) {}},
		{args("text", "null"), func(p *argParams) { p.Text = "null" }},
		{args("text", "[1, 2"), func(p *argParams) { p.Text = "[1, 2" }},
		{args("text", ""), func(*argParams) {}},
		{args("mode", "b"), func(p *argParams) { p.Mode = "b" }},
		{args("path", "a=b,c:d"), func(p *argParams) { p.Path = "a=b,c:d" }},
		{args("truth", "true"), func(p *argParams) { p.Truth = true }},
		{args("whole", "-010"), func(p *argParams) { p.Whole = -10 }},
		{args("whole", "0x10"), func(p *argParams) { p.Whole = 16 }},
		{args("number", "2"), func(p *argParams) { p.Number = 2 }},
		{args("number", "1e-3"), func(p *argParams) { p.Number = 1e-3 }},
		{args("maybe", "3"), func(p *argParams) { p.Maybe = &three }},
		{args("list", "3", "words", "a,b", "list", "-1", "words", "true"), func(p *argParams) {
			p.List, p.Words = []int{3, -1}, []string{"a,b", "true"}
		}},
		{args("sizes", "a=0.5", "sizes", "b=1"), func(p *argParams) { p.Sizes = map[string]float64{"a": 0.5, "b": 1} }},
		{args("any", "{b: [1, x], a: null}"), func(p *argParams) {
			p.Any = []component.Entry{{Key: "b", Value: []any{int64(1), "x"}}, {Key: "a"}}
		}},
		{args("any", "red"), func(p *argParams) { p.Any = "red" }},
		{args("any", ""), func(*argParams) {}},
		{args("lists", "[1, 2]", "lists", "[]"), func(p *argParams) { p.Lists = [][]int{{1, 2}, {}} }},
	} {
		want := argParams{Mode: "a", Whole: 7, List: []int{1, 2}}
		c.set(&want)
		got, err := flow.Params(argComponent, c.args)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%v: %+v, %v; want %+v", c.args, got, err, want)
		}
	}
}

func TestParamsThatAreMappers(t *testing.T) {
	got, err := flow.Params(argComponent, args("step", "{map: keep-keys, with: {keys: [a]}}", "steps", "map: drop-keys\nwith: {keys: [a]}", "steps", "{map: rename, with: {names: {a: b}}}"))
	if err != nil {
		t.Fatal(err)
	}
	p := got.(argParams)
	if p.Step.Component.Name != "keep-keys" || len(p.Steps) != 2 || p.Steps[0].Component.Name != "drop-keys" || p.Steps[1].Component.Name != "rename" {
		t.Errorf("%+v", p)
	}
}

func TestParamsThatAreWrong(t *testing.T) {
	for _, c := range []struct {
		args []flow.Arg
		want string
	}{
		{args("whole", "x"), `--whole: whole must be an integer, not the string "x"`},
		{args("whole", "9223372036854775808"), "--whole: whole is 9223372036854775808, too large for an integer of 64 bits"},
		{args("whole", "1.5"), `--whole: whole must be an integer, not the number 1.5`},
		{args("text", "a", "maybe", "true"), `--maybe: maybe must be an integer, not the boolean true`},
		{args("truth", "yes"), `--truth: truth must be true or false, not the string "yes"`},
		{args("mode", "c"), `--mode: mode cannot be "c"; valid: a, b`},
		{args("list", "1", "list", "b"), `--list: list[1] must be an integer`},
		{args("sizes", "a"), `--sizes: "a" is malformed; write NAME=VALUE`},
		{args("sizes", "a=1", "sizes", "a=2"), `--sizes: "a" is given twice in sizes`},
		{args("sizes", "a=b"), `--sizes: sizes.a must be a number, not the string "b"`},
		{args("text", "a", "text", "b"), `--text: is given twice`},
		{args("any", "[1"), `--any: not YAML: `},
		{args("lists", "1"), `--lists: lists[0] must be a list, not the number 1`},
		{args("step", "{map: keep-kesy}"), `--step: there is no map "keep-kesy"; did you mean "keep-keys"?`},
		{args("step", "keep-keys"), `--step: step must be a mapping`},
		{args("steps", "{map: keep-keys}"), `--steps: map keep-keys needs the parameter keys`},
		{args("txet", "a"), `--txet: sink test has no field "txet"; did you mean "text"?`},
	} {
		if _, err := flow.Params(argComponent, c.args); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %s", c.args, err, c.want)
		}
	}
	keep, err := component.Find(component.Map, "keep-keys")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := flow.Params(keep, nil); err == nil || !strings.HasPrefix(err.Error(), "map keep-keys needs the parameter keys: ") {
		t.Errorf("without a required parameter: %v", err)
	}
}

func FuzzParams(f *testing.F) {
	for _, s := range []string{"", "1", "a=1", "[1, {a: b}]", "{map: keep-keys, with: {keys: [a]}}", "&a [*a]", "!!binary x", "? [a]\n: b", "--- a\n--- b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, p := range argComponent.Params {
			v, err := flow.Params(argComponent, []flow.Arg{{Name: p.Name, Text: text, Flag: "--" + p.Name}})
			if err == nil && v == nil {
				t.Errorf("%s: neither parameters nor an error", p.Name)
			}
		}
	})
}
