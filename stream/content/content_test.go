package content_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/larder-data/larder/format/output"
	"github.com/larder-data/larder/stream"
	"github.com/larder-data/larder/stream/content"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// files holds files in memory by name.
func files(named ...string) stream.Stream[content.File] {
	var all []content.File
	for i := 0; i < len(named); i += 2 {
		all = append(all, content.Content{Name: named[i], Bytes: []byte(named[i+1])}.File())
	}
	return stream.Of(all...)
}

func zipped(t testing.TB, text []byte) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// archive returns a tar archive of headers, with contents for regular files.
func archive(t testing.TB, members ...tar.Header) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, h := range members {
		text := ""
		if h.Typeflag == tar.TypeReg {
			text = "content of " + h.Name
			h.Size = int64(len(text))
		}
		h.Mode = 0o600
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, text); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func regular(names ...string) (all []tar.Header) {
	for _, n := range names {
		all = append(all, tar.Header{Typeflag: tar.TypeReg, Name: n})
	}
	return all
}

// shown returns the elements of a stream and its error as a string.
func shown[T any](t testing.TB, s stream.Stream[T]) (all []string, err error) {
	t.Helper()
	values, err := stream.Collect(t.Context(), s)
	for _, v := range values {
		all = append(all, fmt.Sprintf("%+v", v))
	}
	return all, err
}

// checkCuts checks that a stream continues where a state says.
func checkCuts[T any](t *testing.T, s stream.Stream[T]) {
	t.Helper()
	want, err := shown(t, s)
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Open(t.Context(), stream.State{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for cut := range want {
		left, err := s.Open(t.Context(), r.State())
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for v, err := range left.All(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, fmt.Sprintf("%+v", v))
		}
		left.Close()
		if !slices.Equal(got, want[cut:]) {
			t.Fatalf("behind %d comes %q instead of %q", cut, got, want[cut:])
		}
		if _, err := r.Next(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

func TestParsersAreResumed(t *testing.T) {
	texts := files("a", "1\n2\n3\n", "empty", "", "b", "4\n\n5")
	checkCuts(t, content.Lines(texts, 0, false))
	checkCuts(t, content.JSON[int](texts, 0))
	checkCuts(t, content.CSV(files("a", "x,y\n1,2\n3,4\n", "b", "x,y\n", "c", "x,y\n5,6"), content.Rows{Header: true}))
	checkCuts(t, stream.Batch(stream.Map(content.Members(files("a.tar", string(archive(t, regular("x", "y")...)), "b.tgz", zipped(t, archive(t, regular("z")...))), 0),
		func(_ context.Context, c content.Content) (string, error) {
			return c.Archive + " " + c.Name + " " + string(c.Bytes), nil
		}), 2, false))
	checkCuts(t, content.Lines(content.Unpack(files("a.gz", zipped(t, []byte("1\n2\n3")))), 0, false))
}

func TestParsing(t *testing.T) {
	long := strings.Repeat("x", 1<<13)
	for name, c := range map[string]struct {
		of   func() ([]string, error)
		want []string
		err  string
	}{
		"lines": {of: func() ([]string, error) { return shown(t, content.Lines(files("f", "a\r\n\nb\rc"), 0, false)) },
			want: []string{"{Name:f Number:1 Text:a}", "{Name:f Number:2 Text:}", "{Name:f Number:3 Text:b\rc}"}},
		"a byte order mark": {of: func() ([]string, error) { return shown(t, content.Lines(files("f", "\ufeffa\n\ufeff"), 0, true)) },
			want: []string{"{Name:f Number:1 Text:a}", "{Name:f Number:2 Text:\ufeff}"}},
		"a byte order mark before columns": {of: func() ([]string, error) {
			return shown(t, content.CSV(files("f", "\ufeffa\n1\n"), content.Rows{Header: true}))
		},
			want: []string{"{Name:f Columns:[a] Fields:[1]}"}},
		"lines that are no UTF-8": {of: func() ([]string, error) { return shown(t, content.Lines(files("f", "a\n\xff\n"), 0, false)) },
			want: []string{"{Name:f Number:1 Text:a}"}, err: "lines: element 0: f: line 2 is not UTF-8"},
		"raw lines": {of: func() ([]string, error) { return shown(t, content.Lines(files("f", "\xff"), 0, true)) }, want: []string{"{Name:f Number:1 Text:\xff}"}},
		"a long line": {of: func() ([]string, error) { return shown(t, content.Lines(files("f", long+long), 5000, false)) },
			err: "an element of more than 5000 bytes"},
		"a long row": {of: func() ([]string, error) {
			return shown(t, content.CSV(files("f", `1,"`+long+long), content.Rows{Longest: 5000}))
		}, err: "an element of more than 5000 bytes"},
		"a long document": {of: func() ([]string, error) { return shown(t, content.JSON[any](files("f", `1 "`+long+long), 5000)) },
			want: []string{"1"}, err: "an element of more than 5000 bytes"},
		"rows": {of: func() ([]string, error) {
			return shown(t, content.CSV(files("f", "a;b\n1;\"x\r\ny\"\n"), content.Rows{Comma: ';'}))
		},
			want: []string{"{Name:f Columns:[] Fields:[a b]}", "{Name:f Columns:[] Fields:[1 x\r\ny]}"}},
		"a row with more fields": {of: func() ([]string, error) {
			return shown(t, content.CSV(files("f", "a,b\n1,2,3\n"), content.Rows{Header: true}))
		},
			err: "csv: element 0: f: parse error on line 2"},
		"columns without a name": {of: func() ([]string, error) {
			return shown(t, content.CSV(files("f", ",column_3,,\n1,2,3,4\n"), content.Rows{Header: true}))
		},
			want: []string{"{Name:f Columns:[column_1 column_3 column_3_ column_4] Fields:[1 2 3 4]}"}},
		"columns of one name": {of: func() ([]string, error) {
			return shown(t, content.CSV(files("f", "a,a\n1,2\n"), content.Rows{Header: true}))
		},
			err: `two columns are called "a"`},
		"documents": {of: func() ([]string, error) {
			return shown(t, content.JSON[json.RawMessage](files("f", "{\"a\":1}[2]\n\n3 "), 0))
		},
			want: []string{"[123 34 97 34 58 49 125]", "[91 50 93]", "[51]"}},
		"a document that breaks off": {of: func() ([]string, error) { return shown(t, content.JSON[any](files("f", `1 {"a":`), 0)) },
			want: []string{"1"}, err: "value 2, at byte"},
		"a document of another type": {of: func() ([]string, error) { return shown(t, content.JSON[int](files("f", `1 "x"`), 0)) },
			want: []string{"1"}, err: "json: element 0: f: value 2"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := c.of()
			if !slices.Equal(got, c.want) {
				t.Errorf("it has %q instead of %q", got, c.want)
			}
			if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("the error is %v and should say %q", err, c.err)
			}
		})
	}
}

// TestHostileArchives checks that each of these archives is an error, and that none returns
// an incomplete element.
func TestHostileArchives(t *testing.T) {
	good := archive(t, regular("a", "b")...)
	large := tar.Header{Typeflag: tar.TypeReg, Name: "a"}
	var claims bytes.Buffer
	w := tar.NewWriter(&claims)
	large.Size = 1 << 40
	if err := w.WriteHeader(&large); err != nil {
		t.Fatal(err)
	}
	sparse := bytes.Clone(good)
	sparse[156] = 'S'
	for name, c := range map[string]struct {
		archive string
		n       int
		err     string
	}{
		"a.tar":        {string(archive(t, regular("../a")...)), 0, "leads out of a directory"},
		"b.tar":        {string(archive(t, regular("/a")...)), 0, "leads out of a directory"},
		"c.tar":        {string(archive(t, regular(`x\..\..\a`)...)), 0, "leads out of a directory"},
		"cut.tar":      {string(good[:512+5]), 0, "truncated"},
		"half.tar":     {string(good[:1024]), 1, "the end of the archive is missing"},
		"no end.tar":   {string(good[:2048]), 2, "the end of the archive is missing"},
		"claims.tar":   {claims.String(), 0, "larger than it may be"},
		"other.tar":    {strings.Repeat("no tar ", 200), 0, "not a tar archive"},
		"sparse.tar":   {string(sparse), 0, ""},
		"cut.tar.gz":   {zipped(t, good)[:len(zipped(t, good))-6], 2, "damaged, cut off"},
		"empty.tar.gz": {zipped(t, nil), 0, "the end of the archive is missing"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := shown(t, content.Members(files(name, c.archive), 1<<20))
			if err == nil || !strings.Contains(err.Error(), c.err) || errors.Is(err, io.EOF) || len(got) != c.n {
				t.Errorf("%d members and the error %v, which should say %q behind %d", len(got), err, c.err, c.n)
			}
		})
	}
	for _, link := range []tar.Header{{Typeflag: tar.TypeSymlink, Name: "l", Linkname: "/etc/passwd"}, {Typeflag: tar.TypeLink, Name: "l", Linkname: "x"}} {
		if _, err := shown(t, content.Members(files("x.tar", string(archive(t, link))), 0)); err == nil || !strings.Contains(err.Error(), `"l" is a link`) {
			t.Errorf("%v: %v", link, err)
		}
	}
	others := []tar.Header{{Typeflag: tar.TypeDir, Name: "d/"}, {Typeflag: tar.TypeReg, Name: "d/a"}}
	got, err := stream.Collect(t.Context(), content.Members(files("x.tar", string(archive(t, others...))), 0))
	if err != nil || len(got) != 1 || got[0].Name != "d/a" || got[0].Archive != "x.tar" {
		t.Errorf("of a directory and a file %v, %v", got, err)
	}
}

// TestArchivesThatBreakOff checks that an archive cut anywhere is an error before its end.
func TestArchivesThatBreakOff(t *testing.T) {
	for name, model := range map[string]tar.Header{
		"ustar": {Format: tar.FormatUSTAR},
		"pax":   {Format: tar.FormatPAX, ModTime: time.Unix(1, 5)},
		"gnu":   {Format: tar.FormatGNU, Name: strings.Repeat("long", 40) + "/"},
	} {
		var headers []tar.Header
		for _, member := range []string{"a", "b", "c"} {
			h := model
			h.Typeflag, h.Name = tar.TypeReg, model.Name+member
			headers = append(headers, h)
		}
		whole := archive(t, headers...)
		for n := range len(whole) - 1024 {
			if got, err := shown(t, content.Members(files("x.tar", string(whole[:n])), 0)); err == nil {
				t.Errorf("%s: %d of %d bytes are read as %q", name, n, len(whole), got)
			}
		}
		if got, err := shown(t, content.Members(files("x.tar", string(whole)), 0)); err != nil || len(got) != 3 {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// TestCheck checks that a file with a wrong checksum is never complete, in memory or on
// disk.
func TestCheck(t *testing.T) {
	sums := map[string]string{"a": fmt.Sprintf("%x", sha256.Sum256([]byte("text"))), "b": fmt.Sprintf("%x", sha256.Sum256([]byte("other")))}
	s := content.Check(files("a", "text", "b", "text"), "SHA256", sums)
	got, err := stream.Collect(t.Context(), content.Read(s, 0))
	if len(got) != 1 || !errors.Is(err, content.ErrSum) || !strings.Contains(err.Error(), "b: ") {
		t.Errorf("%v, %v", got, err)
	}
	dir := t.TempDir()
	paths, err := stream.Collect(t.Context(), content.Save(s, dir, output.Forbid))
	if len(paths) != 1 || !errors.Is(err, content.ErrSum) {
		t.Errorf("%v, %v", paths, err)
	}
	if names := names(t, dir); !slices.Equal(names, []string{"a"}) {
		t.Errorf("the directory has %q", names)
	}
	for name, c := range map[string]struct {
		algorithm string
		sums      map[string]string
		err       string
	}{
		"algorithm": {"sha3", sums, `unknown algorithm "sha3"`},
		"missing":   {"sha256", nil, "a: no checksum"},
		"length":    {"sha512", sums, "is not a sha512 checksum; give 128"},
	} {
		if _, err := stream.Collect(t.Context(), content.Check(files("a", "text"), c.algorithm, c.sums)); err == nil || !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func names(t *testing.T, dir string) (all []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

func TestSave(t *testing.T) {
	dir := t.TempDir()
	paths, err := stream.Collect(t.Context(), content.Save(files("a", "1", "d/b", "2"), dir, output.Forbid))
	if err != nil || !slices.Equal(paths, []string{filepath.Join(dir, "a"), filepath.Join(dir, "d", "b")}) {
		t.Fatalf("%v, %v", paths, err)
	}
	if b, err := os.ReadFile(filepath.Join(dir, "d", "b")); err != nil || string(b) != "2" {
		t.Errorf("%q, %v", b, err)
	}
	if _, err := stream.Collect(t.Context(), content.Save(files("a", "1"), dir, output.Forbid)); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a file that is there: %v", err)
	}
	for _, name := range []string{"../x", "/x", `a\b`, "", ".", "x\x00"} {
		if _, err := stream.Collect(t.Context(), content.Save(files(name, "1"), dir, output.Replace)); err == nil || !strings.Contains(err.Error(), "cannot be the name") {
			t.Errorf("%q: %v", name, err)
		}
	}
	t.Chdir(dir)
	if _, err := stream.Collect(t.Context(), content.Save(content.Files("a"), ".", output.Replace)); err == nil || !strings.Contains(err.Error(), "over itself") {
		t.Errorf("over itself: %v", err)
	}
	if err := os.Symlink(t.TempDir(), filepath.Join(dir, "out")); err != nil {
		t.Skip("no links here: ", err)
	}
	if _, err := stream.Collect(t.Context(), content.Save(files("out/x", "1"), dir, output.Replace)); err == nil || !strings.Contains(err.Error(), "by a link") {
		t.Errorf("by a link: %v", err)
	}
}

// TestLiveFiles checks that a state within standard input is refused, because it cannot be
// read again.
func TestLiveFiles(t *testing.T) {
	s := content.Lines(content.FromReader("in", strings.NewReader("1\n2\n3\n")), 0, false)
	r, err := s.Open(t.Context(), stream.State{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := r.Next(t.Context()); err != nil {
		t.Fatal(err)
	}
	again, err := s.Open(t.Context(), r.State())
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if v, err := again.Next(t.Context()); !errors.Is(err, stream.ErrLive) {
		t.Errorf("%v, %v", v, err)
	}
}

// TestFilesAreClosed checks that a file is opened when its turn comes. It is closed after
// the last read, also when reading ends early.
func TestFilesAreClosed(t *testing.T) {
	open := 0
	f := content.File{Name: "f", Open: func(context.Context) (io.ReadCloser, error) {
		open++
		return closing{strings.NewReader("1\n2\n"), &open}, nil
	}}
	s := content.Lines(stream.Of(f, f, f), 0, false)
	r, err := s.Open(t.Context(), stream.State{})
	if err != nil || open != 0 {
		t.Fatal(open, err)
	}
	for i := range 5 {
		if _, err := r.Next(t.Context()); err != nil || open != 1 {
			t.Errorf("at line %d %d files are open, %v", i, open, err)
		}
	}
	if r.Close(); open != 0 {
		t.Errorf("%d files stay open", open)
	}
}

type closing struct {
	io.Reader
	open *int
}

func (c closing) Close() error {
	*c.open--
	return nil
}

func FuzzLines(f *testing.F) {
	f.Add("a\r\nb\n\nc", 4)
	f.Fuzz(func(t *testing.T, text string, longest int) {
		lines, err := stream.Collect(t.Context(), content.Lines(files("f", text), longest, true))
		if err != nil {
			return
		}
		want := strings.Split(text, "\n")
		if last := len(want) - 1; want[last] == "" {
			want = want[:last]
		} else {
			want[last] += "\n" // no carriage return is removed from these
		}
		for i, l := range lines {
			if w := want[i]; l.Text != strings.TrimSuffix(w, "\r") && l.Text+"\n" != w {
				t.Fatalf("line %d is %q of %q", i, l.Text, text)
			}
		}
		if len(lines) != len(want) {
			t.Fatalf("%d lines of %q", len(lines), text)
		}
	})
}

func FuzzCSV(f *testing.F) {
	f.Add("a,b\n\"1\n\",2\n", true)
	f.Fuzz(func(t *testing.T, text string, header bool) {
		rows, _ := stream.Collect(t.Context(), content.CSV(files("f", text), content.Rows{Header: header, Longest: 1 << 16}))
		for _, r := range rows {
			if len(r.Fields) != len(rows[0].Fields) || header && len(r.Columns) != len(r.Fields) {
				t.Fatalf("%d fields next to %d, %d columns", len(r.Fields), len(rows[0].Fields), len(r.Columns))
			}
		}
	})
}

func FuzzJSON(f *testing.F) {
	f.Add(`{"a":[1,2]} 3 "x"`)
	f.Fuzz(func(t *testing.T, text string) {
		all, _ := stream.Collect(t.Context(), content.JSON[json.RawMessage](files("f", text), 1<<16))
		for _, v := range all {
			if !json.Valid(v) {
				t.Fatalf("%q is not a value", v)
			}
		}
	})
}

func FuzzMembers(f *testing.F) {
	f.Add(archive(f, regular("a", "b/c")...), "x.tar")
	f.Add([]byte(zipped(f, archive(f, regular("a")...))), "x.tar.gz")
	f.Fuzz(func(t *testing.T, b []byte, name string) {
		all, _ := stream.Collect(t.Context(), content.Members(files(name, string(b)), 1<<16))
		for _, c := range all {
			if !filepath.IsLocal(c.Name) || len(c.Bytes) > 1<<16 {
				t.Fatalf("a member %q of %d bytes", c.Name, len(c.Bytes))
			}
		}
	})
}
