package component

import (
	"testing"

	"github.com/larder-data/larder/dataset"
)

func TestSuggest(t *testing.T) {
	valid := []string{"repeat", "reverse", "with", "sp"}
	for name, want := range map[string]string{
		"repaet": `; did you mean "repeat"?`,
		"wiht":   `; did you mean "with"?`,
		"nope":   "; valid: repeat, reverse, sp, with",
		"":       "; valid: repeat, reverse, sp, with",
	} {
		if got := Suggest(name, valid); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
	if got := Suggest("x", nil); got != "" {
		t.Errorf("with nothing valid: %q", got)
	}
}

func TestParamsAreDescribed(t *testing.T) {
	type params struct {
		Sizes map[string]float64 `param:"sizes,required" doc:"what"`
		Mode  *string            `param:"mode" default:"a" enum:"a|b"`
		Paths []Path             `param:"paths"`
	}
	c := describe[params](Op, "x", "doc", nil)
	for i, want := range []string{"map of number", "string", "list of path"} {
		if got := c.Params[i].TypeName(); got != want {
			t.Errorf("parameter %d is a %q, want %q", i, got, want)
		}
	}
	if p := c.Params[0]; !p.Required || p.Name != "sizes" || p.Doc != "what" {
		t.Errorf("%+v", p)
	}
	if p := c.Params[1]; p.Required || p.Default != "a" || len(p.Enum) != 2 {
		t.Errorf("%+v", p)
	}
}

func TestOutput(t *testing.T) {
	parts := []Samples{dataset.List(dataset.Sample{}), dataset.List[dataset.Sample]()}
	for _, c := range []struct {
		names []string
		name  string
		want  int // which part; -1 for an error
	}{
		{[]string{"train", "test"}, "train", 0}, {[]string{"train", "test"}, "test", 1},
		{[]string{"train", "test"}, "0", 0}, {[]string{"train", "test"}, "1", 1},
		{[]string{"1", "0"}, "1", 0}, // a name precedes a number
		{[]string{"train", "test"}, "2", -1}, {[]string{"train", "test"}, "-1", -1}, {[]string{"train", "test"}, "tset", -1},
	} {
		d, err := Data{Parts: parts, Names: c.names}.Output(c.name)
		if (err != nil) != (c.want < 0) || err == nil && d.Parts[0].Len() != parts[c.want].Len() {
			t.Errorf("%q of %q: %v, %v", c.name, c.names, d, err)
		}
	}
}
