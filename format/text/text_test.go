package text_test

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"

	"github.com/larder-data/larder/codec"
	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/format/output"
	"github.com/larder-data/larder/format/text"
	"github.com/larder-data/larder/pool"
)

func env() *component.Env {
	return &component.Env{Node: "out", Stats: new(dataset.NodeStats), Log: slog.New(slog.DiscardHandler), Pool: pool.New(3)}
}

func read(t testing.TB, by text.By, path string) (all []string, err error) {
	t.Helper()
	ds, err := text.Source{By: by}.Open(t.Context(), path, env())
	if err != nil {
		return nil, err
	}
	for s, err := range dataset.All(t.Context(), ds) {
		if err != nil {
			return all, err
		}
		v, err := s.Value(t.Context(), "text")
		if err != nil {
			return all, err
		}
		all = append(all, v.(string))
	}
	return all, nil
}

func write(t testing.TB, by text.By, path string, texts ...string) error {
	t.Helper()
	var samples []dataset.Sample
	for _, s := range texts {
		samples = append(samples, dataset.NewSample(dataset.Field{Key: "text", Item: dataset.NewItem("txt", s)}))
	}
	in := component.Data{Parts: []component.Samples{dataset.List(samples...)}}
	return text.Sink{Path: component.Path(path), Overwrite: output.Replace, By: by}.Write(t.Context(), env(), in)
}

func file(t testing.TB, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.txt")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestWhereSamplesEnd(t *testing.T) {
	for _, c := range []struct {
		by      text.By
		content string
		want    []string
	}{
		{"line", "", nil},
		{"line", "\ufeff", nil},
		{"line", "\n", []string{""}},
		{"line", "a", []string{"a"}},
		{"line", "\ufeffa\n\ufeffb\n", []string{"a", "\ufeffb"}},
		{"line", "a\r\n\r\n b \n\rc\rd", []string{"a", "", " b ", "\rc\rd"}},
		{"line", "a\r\r\nb\r", []string{"a\r", "b\r"}},
		{"paragraph", "", nil},
		{"paragraph", "\n \n\t\r\n", nil},
		{"paragraph", "a", []string{"a"}},
		{"paragraph", "\n\na\r\n b\r\n \r\n\nc\n", []string{"a\r\n b", "c"}},
		{"paragraph", "\ufeff\na\n\nb", []string{"a", "b"}},
	} {
		if got, err := read(t, c.by, file(t, c.content)); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%q by %s: %q, %v; want %q", c.content, c.by, got, err, c.want)
		}
	}
}

// TestLongFiles checks reads that end anywhere in a line.
func TestLongFiles(t *testing.T) {
	var lines []string
	for i := range 40 {
		lines = append(lines, strings.Repeat("x", i*1000))
	}
	for shift := range 3 {
		lines[0] = strings.Repeat("y", 64+shift)
		for _, end := range []string{"\n", "\r\n"} {
			if got, err := read(t, text.Line, file(t, strings.Join(lines, end)+end)); err != nil || !slices.Equal(got, lines) {
				t.Errorf("%d lines that end with %q, want %d, or one of them differs: %v", len(got), end, len(lines), err)
			}
		}
	}
}

func TestTextThatIsNotUTF8(t *testing.T) {
	path := file(t, "fine\nnot \xff\nfine\n")
	got, err := read(t, text.Line, path)
	if err == nil || len(got) != 1 || !strings.Contains(err.Error(), "line 2 in "+path) || !strings.Contains(err.Error(), "column 5") {
		t.Errorf("%q, %v", got, err)
	}
}

// TestSeveralFiles checks that several files are read one after another, also compressed
// ones.
func TestSeveralFiles(t *testing.T) {
	dir := t.TempDir()
	for name, s := range map[string]string{"c.txt": "3", "a.txt.gz": "1", "b.txt.zst": "2"} {
		if err := write(t, text.Line, filepath.Join(dir, name), s); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{dir, filepath.Join(dir, "{a.txt.gz,b.txt.zst,c.txt}")} {
		if got, err := read(t, text.Line, path); err != nil || !slices.Equal(got, []string{"1", "2", "3"}) {
			t.Errorf("%s: %q, %v", path, got, err)
		}
	}
}

// TestFilesThatChange checks that a sample identified by its position in the old file is an
// error.
func TestFilesThatChange(t *testing.T) {
	path := file(t, "one\ntwo\n")
	ds, err := text.Source{}.Open(t.Context(), path, env())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("three\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := ds.At(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	if v, err := s.Value(t.Context(), "text"); !errors.Is(err, dataset.ErrChanged) {
		t.Errorf("%v, %v", v, err)
	}
}

func TestTextsThatWouldNotComeBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.txt")
	for by, all := range map[text.By][]string{
		text.Line:      {"a\nb", "a\r", "\ufeffa"},
		text.Paragraph: {"", " ", "a\n\nb", "a\n", "\na", "a\n \nb", "\ufeffa", "a\r"},
	} {
		for _, s := range all {
			if err := write(t, by, path, s); !errors.Is(err, component.ErrUnfit) {
				t.Errorf("%q as a %s: %v", s, by, err)
			}
		}
	}
}

// TestTextsComeBack checks that written strings are read back, or refused.
func TestTextsComeBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.txt")
	rapid.Check(t, func(r *rapid.T) {
		texts := rapid.SliceOf(rapid.StringMatching("[a \\t\\r\\nä\ufeff]{0,5}")).Draw(r, "texts")
		by := rapid.SampledFrom([]text.By{text.Line, text.Paragraph}).Draw(r, "by")
		err := write(t, by, path, texts...)
		if errors.Is(err, component.ErrUnfit) {
			return
		}
		if err != nil {
			r.Fatal(err)
		}
		if got, err := read(t, by, path); err != nil || !slices.Equal(got, texts) {
			r.Fatalf("%q, %v", got, err)
		}
	})
}

// FuzzScan checks that samples lie in the file one after another, however it is read, and
// hold everything that does not separate them.
func FuzzScan(f *testing.F) {
	f.Add([]byte("\ufeffa\r\n\r\nb"), true)
	f.Fuzz(func(t *testing.T, b []byte, paragraphs bool) {
		by := text.Line
		if paragraphs {
			by = text.Paragraph
		}
		x, err := text.Scan(t.Context(), bytes.NewReader(b), by)
		slow, serr := text.Scan(t.Context(), iotest.OneByteReader(bytes.NewReader(b)), by)
		if err != nil || serr != nil || !bytes.Equal(x, slow) {
			t.Fatalf("%x, %v; byte by byte %x, %v", x, err, slow, serr)
		}
		rest, err := text.Outside(x, b)
		if err != nil || len(bytes.Trim(bytes.TrimPrefix(rest, []byte("\ufeff")), " \t\r\n")) > 0 {
			t.Errorf("%q is not a sample, %v", rest, err)
		}
	})
}

// TestLargeLines checks that a line too large for memory is an error when it is read, and
// that the lines around it are readable.
func TestLargeLines(t *testing.T) {
	path := file(t, "a\n")
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteAt([]byte("\nb"), 2+codec.ItemLimit()+1) // the file system stores no zeros for it
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	ds, err := text.Source{}.Open(t.Context(), path, env())
	if err != nil || ds.Len() != 3 {
		t.Fatal(err)
	}
	for i, want := range []string{"", "line 2: 536870913 bytes exceed the limit of 536870912", ""} {
		if _, err := ds.At(t.Context(), i); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("line %d: %v", i+1, err)
		}
	}
}
