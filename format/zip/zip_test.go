package zip_test

import (
	stdzip "archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/larder-data/larder/codec"
	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/format/zip"
	"github.com/larder-data/larder/pool"
)

// A file is a member of an archive.
type file struct {
	name, content string
	method        uint16
	mode          fs.FileMode
}

func text(name, content string) file {
	return file{name: name, content: content, method: stdzip.Deflate}
}

// writer returns a writer of archives, with zstd.
func writer(to io.Writer) *stdzip.Writer {
	w := stdzip.NewWriter(to)
	w.RegisterCompressor(zstd.ZipMethodWinZip, func(to io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(to) })
	return w
}

func put(t testing.TB, w *stdzip.Writer, files ...file) {
	t.Helper()
	for _, f := range files {
		h := &stdzip.FileHeader{Name: f.name, Method: f.method}
		if f.mode != 0 {
			h.SetMode(f.mode)
		}
		to, err := w.CreateHeader(h)
		if err == nil {
			_, err = io.WriteString(to, f.content)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// archive returns an archive of files.
func archive(t testing.TB, files ...file) []byte {
	t.Helper()
	var b bytes.Buffer
	put(t, writer(&b), files...)
	return b.Bytes()
}

func save(t testing.TB, content []byte) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "a.zip")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func read(t testing.TB, path string) (all []string, err error) {
	t.Helper()
	env := &component.Env{Node: "in", Stats: new(dataset.NodeStats), Log: slog.New(slog.DiscardHandler), Pool: pool.New(3)}
	ds, err := zip.Source{}.Open(t.Context(), path, env)
	if err != nil {
		return nil, err
	}
	return shown(t.Context(), ds)
}

// shown returns the samples of a dataset as a string.
func shown(ctx context.Context, ds component.Samples) (all []string, err error) {
	for s, err := range dataset.All(ctx, ds) {
		if err != nil {
			return all, err
		}
		var items []string
		for f := range s.Fields() {
			v, err := f.Item.Bytes(ctx)
			if err != nil {
				return all, err
			}
			items = append(items, fmt.Sprintf("%s=%s", f.Key, v))
		}
		all = append(all, strings.Join(items, " "))
	}
	return all, nil
}

// TestSamplesAreMembersOfOnePrefix checks that members of a prefix are one sample at any
// position and with any compression, and that other members are skipped.
func TestSamplesAreMembersOfOnePrefix(t *testing.T) {
	long := strings.Repeat("long ", 10_000)
	got, err := read(t, save(t, archive(t,
		text("b/", ""), text("b/0002.txt", "two"), text("0001.txt", long), text("README", "no dot"),
		file{name: "0001.cls", content: "7", method: stdzip.Store},
		file{name: "b/0002.seg.json", content: long, method: zstd.ZipMethodWinZip},
		text(".hidden", ""), text("__shard__.json", "{}"), text("__MACOSX/._0001.txt", "x"), text("dir.x/", ""),
		file{name: "link", content: "/etc/passwd", mode: fs.ModeSymlink | 0o777},
		file{name: "dev.txt", mode: fs.ModeDevice | 0o777},
		file{name: "empty.txt", method: stdzip.Store},
		text("../../e.txt", "out"), text("/abs/f.txt", "of"), text("größe.txt", "utf-8"),
	)))
	want := []string{
		"__key__=b/0002 txt=two seg=" + long, "__key__=0001 txt=" + long + " cls=7", "__key__=empty txt=",
		"__key__=../../e txt=out", "__key__=/abs/f txt=of", "__key__=größe txt=utf-8",
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%.2000q, %v", got, err)
	}
	if got, err := read(t, save(t, archive(t))); len(got) != 0 || err != nil {
		t.Errorf("of nothing: %q, %v", got, err)
	}
}

// TestCutOff checks that an archive cut anywhere is an error, also if it ends with an
// archive that is its member. A byte before or after it is an error, too.
func TestCutOff(t *testing.T) {
	inner := archive(t, text("x.txt", "inner"))
	whole := archive(t, file{name: "0.zip", content: string(inner), method: stdzip.Store}, text("1.txt", strings.Repeat("one", 300)))
	path := save(t, whole)
	refused := func(what string, b []byte) {
		t.Helper()
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := read(t, path); err == nil || !strings.Contains(err.Error(), path+": ") {
			t.Errorf("%s: %q, %v", what, got, err)
		}
	}
	for n := range whole {
		refused(fmt.Sprint(n, " bytes"), whole[:n])
	}
	refused("a byte before", append([]byte{'x'}, whole...))
	refused("a byte behind", append(slices.Clone(whole), 'x'))
	refused("zeros and a byte behind", append(append(slices.Clone(whole), 0, 0), 'x'))
	before, _, _ := bytes.Cut(whole, []byte("1.txt"))
	refused("zeros behind a member", append(slices.Clone(before), make([]byte, 512)...))
	for _, n := range []int{1, 512, 9000} { // bsdtar fills up its last block
		if err := os.WriteFile(path, append(slices.Clone(whole), make([]byte, n)...), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := read(t, path); err != nil || len(got) != 2 {
			t.Errorf("%d zeros behind: %q, %v", n, got, err)
		}
	}
}

// TestDamage checks that an archive with any changed byte gives the original content of
// each name, or an error that names the file.
func TestDamage(t *testing.T) {
	whole := archive(t, text("0.txt", "zero zero zero zero"), file{name: "0.json", content: "0", method: stdzip.Store}, file{name: "1.txt", content: strings.Repeat("one", 30), method: zstd.ZipMethodWinZip})
	path := save(t, whole)
	right, err := read(t, path)
	if err != nil {
		t.Fatal(err)
	}
	known := strings.Fields(strings.ReplaceAll(strings.Join(right, " "), "zero zero zero zero", "zero"))
	for i := range whole {
		for _, bit := range []byte{1, 0x80} {
			b := slices.Clone(whole)
			b[i] ^= bit
			if err := os.WriteFile(path, b, 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := read(t, path)
			if err != nil && !strings.Contains(err.Error(), path) {
				t.Errorf("byte %d: %v", i, err)
			}
			for _, item := range strings.Fields(strings.ReplaceAll(strings.Join(got, " "), "zero zero zero zero", "zero")) {
				if !slices.Contains(known, item) {
					t.Errorf("byte %d: %q is read", i, item)
				}
			}
		}
	}
}

// edited returns an archive of two members with a changed directory and headers: at has
// offsets in a directory entry.
func edited(t *testing.T, change func(b []byte, entries []int)) []byte {
	b := archive(t, text("a.txt", strings.Repeat("a", 1000)), file{name: "b.txt", content: "bbbb", method: stdzip.Store})
	var entries []int
	for at := 0; ; at++ {
		i := bytes.Index(b[at:], []byte("PK\x01\x02"))
		if i < 0 {
			break
		}
		at += i
		entries = append(entries, at)
	}
	change(b, entries)
	return b
}

// TestHostileArchives checks that false claims are errors that name file and member.
func TestHostileArchives(t *testing.T) {
	le := binary.LittleEndian
	for what, c := range map[string]struct {
		archive []byte
		want    string
	}{
		"encrypted":     {edited(t, func(b []byte, e []int) { b[e[0]+8] |= 1 }), "a.txt: encryption is not supported"},
		"method":        {edited(t, func(b []byte, e []int) { b[e[0]+10] = 12 }), "a.txt: compression bzip2"},
		"other method":  {edited(t, func(b []byte, e []int) { b[e[0]+10] = 77 }), "a.txt: compression method 77"},
		"larger":        {edited(t, func(b []byte, e []int) { le.PutUint32(b[e[0]+24:], 999) }), "a.txt: damaged, or of another size"},
		"smaller":       {edited(t, func(b []byte, e []int) { le.PutUint32(b[e[0]+24:], 1001) }), "a.txt: damaged, or of another size"},
		"ratio":         {edited(t, func(b []byte, e []int) { le.PutUint32(b[e[0]+24:], 1<<31) }), "a.txt: 14 bytes cannot decompress to 2147483648"},
		"stored":        {edited(t, func(b []byte, e []int) { le.PutUint32(b[e[1]+24:], 5) }), "b.txt: stored as 4 bytes but declared as 5"},
		"checksum":      {edited(t, func(b []byte, e []int) { b[e[0]+16]++ }), "a.txt: damaged: the checksum"},
		"same place":    {edited(t, func(b []byte, e []int) { le.PutUint32(b[e[1]+42:], 0) }), "a.txt: overlap with b.txt"},
		"over the next": {edited(t, func(b []byte, e []int) { le.PutUint32(b[e[0]+20:], 500) }), "a.txt: overlap with b.txt"},
		"over the end":  {edited(t, func(b []byte, e []int) { le.PutUint32(b[e[1]+20:], 500); le.PutUint32(b[e[1]+24:], 500) }), "b.txt: overlap with the directory"},
		"nowhere":       {edited(t, func(b []byte, e []int) { le.PutUint32(b[e[1]+42:], 1<<30) }), "b.txt: overlap with the directory"},
		"into the next": {edited(t, func(b []byte, _ []int) { le.PutUint16(b[28:], 60) }), "a.txt: overlap with the next member"},
		"other name":    {edited(t, func(b []byte, _ []int) { b[30] = 'c' }), "a.txt: the local header differs"},
		"twice":         {archive(t, text("a.txt", "1"), text("b.txt", "2"), text("a.txt", "3")), "a.txt occurs twice"},
		"one item":      {archive(t, text("a.seg.png", "1"), text("a.seg.PNG", "2")), "a.seg.PNG is a second item seg"},
		"symbolic link": {edited(t, func(b []byte, e []int) { b[e[0]+5] = 3; b[e[0]+41] = 0o240 }), "a.txt: symbolic links are not supported"},
		"latin":         {archive(t, text("gr\xf6\xdfe.txt", "1")), "the name is not UTF-8"},
		"several parts": {edited(t, func(b []byte, e []int) { b[e[1]+34] = 1 }), "one part of several"},
		"fewer":         {edited(t, func(b []byte, _ []int) { b[len(b)-12] = 1 }), "has 2 members but declares 1"},
		"no zip":        {[]byte("this is a string"), "truncated, or not a zip archive"},
	} {
		path := save(t, c.archive)
		if got, err := read(t, path); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %.100q, %v; want %q", what, got, err, c.want)
		}
	}
}

// TestAttributesHideNoContent checks that attributes, which are arbitrary, hide no member
// with content. Only a name that ends with a slash is a directory.
func TestAttributesHideNoContent(t *testing.T) {
	le := binary.LittleEndian
	whole := []string{"__key__=a txt=" + strings.Repeat("a", 1000), "__key__=b txt=bbbb"}
	for _, system := range []byte{0, 3, 10, 11, 19, 200} {
		for kind := range uint32(16) {
			for _, bits := range []uint32{0x10, 0x8, 0xff} {
				got, err := read(t, save(t, edited(t, func(b []byte, e []int) {
					b[e[0]+5] = system
					le.PutUint32(b[e[0]+38:], kind<<28|bits)
				})))
				link := kind == 0o12 && (system == 3 || system == 19)
				if link != (err != nil) || !link && !slices.Equal(got, whole) {
					t.Errorf("system %d, kind %o, bits %x: %.50q, %v", system, kind, bits, got, err)
				}
			}
		}
	}
	empty := archive(t, file{name: "a.txt", method: stdzip.Store, mode: fs.ModeDir | 0o755})
	if got, err := read(t, save(t, empty)); err != nil || !slices.Equal(got, []string{"__key__=a txt="}) {
		t.Errorf("a directory by its mode alone: %q, %v", got, err)
	}
}

// TestUnusedNames checks that a member with content is skipped for its name only if its
// header has that name, too. Otherwise a sample would be lost.
func TestUnusedNames(t *testing.T) {
	for from, to := range map[string]string{"a.txt": "a/txt", "n.txt": "..txt", "b.txt": "b.tx/"} {
		b := archive(t, text(from, "content"), text("c.txt", "c"))
		copy(b[bytes.Index(b, []byte("PK\x01\x02"))+46:], to)
		if got, err := read(t, save(t, b)); err == nil || !strings.Contains(err.Error(), to+": ") {
			t.Errorf("%s as %s: %q, %v", from, to, got, err)
		}
	}
}

// TestLargeMembers checks that a member beyond the bound is refused before memory is
// allocated, and only when it is read.
func TestLargeMembers(t *testing.T) {
	codec.MaxItem.Store(1 << 20)
	defer codec.MaxItem.Store(0)
	path := save(t, archive(t, text("a.txt", strings.Repeat("a", 1<<20)), text("b.txt", strings.Repeat("b", 1<<20+1))))
	got, err := read(t, path)
	if len(got) != 1 || err == nil || !strings.Contains(err.Error(), "1048577 bytes exceed the limit of 1048576 for an item; raise --max-item") {
		t.Errorf("%d samples, %v", len(got), err)
	}
}

// TestZip64 checks archives that are large, or have many members.
func TestZip64(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.zip")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	const hole = 5 << 30
	if _, err := f.Seek(hole, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	w := writer(f)
	w.SetOffset(hole)
	put(t, w, text("0.txt", "zero"), text("1.txt", "one"))
	if got, err := read(t, path); err != nil || !slices.Equal(got, []string{"__key__=0 txt=zero", "__key__=1 txt=one"}) {
		t.Errorf("%q, %v", got, err)
	}
	many := make([]file, 1<<16+1)
	for i := range many {
		many[i] = file{name: fmt.Sprint(i, ".txt"), method: stdzip.Store}
	}
	if got, err := read(t, save(t, archive(t, many...))); err != nil || len(got) != len(many) || got[1<<16] != "__key__=65536 txt=" {
		t.Errorf("%d samples, %v", len(got), err)
	}
}

// TestPathsAndChanges checks that a pattern reads several archives, and that a changed one
// is an error.
func TestPathsAndChanges(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"x-1.zip", "x-2.zip"} {
		if err := os.WriteFile(filepath.Join(dir, name), archive(t, text("a.txt", name)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{"", "x-{1..2}.zip", "x-{1,2}.zip"} {
		if got, err := read(t, filepath.Join(dir, path)); err != nil || !slices.Equal(got, []string{"__key__=a txt=x-1.zip", "__key__=a txt=x-2.zip"}) {
			t.Errorf("%s: %q, %v", path, got, err)
		}
	}
	path := filepath.Join(dir, "x-1.zip")
	ds, err := zip.Source{}.Open(t.Context(), path, &component.Env{Pool: pool.New(1)})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, archive(t, text("b.txt", "other"), text("a.txt", "x")), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := shown(t.Context(), ds); !errors.Is(err, dataset.ErrChanged) {
		t.Errorf("%q, %v", got, err)
	}
}

// FuzzScan checks that the index of any archive is valid and stays inside the archive, and
// that each member is read or refused.
func FuzzScan(f *testing.F) {
	f.Add(archive(f, text("0.txt", "zero"), file{name: "0.json", content: "0", method: stdzip.Store}, file{name: "1.txt", content: "one", method: zstd.ZipMethodWinZip}))
	f.Add(archive(f, text("../0.txt", strings.Repeat("one", 300)), text("d/", "")))
	f.Fuzz(func(t *testing.T, b []byte) {
		x, err := zip.Scan(t.Context(), "a.zip", bytes.NewReader(b), int64(len(b)))
		if err != nil {
			return
		}
		if err := zip.ReadAll(x, bytes.NewReader(b), int64(len(b))); err != nil {
			t.Fatal(err)
		}
	})
}
