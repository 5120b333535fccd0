package filestate

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/larder-data/larder/key"
)

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

func sum(t testing.TB, roots ...Root) key.Digest {
	t.Helper()
	s, err := Of(t.Context(), roots)
	if err != nil {
		t.Fatal(err)
	}
	return s.Sum
}

// TestOf checks that every change below a root is detected, and nothing else.
func TestOf(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, "root", filepath.FromSlash(name)) }
	elsewhere := filepath.Join(dir, "elsewhere")
	write(t, in("a"), "one")
	write(t, in("below/b"), "two")
	write(t, filepath.Join(elsewhere, "c"), "three")
	if err := os.Symlink(elsewhere, in("link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("nowhere", in("lost")); err != nil {
		t.Fatal(err)
	}
	root := Root{Path: filepath.Join(dir, "root")}
	seen := map[key.Digest]string{sum(t, root): "nothing"}
	if seen[sum(t, root)] == "" {
		t.Error("two looks differ")
	}
	write(t, filepath.Join(dir, "other"), "it")
	if seen[sum(t, root)] == "" {
		t.Error("another file is seen")
	}
	times, err := os.Stat(in("a"))
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		what string
		do   func() error
	}{
		{"a write that keeps length and time", func() error {
			write(t, in("a"), "ONE")
			return os.Chtimes(in("a"), times.ModTime(), times.ModTime())
		}},
		{"a file more", func() error { write(t, in("d"), "four"); return nil }},
		{"another name", func() error { return os.Rename(in("d"), in("e")) }},
		{"a write in a directory below", func() error { write(t, in("below/b"), "TWO"); return nil }},
		{"a write behind a link", func() error { write(t, filepath.Join(elsewhere, "c"), "THREE"); return nil }},
		{"what a lost link leads to", func() error { write(t, in("nowhere"), "here"); return nil }},
		{"a directory in place of a file", func() error { return os.Rename(in("below"), in("e2")) }},
		{"a file removed", func() error { return os.Remove(in("a")) }},
		{"all removed", func() error { return os.RemoveAll(root.Path) }},
		{"an empty directory", func() error { return os.Mkdir(root.Path, 0o777) }},
	} {
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		now := sum(t, root)
		if before, ok := seen[now]; ok {
			t.Errorf("after %s all looks as after %s", step.what, before)
		}
		seen[now] = step.what
	}
}

func TestFlatRootsEndAtDirectories(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a"), "one")
	write(t, filepath.Join(dir, "below", "b"), "two")
	before := sum(t, Root{Path: dir, Flat: true})
	write(t, filepath.Join(dir, "below", "b"), "three")
	if before != sum(t, Root{Path: dir, Flat: true}) {
		t.Error("what lies in a directory is seen")
	}
	write(t, filepath.Join(dir, "c"), "four")
	if before == sum(t, Root{Path: dir, Flat: true}) {
		t.Error("a file is not seen")
	}
}

// TestRootsAreReportedApart checks that the root of a file counts.
func TestRootsAreReportedApart(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	write(t, filepath.Join(a, "x"), "one")
	if err := os.Mkdir(b, 0o777); err != nil {
		t.Fatal(err)
	}
	before := sum(t, Root{Path: a}, Root{Path: b})
	if err := os.Rename(filepath.Join(a, "x"), filepath.Join(b, "x")); err != nil {
		t.Fatal(err)
	}
	if before == sum(t, Root{Path: a}, Root{Path: b}) {
		t.Error("a file that went from one root to the other is not seen")
	}
}

func TestLinksInCircles(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink(".", filepath.Join(dir, "again")); err != nil {
		t.Fatal(err)
	}
	if _, err := Of(t.Context(), []Root{{Path: dir}}); err == nil {
		t.Error("a directory without end is not an error")
	}
}

// TestContents checks that only files that changed shortly before the given time are read
// by content.
func TestContents(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	write(t, path, "one")
	seed := uint64(1)
	contents := func(at time.Time) key.Digest {
		s, err := Of(t.Context(), []Root{{Path: path}})
		if err != nil {
			t.Fatal(err)
		}
		d, err := s.Contents(t.Context(), at, seed)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	now := time.Now()
	one := contents(now)
	if one.IsZero() {
		t.Error("a file that was made just now is not read")
	}
	if !contents(now.Add(time.Hour)).IsZero() {
		t.Error("a file that was left alone for an hour is read")
	}
	write(t, path, "two")
	if two := contents(now); two.IsZero() || two == one {
		t.Error("another content is not seen")
	}
	write(t, path, "one")
	if contents(now) != one {
		t.Error("the same content is another")
	}
	if seed = 2; contents(now) == one {
		t.Error("a process that knows the sum of a content under one seed knows it under another")
	}
}

// BenchmarkOf scans a dataset of 100 000 files in one directory.
func BenchmarkOf(b *testing.B) {
	dir := b.TempDir()
	const files = 100_000
	for i := range files {
		write(b, filepath.Join(dir, fmt.Sprintf("%06d_label.txt", i)), "x")
	}
	for b.Loop() {
		if _, err := Of(b.Context(), []Root{{Path: dir}}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/files, "ns/file")
}

// TestALargeDirectoryIsSeenWhole checks that concurrent scans return all files, by name.
func TestALargeDirectoryIsSeenWhole(t *testing.T) {
	const files = 5000
	dir := t.TempDir()
	write(t, filepath.Join(dir, "below", "x"), "one")
	if err := os.Symlink("nowhere", filepath.Join(dir, "lost")); err != nil {
		t.Fatal(err)
	}
	for i := range files {
		write(t, filepath.Join(dir, fmt.Sprint("file", i)), "")
	}
	found, dirs, err := list(nil, dir)
	if err != nil || len(found) != files+1 || len(dirs) != 1 || dirs[0] != "below" {
		t.Fatalf("%d files, directories %q, %v", len(found), dirs, err)
	}
	lost := 0
	for i, e := range found {
		if i > 0 && found[i-1].name >= e.name {
			t.Errorf("%s comes before %s", found[i-1].name, e.name)
		}
		if e.lost {
			lost++
			continue
		}
		info, err := os.Stat(filepath.Join(dir, e.name))
		if err != nil || key.StatOf(info) != e.stat {
			t.Errorf("%s is seen as %v, %v", e.name, e.stat, err)
		}
	}
	if lost != 1 {
		t.Errorf("%d links lead nowhere", lost)
	}
	before := sum(t, Root{Path: dir})
	write(t, filepath.Join(dir, fmt.Sprint("file", files-1)), "two")
	if sum(t, Root{Path: dir}) == before {
		t.Error("a write in a large directory is not seen")
	}
}
