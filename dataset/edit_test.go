package dataset_test

import (
	"bytes"
	"log/slog"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/larder-data/larder/dataset"
)

// TestSetKeepsTheRestOfADocument checks that a set value changes no other bytes of a
// document that other software wrote.
func TestSetKeepsTheRestOfADocument(t *testing.T) {
	for _, c := range []struct{ ext, old, path, want string }{
		{"json", "{\n  \"id\": 9223372036854775808,\n  \"x\": 1.10, \"a\": \"\\u00e9\"\n}\n", "doc.x", "{\n  \"id\": 9223372036854775808,\n  \"x\": 7, \"a\": \"\\u00e9\"\n}\n"},
		{"json", `{"big": 123456789012345678901234567890, "nan": NaN}`, "doc.new", `{"big": 123456789012345678901234567890, "nan": NaN, "new": 7}`},
		{"yaml", "# of hand\nid: 18446744073709551616\nz: 'y'\na: 0x10\n", "doc.z", "# of hand\nid: 18446744073709551616\nz: 7\na: 0x10\n"},
		{"yml", "b: [1.0, 2.0]\na: 1\n", "doc.b.1", "b: [1.0, 7]\na: 1\n"},
	} {
		s := dataset.NewSample(dataset.Field{Key: "doc", Item: dataset.NewBytes(c.ext, []byte(c.old))})
		out, err := s.Set(t.Context(), c.path, int64(7))
		if err != nil {
			t.Errorf("%s: %v", c.path, err)
			continue
		}
		it, err := out.Item("doc")
		if err != nil {
			t.Fatal(err)
		}
		if b, err := it.Bytes(t.Context()); err != nil || string(b) != c.want {
			t.Errorf("%s of %s gave %v\n%s\nwant\n%s", c.path, c.old, err, b, c.want)
		}
		if v, err := out.Get(t.Context(), c.path); err != nil || v != int64(7) {
			t.Errorf("%s is %v, %v", c.path, v, err)
		}
	}
}

func TestWideNumbersInStructs(t *testing.T) {
	type doc struct {
		U uint64
		F float64
		B big.Int
		P *big.Int
		A any
	}
	type sample struct {
		Doc doc `item:"doc" ext:"json"`
	}
	s := dataset.NewSample(dataset.Field{Key: "doc", Item: dataset.NewBytes("json", []byte(`{"u":18446744073709551615,"f":18446744073709551616,"b":18446744073709551616,"p":18446744073709551616,"a":18446744073709551616}`))})
	got, err := dataset.Decode[sample](t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	const want = "18446744073709551616"
	d := got.Doc
	if d.U != 1<<64-1 || d.F != 1<<64 || d.B.String() != want || d.P.String() != want || d.A.(*big.Int).String() != want {
		t.Errorf("%+v", d)
	}
	type narrow struct {
		Doc struct{ U int64 } `item:"doc" ext:"json"`
	}
	if _, err := dataset.Decode[narrow](t.Context(), s); err == nil || !strings.Contains(err.Error(), "18446744073709551615 cannot be assigned") {
		t.Errorf("%v", err)
	}
}

// TestDoubtsAreReportedOnceAFile checks that each file with an ambiguous value causes one
// warning.
func TestDoubtsAreReportedOnceAFile(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"a.yaml": "x: 08\ny: yes\nz: 1:30\n", "b.yaml": "x: 8\n", "c.yaml": "5: x\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	ctx := dataset.WithLog(t.Context(), slog.New(slog.NewTextHandler(&out, nil)))
	for range 3 {
		for _, name := range []string{"a.yaml", "b.yaml", "c.yaml"} {
			if _, err := dataset.File(filepath.Join(dir, name), nil).Value(ctx); err != nil {
				t.Fatal(err)
			}
		}
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 2 || !strings.Contains(lines[0], "a.yaml") || !strings.Contains(lines[1], "c.yaml") {
		t.Fatalf("%d warnings:\n%s", len(lines), out.String())
	}
	for _, want := range []string{"line 1: 08 is the number 8 in YAML 1.2", `the string \"08\" in YAML 1.1`, "and 2 more"} {
		if !strings.Contains(lines[0], want) {
			t.Errorf("%q is not in %s", want, lines[0])
		}
	}
}
