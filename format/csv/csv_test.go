package csv_test

import (
	"errors"
	"fmt"
	"image"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/format/csv"
	"github.com/larder-data/larder/format/output"
	"github.com/larder-data/larder/pool"
)

func file(t testing.TB, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.csv")
	if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// show describes a sample: its keys with their bytes.
func show(t testing.TB, s dataset.Sample) string {
	t.Helper()
	var items []string
	for f := range s.Fields() {
		b, err := f.Item.Bytes(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		items = append(items, fmt.Sprintf("%s=%s", f.Key, b))
	}
	return strings.Join(items, " ")
}

func TestRead(t *testing.T) {
	for _, c := range []struct {
		name, content string
		source        csv.Source
		want          []string
	}{
		{"text", "a,b\nx,1\n,\n", csv.Source{}, []string{`a="x" b="1"`, `a="" b=""`}},
		{"types", "n,f,b,t\n1,1.5,true,1\n-2,1e3,F,\n,,,\n", csv.Source{Types: map[string]string{"n": "int", "f": "float", "b": "bool", "t": "string"}},
			[]string{`n=1 f=1.5 b=true t="1"`, `n=-2 f=1000.0 b=false t=""`, `n=null f=null b=null t=""`}},
		{"line breaks of two characters", "a,b\r\n\"x\r\n\ry\n\",1\r\n", csv.Source{}, []string{`a="x\r\n\ry\n" b="1"`}},
		{"quotes and line breaks", "a,b\n\"x\n\"\"y\"\"\n\",\"1,2\"\nz,3\n", csv.Source{}, []string{`a="x\n\"y\"\n" b="1,2"`, `a="z" b="3"`}},
		{"blank lines and other ends of lines", "a,b\r\n\r\nx,1\r\n\r\n\r\ny,2", csv.Source{}, []string{`a="x" b="1"`, `a="y" b="2"`}},
		{"a byte order mark", "\ufeffa\nx\n", csv.Source{}, []string{`a="x"`}},
		{"given columns", "x;1\ny;2\n", csv.Source{Columns: []string{"a", "b"}, Delimiter: ";"}, []string{`a="x" b="1"`, `a="y" b="2"`}},
		{"tabs", "a\tb\nx,\t1\n", csv.Source{Delimiter: "tab"}, []string{`a="x," b="1"`}},
		{"no rows", "a,b\n", csv.Source{}, nil},
		{"an index without a name", ",a\n0,1\n", csv.Source{}, []string{`column_1="0" a="1"`}},
		{"commas at the end", "a,b,,\n1,2,,\n", csv.Source{Types: map[string]string{"column_3": "int"}}, []string{`a="1" b="2" column_3=null column_4=""`}},
		{"a name that is taken", ",column_1,column_1_\n1,2,3\n", csv.Source{}, []string{`column_1__="1" column_1="2" column_1_="3"`}},
		{"one column without a name", "\"\"\nx\n", csv.Source{}, []string{`column_1="x"`}},
		{"nothing, with columns", "", csv.Source{Columns: []string{"a"}}, nil},
		{"an empty field alone", "a\n\"\"\nx\n", csv.Source{}, []string{`a=""`, `a="x"`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			ds, err := c.source.Open(t.Context(), file(t, c.content), nil)
			if err != nil {
				t.Fatal(err)
			}
			got := make([]string, ds.Len())
			for i := range got { // backwards, for random access
				s, err := ds.At(t.Context(), ds.Len()-1-i)
				if err != nil {
					t.Fatal(err)
				}
				got[ds.Len()-1-i] = show(t, s)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("read %q, want %q", got, c.want)
			}
		})
	}
}

func TestBadTables(t *testing.T) {
	for _, c := range []struct {
		content string
		source  csv.Source
		want    string
	}{
		{"a,b\nx,1\n\ny\n", csv.Source{}, "x.csv:4:1: this row has 1 of the 2 fields"},
		{"a,b\nx,1\ny,\"2\nz,3\n", csv.Source{}, "x.csv:4:5: row at line 3: a field in quotes does not end"},
		{"a,b\nx\"y,1\n", csv.Source{}, "x.csv:2:2: a quote"},
		{"a,b\rx,1\r", csv.Source{}, "x.csv:1:4: a carriage return without a line feed"},
		{"a,b\nx,\"1\r\n\"\ry,2\n", csv.Source{}, "x.csv:3:2: row at line 2: a carriage return without a line feed"},
		{"", csv.Source{}, "the table is empty"},
		{"sep=;\na;b\n", csv.Source{Delimiter: ";"}, "x.csv:1:1: the first line (sep=) sets the delimiter for Excel"},
		{"sep=;\na;b\n", csv.Source{}, "x.csv:1:1: the first line (sep=) sets the delimiter for Excel"},
		{"\xff\xfea\x00,\x00b\x00\r\x00\n\x00", csv.Source{}, "x.csv:1:1: the file is UTF-16"},
		{"a,a\n", csv.Source{}, `two columns are named "a"; rename one`},
		{"a,\n", csv.Source{Columns: []string{"a", ""}}, "column 2 has no name"},
		{"age,b\n", csv.Source{Types: map[string]string{"aeg": "int"}}, `unknown column "aeg"; did you mean "age"?`},
		{"a,b\n", csv.Source{Files: map[string]string{"image": "path"}}, `unknown column "path"`},
		{"a\n", csv.Source{Types: map[string]string{"a": "number"}}, "use one of bool, float, int, string"},
		{"a\n", csv.Source{Delimiter: "ab"}, "delimiter"},
		{"a\n", csv.Source{Delimiter: "\n"}, "delimiter"},
		{strings.Repeat("a,", 20000) + "\n", csv.Source{}, "columns"},
	} {
		if _, err := c.source.Open(t.Context(), file(t, c.content), nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.20q: the error is %v, want %q", c.content, err, c.want)
		}
	}
	if _, err := (csv.Source{}).Open(t.Context(), filepath.Join(t.TempDir(), "none"), nil); err == nil {
		t.Error("a missing file was opened")
	}
}

func TestBadFields(t *testing.T) {
	content := "t,n,f,b\n\"two\nlines\",1,1,1\n\"a\nb\",x,1,1\nt,1,NaN,1\nt,1,1,maybe\n\xff,1,1,1\n"
	ds, err := csv.Source{Types: map[string]string{"n": "int", "f": "float", "b": "bool"}}.Open(t.Context(), file(t, content), nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"", `x.csv:5:4: column n: "x" is not an integer`, `x.csv:6:5: column f: "NaN" is not finite`, `x.csv:7:7: column b: "maybe" is not true or false`, "x.csv:8:1: column t: not UTF-8; convert the file with iconv"} {
		if _, err := ds.At(t.Context(), i); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("sample %d: the error is %v, want %q", i, err, want)
		}
	}
}

func TestFiles(t *testing.T) {
	path := file(t, "path,label\nimg/a.txt,cat\n,none\n../up.txt,dog\n")
	dir := filepath.Join(filepath.Dir(path), "img")
	if err := errors.Join(os.Mkdir(dir, 0o777), os.WriteFile(filepath.Join(dir, "a.txt"), []byte("pixels"), 0o666)); err != nil {
		t.Fatal(err)
	}
	ds, err := csv.Source{Files: map[string]string{"image": "path"}}.Open(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{`path="img/a.txt" label="cat" image=pixels`, `path="" label="none"`} {
		if s, err := ds.At(t.Context(), i); err != nil || show(t, s) != want {
			t.Errorf("sample %d: %v, want %q", i, err, want)
		}
	}
	if _, err := ds.At(t.Context(), 2); err == nil || !strings.Contains(err.Error(), ":4:1: field path: \"../up.txt\" is outside the directory") {
		t.Errorf("the error is %v", err)
	}
}

func write(t testing.TB, s csv.Sink, samples ...dataset.Sample) error {
	t.Helper()
	env := &component.Env{Node: "out", Stats: new(dataset.NodeStats), Log: slog.New(slog.DiscardHandler), Pool: pool.New(3)}
	return s.Write(t.Context(), env, component.One(dataset.List(samples...)))
}

// sample returns a sample of documents under the keys a, b, ...
func sample(values ...any) dataset.Sample {
	var s dataset.Sample
	for i, v := range values {
		s = s.WithItem(string(rune('a'+i)), dataset.NewItem("json", v))
	}
	return s
}

// named returns a sample of one document.
func named(key string, value any) dataset.Sample {
	return dataset.NewSample(dataset.Field{Key: key, Item: dataset.NewItem("json", value)})
}

func TestWrite(t *testing.T) {
	for _, c := range []struct {
		name    string
		sink    csv.Sink
		samples []dataset.Sample
		want    string
		fails   string
	}{
		{"all types", csv.Sink{Header: true}, []dataset.Sample{sample("x,y\n\"", int64(1), 1.5, true, nil), sample("", int64(-1), 1e300, false, nil)}, "a,b,c,d,e\n\"x,y\n\"\"\",1,1.5,true,\n,-1,1e+300,false,\n", ""},
		{"no header", csv.Sink{}, []dataset.Sample{sample("x")}, "x\n", ""},
		{"an empty field alone", csv.Sink{}, []dataset.Sample{sample(""), sample("x")}, "\"\"\nx\n", ""},
		{"no samples", csv.Sink{Header: true}, nil, "", ""},
		{"no samples but columns", csv.Sink{Header: true, Columns: []string{"a"}}, nil, "a\n", ""},
		{"chosen columns", csv.Sink{Header: true, Columns: []string{"b", "a"}, Delimiter: "tab"}, []dataset.Sample{sample("x"), sample("y", "z", "w")}, "b\ta\n\tx\nz\ty\n", ""},
		{"an item too many", csv.Sink{}, []dataset.Sample{sample("x"), sample("x", "y")}, "", "sample 1: item b has no column"},
		{"an item missing", csv.Sink{}, []dataset.Sample{sample("x", "y"), sample("x")}, "", "sample 1: the first sample has the items [\"a\" \"b\"], but this one [\"a\"]"},
		{"a list", csv.Sink{}, []dataset.Sample{sample([]any{})}, "", "sample 0: item a: a list cannot be written to a field"},
		{"an image", csv.Sink{}, []dataset.Sample{dataset.NewSample(dataset.Field{Key: "i", Item: dataset.NewItem("png", image.NewGray(image.Rect(0, 0, 1, 1)))})}, "", "sample 0: item i: an image cannot be written to a field"},
		{"an item without a name", csv.Sink{Header: true}, []dataset.Sample{named("", "x")}, "", `item "" cannot be the name of a column; rename the item`},
		{"a field without a name", csv.Sink{Header: true, Files: map[string]string{"a": ""}}, []dataset.Sample{sample("x")}, "", `item "" cannot be the name of a column`},
		{"a name that is not a string", csv.Sink{Header: true}, []dataset.Sample{named("a\x00", "x")}, "", "cannot be the name of a column"},
		{"a name that no header has", csv.Sink{}, []dataset.Sample{named("", "x")}, "x\n", ""},
		{"a sample without items", csv.Sink{Header: true}, []dataset.Sample{{}}, "", "sample 0: a sample has no items for a row"},
		{"a file whose name is not a string", csv.Sink{Files: map[string]string{"f": "f"}}, []dataset.Sample{dataset.NewSample(dataset.Field{Key: "f", Item: dataset.File("a\xff.txt", nil)})}, "", `sample 0: item f: file name "a\xff.txt" is not UTF-8`},
		{"two columns of a name", csv.Sink{Files: map[string]string{"a": "b"}}, []dataset.Sample{sample("x", "y")}, "", `two items map to column "b"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.csv")
			c.sink.Path = component.Path(path)
			err := write(t, c.sink, c.samples...)
			if c.fails != "" {
				if err == nil || !strings.Contains(err.Error(), c.fails) {
					t.Errorf("the error is %v, want %q", err, c.fails)
				}
				if left, _ := os.ReadDir(filepath.Dir(path)); len(left) > 0 {
					t.Errorf("left behind: %v", left)
				}
				return
			}
			if b, rerr := os.ReadFile(path); errors.Join(err, rerr) != nil || string(b) != c.want {
				t.Errorf("wrote %q, want %q, %v", b, c.want, errors.Join(err, rerr))
			}
		})
	}
}

// TestWhatWasWrittenIsRead checks that items of any name and content are refused by the
// sink or read back by the source.
func TestWhatWasWrittenIsRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.csv")
	texts := rapid.OneOf(anyText, rapid.StringOf(rapid.SampledFrom([]rune{0, 'a', ','})), rapid.Just("\xff"))
	rapid.Check(t, func(rt *rapid.T) {
		var s dataset.Sample
		for _, key := range rapid.SliceOfNDistinct(texts, 0, 3, rapid.ID).Draw(rt, "keys") {
			s = s.WithItem(key, dataset.NewItem("json", texts.Draw(rt, "value")))
		}
		if write(t, csv.Sink{Path: component.Path(path), Overwrite: output.Replace, Header: true}, s) != nil {
			return
		}
		ds, err := csv.Source{}.Open(t.Context(), path, nil)
		if err != nil || ds.Len() != 1 {
			rt.Fatalf("%q: %v, %v", s.Keys(), ds, err)
		}
		if got, err := ds.At(t.Context(), 0); err != nil || show(t, got) != show(t, s) {
			rt.Fatalf("%v, %v", got, err)
		}
	})
}

// anyText generates strings that often need quotes.
var anyText = rapid.OneOf(rapid.String(), rapid.StringOf(rapid.RuneFrom([]rune("a,;\"\r\n\ufeff "))))

// TestWhatWasWrittenComesBack checks that any strings survive.
func TestWhatWasWrittenComesBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.csv")
	texts := anyText
	rapid.Check(t, func(rt *rapid.T) {
		rows := rapid.SliceOfN(rapid.SliceOfN(texts, 2, 2), 1, 10).Draw(rt, "rows")
		samples := make([]dataset.Sample, len(rows))
		for i, row := range rows {
			samples[i] = sample(row[0], row[1])
		}
		delimiter := rapid.SampledFrom([]string{",", ";", "tab", "é"}).Draw(rt, "delimiter")
		if err := write(t, csv.Sink{Path: component.Path(path), Overwrite: output.Replace, Header: true, Delimiter: delimiter}, samples...); err != nil {
			rt.Fatal(err)
		}
		ds, err := csv.Source{Delimiter: delimiter}.Open(t.Context(), path, nil)
		if err != nil || ds.Len() != len(rows) {
			rt.Fatal(ds, err)
		}
		for i, row := range rows {
			s, err := ds.At(t.Context(), i)
			if err != nil {
				rt.Fatal(err)
			}
			for k, key := range []string{"a", "b"} {
				if v, err := s.Value(t.Context(), key); err != nil || v != row[k] {
					rt.Fatalf("%q came back as %q, %v", row[k], v, err)
				}
			}
		}
	})
}

// FuzzRead checks that any file is read or refused.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{"", "a,b\n1,2\n", "a,b\n\"x\ny\",2\n\n3,4", "\ufeffa\r\n\r\nx", "a\n\"", "a,b\n1\n", "a\n\xff\n"} {
		f.Add([]byte(seed), ",")
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, content []byte, delimiter string) {
		path := filepath.Join(dir, fmt.Sprint("x", os.Getpid(), ".csv"))
		if err := os.WriteFile(path, content, 0o666); err != nil {
			t.Fatal(err)
		}
		ds, err := csv.Source{Delimiter: delimiter, Types: map[string]string{}, Files: map[string]string{}}.Open(t.Context(), path, nil)
		if err != nil {
			return
		}
		for i := range ds.Len() {
			if s, err := ds.At(t.Context(), i); err == nil {
				show(t, s)
			} else if !strings.HasPrefix(err.Error(), path+":") {
				t.Errorf("the error does not name the line: %v", err)
			}
		}
	})
}

// TestLinksInTheDirectory checks several outputs with one file each in a directory. A link of
// such a name leads no write out of it.
func TestLinksInTheDirectory(t *testing.T) {
	dir := t.TempDir()
	other := filepath.Join(dir, "other.csv")
	err := errors.Join(os.WriteFile(other, []byte("mine"), 0o666), os.Mkdir(filepath.Join(dir, "to"), 0o777), os.Symlink(other, filepath.Join(dir, "to", "a.csv")))
	if err != nil {
		t.Fatal(err)
	}
	one := dataset.List(dataset.NewSample(dataset.Field{Key: "x", Item: dataset.NewItem("txt", "1")}))
	env := &component.Env{Dir: dir, Stats: new(dataset.NodeStats), Log: slog.New(slog.DiscardHandler)}
	sink := csv.Sink{Path: "to", Overwrite: output.Replace, Header: true}
	if err := sink.Write(t.Context(), env, component.Data{Parts: []component.Samples{one}, Names: []string{"a"}}); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{other: "mine", filepath.Join(dir, "to", "a.csv"): "x\n1\n"} {
		if got, err := os.ReadFile(path); string(got) != want || err != nil {
			t.Errorf("%s has %q, %v", path, got, err)
		}
	}
}

// TestRowsSayWhichTheyAre checks that rows are identified by the file name and their number
// in it.
func TestRowsSayWhichTheyAre(t *testing.T) {
	path := filepath.Join(t.TempDir(), "table.csv")
	if err := os.WriteFile(path, []byte("a,b\n1,\"x\ny\"\n2,z\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	ds, err := csv.Source{File: "from"}.Open(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := ds.At(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	if v, err := s.Value(t.Context(), "from"); err != nil || fmt.Sprint(v) != "map[name:table.csv row:1]" || !slices.Equal(s.Keys(), []string{"a", "b", "from"}) {
		t.Errorf("%v, %v, items %q", v, err, s.Keys())
	}
	if ds, err = (csv.Source{File: "b"}).Open(t.Context(), path, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := ds.At(t.Context(), 1); err == nil || !strings.Contains(err.Error(), `table.csv:4:1: file: item "b" exists`) {
		t.Errorf("the error is %v", err)
	}
}

// TestCompressedTables checks lines in fields, a byte order mark, and positions of errors
// in the uncompressed data.
func TestCompressedTables(t *testing.T) {
	for _, ext := range []string{".gz", ".zst"} {
		path := filepath.Join(t.TempDir(), "t.csv"+ext)
		if err := write(t, csv.Sink{Path: component.Path(path), Header: true}, sample("x\ny", int64(1)), sample("z", int64(2))); err != nil {
			t.Fatal(err)
		}
		ds, err := csv.Source{}.Open(t.Context(), path, nil)
		if err != nil || ds.Len() != 2 {
			t.Fatal(ds, err)
		}
		var got []string
		for i := range 2 {
			s, err := ds.At(t.Context(), 1-i)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, show(t, s))
		}
		if want := []string{`a="z" b="2"`, `a="x\ny" b="1"`}; !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
		typed, err := csv.Source{Types: map[string]string{"a": "int"}}.Open(t.Context(), path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := typed.At(t.Context(), 1); err == nil || !strings.Contains(err.Error(), "t.csv"+ext+":4:1: column a") {
			t.Errorf("the error is %v", err)
		}
		if err := os.WriteFile(path, []byte("a,b\n1,2\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := (csv.Source{}).Open(t.Context(), path, nil); err == nil || !strings.Contains(err.Error(), "cannot be unpacked") {
			t.Errorf("of a table that is not compressed: %v", err)
		}
	}
}

// TestNumbersThatAreNone checks numbers that are too large, and spellings that only
// programs write.
func TestNumbersThatAreNone(t *testing.T) {
	for _, c := range []struct{ text, typ, want string }{
		{"18446744073709551615", "int", `"18446744073709551615" exceeds 64 bits; read the column as string`},
		{"-9223372036854775809", "int", "exceeds 64 bits"},
		{"1e999", "float", "exceeds 64-bit floats"},
		{"inf", "float", "is not finite"},
		{"1_0", "float", `"1_0" is not a number`},
		{"0x1p3", "float", `"0x1p3" is not a number`},
		{"-0X10p0", "float", "is not a number"},
		{"1_0", "int", "is not an integer"},
		{"0x10", "int", "is not an integer"},
	} {
		ds, err := csv.Source{Types: map[string]string{"i": c.typ}}.Open(t.Context(), file(t, "i\n"+c.text+"\n"), nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ds.At(t.Context(), 0); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want %q", c.text, err, c.want)
		}
	}
}
