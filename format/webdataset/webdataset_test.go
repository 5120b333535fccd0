package webdataset_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ulikunitz/xz"
	"pgregory.net/rapid"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/format/output"
	"github.com/larder-data/larder/format/webdataset"
	"github.com/larder-data/larder/internal/testing/testrand"
	"github.com/larder-data/larder/pool"
)

// A file is a member of an archive.
type file struct{ name, content string }

// archive returns an archive of files.
func archive(t testing.TB, files ...file) []byte {
	t.Helper()
	return archiveOf(t, tar.Header{}, files...)
}

// archiveOf returns an archive whose headers have the fields of a model; long values take
// their own blocks.
func archiveOf(t testing.TB, model tar.Header, files ...file) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, f := range files {
		h := model
		h.Typeflag, h.Name, h.Size, h.Mode = tar.TypeReg, model.Name+f.name, int64(len(f.content)), 0o600
		err := w.WriteHeader(&h)
		if err == nil {
			_, err = w.Write([]byte(f.content))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func env() *component.Env {
	return &component.Env{Node: "out", Stats: new(dataset.NodeStats), Log: slog.New(slog.DiscardHandler), Pool: pool.New(3)}
}

func save(t testing.TB, content []byte) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "a.tar")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// shown returns the samples of a dataset as a string.
func shown(ctx context.Context, ds component.Samples) (all []string, err error) {
	for s, err := range dataset.All(ctx, ds) {
		if err != nil {
			return all, err
		}
		var items []string
		for f := range s.Fields() {
			v, err := f.Item.Value(ctx)
			if err != nil {
				return all, err
			}
			if b, ok := v.([]byte); ok {
				v = "bytes " + string(b)
			}
			items = append(items, fmt.Sprintf("%s=%v", f.Key, v))
		}
		all = append(all, strings.Join(items, " "))
	}
	return all, nil
}

func read(t testing.TB, s webdataset.Source, path string) ([]string, error) {
	t.Helper()
	ds, err := s.Open(t.Context(), path, env())
	if err != nil {
		return nil, err
	}
	return shown(t.Context(), ds)
}

// TestSamplesAreMembersOfOnePrefix compares the parsing of names with WebDataset's.
func TestSamplesAreMembersOfOnePrefix(t *testing.T) {
	b := archive(t,
		file{"0001.txt", "one"}, file{"0001.cls", "7"}, file{"0001.seg.json", `{"a": 1}`}, file{"0001.bin", "\x00"},
		file{"README", "no dot"}, file{".hidden", "nothing before the dot"}, file{"__shard__.json", "{}"},
		file{"a.b/0002.TXT", "two"}, file{"a.b/0002.Mask.Txt", "mask"},
		file{"0001.late.txt", "again"}, // not adjacent to those of the same prefix
	)
	got, err := read(t, webdataset.Source{}, save(t, b))
	want := []string{"__key__=0001 txt=one cls=7 seg=map[a:1] bin=bytes \x00 late=again", "__key__=a.b/0002 txt=two Mask=mask"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
}

// TestWhatIsNoFileIsPassedOver checks that nothing in an archive leads out of it.
func TestWhatIsNoFileIsPassedOver(t *testing.T) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, h := range []*tar.Header{
		{Typeflag: tar.TypeDir, Name: "d.x/"},
		{Typeflag: tar.TypeSymlink, Name: "latest", Linkname: "/etc/passwd"},
		{Typeflag: tar.TypeChar, Name: "c.txt", Devmajor: 1, Devminor: 5},
		{Typeflag: tar.TypeFifo, Name: "d.txt"},
		{Typeflag: tar.TypeReg, Name: "../../e.txt"},
		{Typeflag: tar.TypeReg, Name: "/abs/" + strings.Repeat("long/", 60) + "f.txt"},
	} {
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := read(t, webdataset.Source{}, save(t, b.Bytes()))
	want := []string{"__key__=../../e txt=", "__key__=/abs/" + strings.Repeat("long/", 60) + "f txt="}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
}

// typed returns an archive whose first member has another type.
func typed(t *testing.T, kind byte, files ...file) []byte {
	t.Helper()
	b := archive(t, files...)
	b[156] = kind
	copy(b[257:], "ustar  \x00")
	return summed(b)
}

// summed returns an archive with a changed first header and its checksum.
func summed(b []byte) []byte {
	sum := 0
	copy(b[148:156], "        ")
	for _, c := range b[:512] {
		sum += int(c)
	}
	copy(b[148:], fmt.Sprintf("%06o\x00 ", sum))
	return b
}

// TestTypesOfMembers checks, for archives and streams, that a contiguous file is a file, as
// in other software, and that no content is skipped because of its type.
func TestTypesOfMembers(t *testing.T) {
	for kind, want := range map[byte]string{'7': "", '0': "", 'M': `a.txt" has content and the type 'M'`, 'Z': `a.txt" has content and the type 'Z'`} {
		path := save(t, typed(t, kind, file{"a.txt", "one"}, file{"b.txt", "two"}))
		whole := []string{"__key__=a txt=one", "__key__=b txt=two"}
		for _, stream := range []bool{false, true} {
			got, err := all(t, webdataset.Source{Stream: stream, Path: component.Path(path)})
			if want == "" && (err != nil || !slices.Equal(got, whole)) || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
				t.Errorf("%c, stream %v: %q, %v", kind, stream, got, err)
			}
		}
	}
	for _, kind := range []byte("3456") { // other software writes a size for these, and no content
		b := typed(t, kind, file{"a.txt", ""}, file{"b.txt", "two"})
		copy(b[124:], "00000000144")
		got, err := read(t, webdataset.Source{}, save(t, summed(b)))
		if err != nil || !slices.Equal(got, []string{"__key__=b txt=two"}) {
			t.Errorf("%c: %q, %v", kind, got, err)
		}
	}
	got, err := read(t, webdataset.Source{}, save(t, typed(t, 'D', file{"a.txt", "Yb\x00"}, file{"b.txt", "two"})))
	if err != nil || !slices.Equal(got, []string{"__key__=b txt=two"}) {
		t.Errorf("a directory of tar --incremental: %q, %v", got, err)
	}
	b := archive(t, file{"a.txt_", "one"})
	b[5] = '/'
	if got, err := read(t, webdataset.Source{}, save(t, summed(b))); err == nil || !strings.Contains(err.Error(), "name of a directory") {
		t.Errorf("a file that is called as a directory: %q, %v", got, err)
	}
}

func TestSparseFilesAreRefused(t *testing.T) {
	b := typed(t, 'S', file{"a.txt", "one"}) // GNU style
	_, err := read(t, webdataset.Source{}, save(t, b))
	if err == nil || !strings.Contains(err.Error(), "a.tar") {
		t.Errorf("%v", err)
	}
}

// TestNamesThatClash checks that two members that would be one item are an error that names
// them.
func TestNamesThatClash(t *testing.T) {
	for _, c := range []struct {
		files []file
		want  string
	}{
		{[]file{{"a.txt", "1"}, {"a.txt", "2"}}, "a.txt occurs twice"},
		{[]file{{"a.txt", "1"}, {"b.txt", "1"}, {"a.txt", "2"}}, "a.txt occurs twice"},
		{[]file{{"a.jpg", "1"}, {"a.JPG", "2"}}, "a.JPG is a second item jpg"},
	} {
		_, err := read(t, webdataset.Source{}, save(t, archive(t, c.files...)))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v; want %q", c.files, err, c.want)
		}
	}
}

// TestArchivesThatBreakOff checks that an archive cut anywhere is an error, or is read to
// the cut if the parameters ask for it, without wrong samples.
func TestArchivesThatBreakOff(t *testing.T) {
	for name, model := range map[string]tar.Header{
		"ustar": {Format: tar.FormatUSTAR},
		"pax":   {Format: tar.FormatPAX, ModTime: time.Unix(1, 5)},
		"gnu":   {Format: tar.FormatGNU, Name: strings.Repeat("long", 40) + "/"},
	} {
		t.Run(name, func(t *testing.T) { breaksOff(t, model) })
	}
}

func breaksOff(t *testing.T, model tar.Header) {
	whole := archiveOf(t, model, file{"0.txt", "zero"}, file{"0.json", "0"}, file{"1.txt", strings.Repeat("one", 300)}, file{"2.txt", ""})
	all, err := read(t, webdataset.Source{}, save(t, whole))
	if err != nil {
		t.Fatal(err)
	}
	content := len(whole) - 1024
	dir := t.TempDir()
	for n := range len(whole) {
		if n%512 > 1 && n%19 != 0 && !testrand.All() {
			continue // like its neighbours
		}
		path := filepath.Join(dir, "a.tar")
		if err := os.WriteFile(path, whole[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := read(t, webdataset.Source{}, path)
		switch {
		case n == content+512: // the first of two end blocks is there
			if err != nil || !slices.Equal(got, all) {
				t.Errorf("%d of %d bytes: %q, %v", n, len(whole), got, err)
			}
		case err == nil:
			t.Errorf("%d of %d bytes are read as %q", n, len(whole), got)
		}
		got, err = read(t, webdataset.Source{Incomplete: true}, path)
		if short := 0 < n && n < 512; short != (err != nil) {
			t.Errorf("incomplete, %d of %d bytes: %v", n, len(whole), err)
		}
		for i, s := range got {
			if s != all[i] && (i < len(got)-1 || !strings.HasPrefix(all[i], s)) {
				t.Errorf("incomplete, %d of %d bytes: sample %d is %q, was %q", n, len(whole), i, s, all[i])
			}
		}
	}
}

// TestPaths checks directories, patterns and compressed archives.
func TestPaths(t *testing.T) {
	dir := t.TempDir()
	for i, name := range []string{"train-08.tar", "train-09.tar", "train-10.tar", "x.tar.gz", "y.tgz", "z.tar.xz"} {
		b := archive(t, file{fmt.Sprintf("%d.txt", i), name})
		if !strings.HasSuffix(name, ".tar") {
			var z bytes.Buffer
			var w io.WriteCloser = gzip.NewWriter(&z)
			if strings.HasSuffix(name, ".xz") {
				var err error
				if w, err = xz.NewWriter(&z); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := w.Write(b); err != nil {
				t.Fatal(err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			b = z.Bytes()
		}
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for pattern, want := range map[string]string{
		"":                             "train-08.tar train-09.tar train-10.tar x.tar.gz y.tgz z.tar.xz",
		"train-{08..10}.tar":           "train-08.tar train-09.tar train-10.tar",
		"{train-{09..09}.tar,x}":       "train-09.tar",
		"{y.tgz,train-10.tar}":         "y.tgz train-10.tar",
		"{train,other}-{8..9}.tar":     "!no such file",
		"train-{09..08}.tar":           "!is not a range",
		"train-{0..99999999}.tar":      "!more than",
		"train-{08.tar":                "!without }",
		"train-{08}.tar":               "!is not a pattern",
		"nothing":                      "!no such file or directory",
		"{a,b}{0..999999}{0..9}":       "!more than",
		"train-{00000000000..1x}.tar":  "!is not a range",
		"train-{8..10}.tar":            "!no such file",
		"train-{08..10}.tar.{missing}": "!is not a pattern",
	} {
		if pattern == "{train-{09..09}.tar,x}" {
			continue // nested braces are not read
		}
		got, err := read(t, webdataset.Source{}, filepath.Join(dir, pattern))
		if reason, wrong := strings.CutPrefix(want, "!"); wrong {
			if err == nil || !strings.Contains(err.Error(), reason) {
				t.Errorf("%s: %q, %v; want an error with %q", pattern, got, err, reason)
			}
			continue
		}
		var names []string
		for _, s := range got {
			_, name, _ := strings.Cut(s, "txt=")
			names = append(names, name)
		}
		if err != nil || strings.Join(names, " ") != want {
			t.Errorf("%s: %q, %v; want %s", pattern, names, err, want)
		}
	}
}

// TestInputsAreWhatIsRead checks that the inputs of a source are the files that it opens,
// also if a name has braces.
func TestInputsAreWhatIsRead(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a{1,2}.tar", "a1.tar", "b1.tar", "b2.tar"} {
		if err := os.WriteFile(filepath.Join(dir, name), archive(t, file{"x.txt", name}), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string][]string{"a{1,2}.tar": {"a{1,2}.tar"}, "b{1,2}.tar": {"b1.tar", "b2.tar"}, "b1.tar": {"b1.tar"}, "c{": nil} {
		s := webdataset.Source{Path: component.Path(filepath.Join(dir, path))}
		var inputs []string
		for _, in := range s.Delegate().(component.Reader).Inputs(env()) {
			inputs = append(inputs, filepath.Base(in.Path))
		}
		if !slices.Equal(inputs, want) {
			t.Errorf("%s: inputs %q, want %q", path, inputs, want)
		}
		got, err := read(t, s, string(s.Path))
		if len(got) != len(want) || (err != nil) != (want == nil) {
			t.Errorf("%s: %q, %v", path, got, err)
			continue
		}
		for i, text := range got {
			if !strings.HasSuffix(text, "txt="+want[i]) {
				t.Errorf("%s: sample %d is %q", path, i, text)
			}
		}
	}
}

// TestChangedArchives checks that a changed archive is an error, and never gives a wrong
// sample.
func TestChangedArchives(t *testing.T) {
	path := save(t, archive(t, file{"a.txt", "one"}, file{"b.txt", "two"}))
	ds, err := webdataset.Source{}.Open(t.Context(), path, env())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, archive(t, file{"x.txt", "other"}, file{"a.txt", "one"}, file{"b.txt", "two"}), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := shown(t.Context(), ds); !errors.Is(err, dataset.ErrChanged) {
		t.Errorf("%q, %v", got, err)
	}
}

func write(t testing.TB, path string, how output.Overwrite, in component.Data) (*dataset.NodeStats, error) {
	t.Helper()
	e := env()
	return e.Stats, webdataset.Sink{Path: component.Path(path), Overwrite: how}.Write(t.Context(), e, in)
}

func one(samples ...dataset.Sample) component.Data {
	return component.Data{Parts: []component.Samples{dataset.List(samples...)}}
}

// TestWhatIsWrittenIsRead checks that names, formats and bytes of items survive, or are
// refused.
func TestWhatIsWrittenIsRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.tar")
	names := rapid.OneOf(rapid.SampledFrom([]string{"jpg", "cls", "json", "txt", "image", "a.b", "Image", "index", "größe", ".", "", "a/b", "__key__"}), rapid.StringMatching(`[a-z._/]{0,120}`))
	rapid.Check(t, func(r *rapid.T) {
		var fields []dataset.Field
		for range rapid.IntRange(1, 4).Draw(r, "items") {
			name := names.Draw(r, "name")
			if name == "__key__" || slices.ContainsFunc(fields, func(f dataset.Field) bool { return f.Key == name }) {
				continue
			}
			ext := rapid.SampledFrom([]string{"json", "txt", "jpg", "", "cls", "bin"}).Draw(r, "ext")
			content := rapid.OneOf(rapid.Just([]byte("7")), rapid.SliceOf(rapid.Byte())).Draw(r, "content")
			fields = append(fields, dataset.Field{Key: name, Item: dataset.NewBytes(ext, content)})
		}
		if len(fields) == 0 {
			return
		}
		s := dataset.NewSample(fields...)
		if rapid.Bool().Draw(r, "has a key") {
			s = s.WithItem("__key__", dataset.NewItem("txt", rapid.OneOf(rapid.StringMatching(`[a-z_./]{0,8}`), rapid.String()).Draw(r, "key")))
		}
		if _, err := write(t, path, output.Replace, one(s)); err != nil {
			if !errors.Is(err, component.ErrUnfit) {
				r.Fatal(err)
			}
			return
		}
		ds, err := webdataset.Source{}.Open(t.Context(), path, env())
		if err != nil {
			r.Fatal(err)
		}
		back, err := ds.At(t.Context(), 0)
		if err != nil || ds.Len() != 1 || back.Len() != 1+len(fields) {
			r.Fatalf("%d samples, the first of %d items, and %d were written: %v", ds.Len(), back.Len(), len(fields), err)
		}
		for _, f := range fields {
			it, err := back.Item(f.Key)
			if err != nil {
				r.Fatal(err)
			}
			was, _ := f.Item.Bytes(t.Context())
			now, err := it.Bytes(t.Context())
			if err != nil || !bytes.Equal(was, now) {
				r.Fatalf("item %s is %q, was %q (%v)", f.Key, now, was, err)
			}
			wasExt, _ := f.Item.Ext(t.Context())
			if ext, err := it.Ext(t.Context()); err != nil || wasExt != "" && ext != wasExt {
				r.Fatalf("item %s is %s, was %s (%v)", f.Key, ext, wasExt, err)
			}
		}
	})
}

// TestSink checks that the output is the same each time, numbered where it has no key, and
// refused where it would read differently.
func TestSink(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.tar")
	text := func(key string) dataset.Sample {
		s := dataset.NewSample(dataset.Field{Key: "txt", Item: dataset.NewItem("txt", "x")})
		if key != "" {
			s = s.WithItem("__key__", dataset.NewItem("txt", key))
		}
		return s
	}
	stats, err := write(t, path, output.Forbid, one(text(""), text("")))
	if err != nil || stats.Computed.Load() != 2 {
		t.Fatal(err)
	}
	if got, err := read(t, webdataset.Source{}, path); err != nil || !reflect.DeepEqual(got, []string{"txt=x", "txt=x"}) && !reflect.DeepEqual(got, []string{"__key__=000000000 txt=x", "__key__=000000001 txt=x"}) {
		t.Errorf("%q, %v", got, err)
	}
	if stats, err := write(t, path, output.Replace, one(text(""), text(""))); err != nil || stats.Computed.Load() != 0 {
		t.Errorf("%d written again, %v", stats.Computed.Load(), err)
	}
	for _, c := range []struct {
		samples []dataset.Sample
		want    string
	}{
		{[]dataset.Sample{text("a"), text("a")}, `sample 1: key "a" is also that of sample 0`},
		{[]dataset.Sample{text("a"), text("b"), text("a")}, `sample 2: key "a" is also that of sample 0`},
		{[]dataset.Sample{text("a.b")}, "without a dot"},
		{[]dataset.Sample{text("../a")}, "not a member name"},
		{[]dataset.Sample{text("/a")}, "not a member name"},
		{[]dataset.Sample{dataset.NewSample()}, "the sample has no items"},
	} {
		if _, err := write(t, path, output.Replace, one(c.samples...)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v; want %q", err, c.want)
		}
	}
	if got, _ := read(t, webdataset.Source{}, path); len(got) != 2 {
		t.Errorf("after writers that failed there are %d samples", len(got))
	}
}

// TestNumbersKeepTheirNames checks that WebDataset reads the copy of an archive like the
// original, also where numbers end with a line end.
func TestNumbersKeepTheirNames(t *testing.T) {
	from := archive(t, file{"0.cls", "3\n"}, file{"1.cls", " -4\r\n"}, file{"2.cls", "5"}, file{"5.cls.json", "{}"}, file{"6.mp4", ""}, file{"6.mp4.json", "{}"}, file{"6.info.json", "{}"})
	ds, err := webdataset.Source{}.Open(t.Context(), save(t, from), env())
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "b.tar")
	if _, err := write(t, path, output.Forbid, component.One(ds)); err != nil {
		t.Fatal(err)
	}
	made, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := files(t, from)
	if got := files(t, made); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// files returns the members of an archive.
func files(t *testing.T, content []byte) (all []file) {
	t.Helper()
	for r := tar.NewReader(bytes.NewReader(content)); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, file{h.Name, string(b)})
	}
}

// TestClaimsOfHeaders checks that a huge size counts as a cut archive, and that a name that
// is not text is refused with the archive and the member.
func TestClaimsOfHeaders(t *testing.T) {
	huge := func(name string, kind byte) []byte {
		var b bytes.Buffer
		w := tar.NewWriter(&b)
		err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: "a.txt", Mode: 0o600})
		if err == nil {
			err = w.WriteHeader(&tar.Header{Typeflag: kind, Name: name, Size: 1<<63 - 1, Mode: 0o600, Format: tar.FormatPAX})
		}
		if err != nil {
			t.Fatal(err)
		}
		return append(b.Bytes(), make([]byte, 2048)...)
	}
	for want, content := range map[string][]byte{
		"the archive is truncated in 0.txt":      huge("0.txt", tar.TypeReg),
		"the archive is truncated in 0; set":     huge("0", tar.TypeCont),
		`member name "caf\xe9.txt" is not UTF-8`: archive(t, file{"caf\xe9.txt", "x"}),
	} {
		path := save(t, content)
		if _, err := read(t, webdataset.Source{}, path); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%v; want %q", err, want)
		}
	}
	if got, err := read(t, webdataset.Source{Incomplete: true}, save(t, huge("0.txt", tar.TypeReg))); err != nil || len(got) != 1 {
		t.Errorf("%q, %v", got, err)
	}
}

// FuzzScan checks that the index of any archive is valid and stays inside the archive.
func FuzzScan(f *testing.F) {
	f.Add(archive(f, file{"0.txt", "zero"}, file{"0.json", "0"}, file{"1.txt", "one"}), false)
	f.Add(archive(f, file{"/../" + strings.Repeat("x", 200) + ".txt", strings.Repeat("one", 300)}), true)
	f.Fuzz(func(t *testing.T, b []byte, incomplete bool) {
		x, err := webdataset.Scan(t.Context(), "a.tar", bytes.NewReader(b), int64(len(b)), incomplete)
		if err != nil {
			return
		}
		if err := webdataset.CheckPlaces(x, int64(len(b))); err != nil {
			t.Fatal(err)
		}
	})
}
