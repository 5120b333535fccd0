package op_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/op"
)

// written returns samples whose item v has the values of JSON strings.
func written(texts ...string) component.Samples {
	samples := make([]dataset.Sample, len(texts))
	for i, text := range texts {
		samples[i] = dataset.NewSample(
			dataset.Field{Key: "v", Item: dataset.NewBytes("json", []byte(text))},
			dataset.Field{Key: "meta", Item: dataset.NewItem("json", map[string]any{"n": int64(i)})},
		)
	}
	return dataset.List(samples...)
}

// TestSortIsExact checks that numbers of any size are sorted as < of expressions compares
// them.
func TestSortIsExact(t *testing.T) {
	inOrder := []string{
		"-1e30", "-1000000000000000000000000000000", "-9223372036854775809", "-9223372036854775808", "-1", "-0.0", "0", "0.5", "1",
		"9007199254740992.0", "9007199254740993", "1699999999999999999", "1.7e18", "1700000000000000001",
		"9223372036854775807", "9223372036854775808.0", "9223372036854775809", "99999999999999991611392", "1e23", "100000000000000000000000", "1e30", "1000000000000000019884624838657", `"a"`,
	}
	// -1e30 is -1000000000000000019884624838656, and 1e23 is 99999999999999991611392.
	shuffled := slices.Clone(inOrder)
	slices.Reverse(shuffled)
	order := contents(t, apply(t, "sort", op.Sort{By: "v"}, written(shuffled...)).Parts[0])
	got := make([]string, len(order))
	for i, at := range order {
		got[i] = shuffled[at]
	}
	for i, pair := range [][2]string{{"-0.0", "0"}, {"99999999999999991611392", "1e23"}} { // equal, so they keep their order
		at := slices.Index(got, pair[1])
		if at < 0 || at+1 >= len(got) || got[at+1] != pair[0] {
			t.Fatalf("pair %d: %q", i, got)
		}
		got[at], got[at+1] = got[at+1], got[at]
	}
	if !slices.Equal(got, inOrder) {
		t.Errorf("%q\nwant %q", got, inOrder)
	}
}

// TestGroupsAreOfEqualValues checks that equal numbers form one group however they are
// written, and that other numbers do not.
func TestGroupsAreOfEqualValues(t *testing.T) {
	d := apply(t, "group-by", op.GroupBy{By: "v"}, written("1", "1.0", "0", "-0.0", "9007199254740993", "9007199254740992.0", "9007199254740992", "1e23", "99999999999999991611392", "100000000000000000000000"))
	got := []string{}
	for i, p := range d.Parts {
		got = append(got, d.Names[i]+fmt.Sprint(contents(t, p)))
	}
	want := []string{"1[0 1]", "0[2 3]", "9007199254740993[4]", "9007199254740992[5 6]", "99999999999999991611392[7 8]", "100000000000000000000000[9]"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	for _, values := range [][]string{{`"1"`, "1"}, {"1", `"1"`}, {"true", `"true"`}} {
		err := fails(t, "group-by", op.GroupBy{By: "v"}, written(values...))
		if err == nil || !strings.Contains(err.Error(), "samples 0 and 1") {
			t.Errorf("%q: %v", values, err)
		}
	}
}

// fails returns the error of an operator.
func fails(t *testing.T, name string, params any, in ...component.Samples) error {
	t.Helper()
	c, err := component.Find(component.Op, name)
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Apply(t.Context(), env(), params, in)
	return err
}
